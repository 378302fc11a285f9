import { encodeRest, encodeStart, errorTypeOf, wireError } from "./anthropic-stream.ts";
import { geminiStream } from "./gemini-stream.ts";
import { openAIChatStream } from "./openai-chat-stream.ts";
import { openAIResponsesStream } from "./openai-responses-stream.ts";
import { rememberPerReply, type StreamWire } from "./stream-wire.ts";

/** Every wire the scripted server speaks, told apart by the request's path. */
export function wireOf(url: string): StreamWire {
  const path = url.split("?", 1)[0] ?? "";
  return streamWires.find((wire) => wire.matches(path)) ?? anthropicStream;
}

const restOf = rememberPerReply(encodeRest);

/** Also the wire of paths that nobody claims. */
const anthropicStream: StreamWire = {
  id: "anthropic-messages",
  matches: (path) => path.endsWith("/v1/messages"),
  encode: (reply, answer) => encodeStart(reply, answer) + restOf(reply, answer.index),
  prepare: (reply) => void restOf(reply, 0),
  errorBody: (status, message, code) => ({
    type: "error",
    error: code ? wireError(code, message) : { type: errorTypeOf(status), message },
  }),
};

export const streamWires: readonly StreamWire[] = [anthropicStream, openAIChatStream, openAIResponsesStream, geminiStream];
