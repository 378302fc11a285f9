import type { Dialect } from "../dialect.ts";
import { type HttpFailure, toHttpError } from "../http-error.ts";
import { RuntimeError } from "../../protocol/errors.ts";
import { createDecoder } from "./gemini-answer.ts";
import { dialectId } from "./gemini-parts.ts";
import { encode } from "./gemini-request.ts";
import { errorIn, meaningOf, words } from "./gemini-errors.ts";

/** The wire format of Gemini's `streamGenerateContent` with `alt=sse`; the model's name is in the URL, not in the body. */
export const gemini: Dialect = { id: dialectId, nativeSchema: true, encode, decoder: createDecoder };

/** The typed failure behind an HTTP answer of this wire that is no 2xx. */
export function geminiHttpError(failure: HttpFailure): RuntimeError {
  const error = errorIn(failure.body);
  if (!error) return toHttpError(failure, words);
  const plain = toHttpError({ ...failure, body: JSON.stringify({ error: { message: error.message } }) }, words);
  const meaning = meaningOf(error, plain);
  return new RuntimeError(meaning.code, plain.message, { ...meaning, httpStatus: failure.status });
}
