/** A session driven over lines: prompts, permission questions, hooks and MCP servers of a host, as Claude Code's control protocol has them. */
export type { LiveSetup } from "../transports/live/initialize.ts";
export { type LiveOptions, type LiveRun, type LiveSession, type LiveWays, runLive } from "../transports/live/run-live.ts";
