/** A session driven over lines: prompts, permission questions, hooks and MCP servers of a host, as Claude Code's control protocol has them. */
export { listCommands } from "../session/prompts/session-commands.ts";
export type { LiveSetup } from "../transports/live/initialize.ts";
export type { PromptsView } from "../transports/live/host-notices.ts";
export type { LiveOptions, LiveRun, LiveSession, LiveWays } from "../transports/live/live-options.ts";
export { runLive } from "../transports/live/run-live.ts";
export { answerPermissionQuestions, type PermissionAnswerer } from "../hosting/permission-answers.ts";
export {
  findSessionFile,
  importSession,
  type SessionFilePlace,
  type TakenOver,
} from "../transports/sdk-sessions/import-session.ts";
export {
  openSessionFile,
  type SessionFile,
  type SessionFileOptions,
  sessionFilePath,
} from "../transports/sdk-sessions/session-file.ts";
