/** The library's words that pages speak. The library's own entry would bring Node's types along, which are not those of a browser. */
export type { Usage } from "../../runtime/src/protocol/content.ts";
export type { AgentEvent } from "../../runtime/src/protocol/events.ts";
export type { Outcome } from "../../runtime/src/protocol/outcome.ts";
