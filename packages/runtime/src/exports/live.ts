/** A session driven over lines: prompts, permission questions, hooks and MCP servers of a host, as Claude Code's control protocol has them. */
export type { LiveSetup } from "../transports/live/initialize.ts";
export {
  type LiveOptions,
  type LiveRun,
  type LiveSession,
  type LiveWays,
  runLive,
} from "../transports/live/run-live.ts";
export { askPermissionTool } from "../transports/live/ask-permission-tool.ts";
export { answerPermissionQuestions, type PermissionAnswerer } from "../transports/live/permission-questions.ts";
export {
  openSessionFile,
  type SessionFile,
  type SessionFileOptions,
  sessionFilePath,
} from "../transports/sdk-sessions/session-file.ts";
