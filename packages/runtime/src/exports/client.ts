/** Sessions of `outrider serve`, from a browser or from Node: it loads nothing of the rest, and needs `fetch`. */
export {
  type AcceptedRemotely,
  OutriderClient,
  type OutriderClientOptions,
  OutriderError,
  type PromptInput,
  type PromptOptions,
  type PromptResult,
  type WatchOptions,
} from "../transports/client/outrider-client.ts";
export type { RemoteSession, RemoteSummary, ServerFrame } from "../transports/client/remote-types.ts";
export type { SessionWish } from "../transports/http/session-wish.ts";
