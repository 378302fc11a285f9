import type { IncomingMessage } from "node:http";
import { parseBoundedJson, UnwieldyJson } from "../../util/bounded-json.ts";
import { HttpProblem } from "./problem.ts";

/** The JSON of a request; undefined when it has no body. */
export async function readBody(request: IncomingMessage, maxBytes: number): Promise<unknown> {
  const { "content-length": length, "content-type": type = "", "content-encoding": encoding } = request.headers;
  if (length !== undefined && Number(length) > maxBytes) throw tooLarge(maxBytes);
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBytes) throw tooLarge(maxBytes);
    chunks.push(chunk);
  }
  if (size === 0) return undefined;
  // A form of a web page cannot have this type without asking first, and it would be refused then.
  if (!/^application\/json(?:\s*;|$)/i.test(type))
    throw new HttpProblem("unsupported-media-type", "The body is application/json");
  if (encoding !== undefined && encoding !== "identity")
    throw new HttpProblem("unsupported-media-type", "The body is not compressed");
  try {
    return parseBoundedJson(new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks)));
  } catch (error) {
    throw new HttpProblem("bad-request", `The body is ${error instanceof UnwieldyJson ? error.message : "no JSON"}`);
  }
}

function tooLarge(maxBytes: number): HttpProblem {
  return new HttpProblem("too-large", `The body has more than ${maxBytes} bytes`, { headers: { connection: "close" } });
}
