/** The Agent Client Protocol, version 1: what an agent answers and tells, without the bytes. The command puts the official package under it. */
export { listCommands } from "../session/prompts/session-commands.ts";
export { AcpAgent } from "../transports/acp/acp-agent.ts";
export type { AcpClient, AcpHost, PlannedSession, SessionWish, StartedSession } from "../transports/acp/acp-host.ts";
export { type RpcError, toRpcError } from "../transports/acp/rpc-error.ts";
export { isTooDeep } from "../util/too-deep.ts";
export { SessionUpdates, type UpdatesOptions } from "../transports/acp/session-updates.ts";
export type { McpServer, PermissionQuestion, PromptResponse, SessionUpdate } from "../transports/acp/wire.ts";
