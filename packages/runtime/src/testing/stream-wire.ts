import type { ErrorCode } from "../protocol/errors.ts";
import type { RecordedRequest, ServerReply } from "./model-server.ts";

/** The server's side of one wire format: a scripted reply as the bytes a real server of that wire would stream. */
export interface StreamWire {
  /** The id of the dialect that reads it. */
  readonly id: string;
  /** Whether a request to this path, without its query, speaks this wire. */
  matches(path: string): boolean;
  /**
   * The whole body as server-sent events, the end of one at each `\n\n`. Without its end when the reply hangs,
   * with an error in the wire's own form when it fails.
   */
  encode(reply: ServerReply, answer: StreamAnswer): string;
  /** Called for known replies before the first request: encodes ahead what does not depend on one. */
  prepare?(reply: ServerReply): void;
  /** The body of an answer that is no 2xx; `code` when the script names the failure instead of the status. */
  errorBody(status: number, message: string, code?: ErrorCode): object;
}

export type StreamAnswer = {
  /** Which request of the server this answers, from 0. */
  readonly index: number;
  /** The model that was asked for. */
  readonly model: string;
  readonly request: RecordedRequest;
};

/** A long text is encoded once, however often it is asked for; the ids of calls differ from answer to answer. */
export function rememberPerReply(encode: (reply: ServerReply, index: number) => string): typeof encode {
  const known = new WeakMap<ServerReply, string>();
  return (reply, index) => {
    if (reply.calls) return encode(reply, index);
    const text = known.get(reply) ?? encode(reply, index);
    known.set(reply, text);
    return text;
  };
}
