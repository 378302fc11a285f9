import type { Dialect } from "../dialect.ts";
import { createDecoder } from "./responses-answer.ts";
import { dialectId, encode } from "./responses-request.ts";

/** The wire format of OpenAI's Responses API, streaming, with nothing kept on the server. */
export const openaiResponses: Dialect = { id: dialectId, nativeSchema: true, encode, decoder: createDecoder };
