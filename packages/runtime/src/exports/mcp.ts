/** MCP servers for sessions: connected once, offered as tools. The official client is in the package, and loaded with the first server. */
export { type McpOptions, McpServers } from "../tools/mcp/mcp-servers.ts";
export type { AskPerson } from "../tools/mcp/auth/login-ways.ts";
export type { FilledPrompt, ServerPrompt, ServerPrompts } from "../tools/mcp/server-prompt.ts";
export type { McpServerState } from "../tools/mcp/server-state.ts";
export { type McpServerConfig, type McpServerConfigs, parseMcpServers } from "../tools/mcp/server-config.ts";
export type { McpMessage, McpTransport } from "../tools/mcp/transport.ts";
