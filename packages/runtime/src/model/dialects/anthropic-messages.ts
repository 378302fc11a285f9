import type { Dialect } from "../dialect.ts";
import { type HttpFailure, toHttpError } from "../http-error.ts";
import type { RuntimeError } from "../../protocol/errors.ts";
import { authHint, isContextOverflow } from "./claude-errors.ts";
import { claudeRecord } from "./claude-parameters.ts";
import { createDecoder } from "./claude-answer.ts";
import { dialectId, encode } from "./claude-request.ts";
import { toClaudeSchema } from "./claude-schema.ts";

/** The wire format of Anthropic's Messages API, streaming. */
export const anthropicMessages: Dialect = {
  id: dialectId,
  nativeSchema: (model) => claudeRecord({ model })?.nativeSchema ?? false,
  fitsSchema: (schema) => toClaudeSchema(schema) !== undefined,
  encode,
  decoder: createDecoder,
};

/** The typed failure behind an HTTP answer of this wire that is no 2xx. */
export function anthropicHttpError(failure: HttpFailure): RuntimeError {
  return toHttpError(failure, { provider: "Anthropic", authHint, isContextOverflow });
}
