import type { PartPlace } from "./content.ts";

/** Every failure a caller may branch on has a code here. Nothing else is worth branching on. */
export type ErrorCode =
  /** The command line or a call was wrong. */
  | "usage"
  | "no-input"
  | "config"
  | "not-found"
  | "busy"
  | "closed"
  /** The model provider. */
  | "provider-auth"
  | "provider-rate-limit"
  | "provider-overloaded"
  | "provider-bad-request"
  | "provider-unavailable"
  | "provider-timeout"
  | "provider-protocol"
  /** What the model answered. */
  | "context-overflow"
  | "model-refusal"
  | "model-empty-answer"
  | "model-output-limit"
  | "output-schema"
  | "replay-mismatch"
  | "limit-reached"
  /** Our own side. */
  | "storage-failed"
  | "session-locked"
  | "subscriber-overflow"
  | "internal";

/** The shape that crosses the wire and is stored. */
export type ErrorData = {
  code: ErrorCode;
  message: string;
  retryable: boolean;
  retryAfterMs?: number;
  httpStatus?: number;
  /** The provider's own word for it: `rate_limit_error`. */
  errorType?: string;
  /** The provider's id of the request that failed: what its support asks for. */
  requestId?: string;
  /** What to do next, in one sentence. */
  hint?: string;
  /** Where it happened and what caused it, for the developer: in the journal, in `--debug` and in outcomes, never in what is written to stdout. */
  trace?: string;
};

export type RuntimeErrorOptions = Partial<Omit<ErrorData, "code" | "message" | "trace">> & {
  cause?: unknown;
  refused?: Refused | undefined;
};

/** What of a request a provider complained about: parts of its messages, tools by the names they have on the wire, or a field of the body. */
export type Refused = {
  readonly parts: readonly PartPlace[];
  readonly tools: readonly string[];
  /** The way to the field: `output_config.effort`. */
  readonly field?: string;
};

export class RuntimeError extends Error {
  override readonly name = "RuntimeError";
  readonly code: ErrorCode;
  readonly retryable: boolean;
  readonly retryAfterMs: number | undefined;
  readonly httpStatus: number | undefined;
  readonly errorType: string | undefined;
  readonly requestId: string | undefined;
  readonly hint: string | undefined;
  readonly refused: Refused | undefined;

  constructor(code: ErrorCode, message: string, options: RuntimeErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.retryable = options.retryable ?? false;
    this.retryAfterMs = options.retryAfterMs;
    this.httpStatus = options.httpStatus;
    this.errorType = options.errorType;
    this.requestId = options.requestId;
    this.hint = options.hint;
    this.refused = options.refused;
  }

  /** The same failure in other words, or with more to say. */
  restated(more: RuntimeErrorOptions & { message?: string }): RuntimeError {
    return restate(this, more);
  }

  toJSON(): ErrorData {
    const trace = traceOf(this);
    return {
      code: this.code,
      message: this.message,
      retryable: this.retryable,
      ...(this.retryAfterMs !== undefined && { retryAfterMs: this.retryAfterMs }),
      ...(this.httpStatus !== undefined && { httpStatus: this.httpStatus }),
      ...(this.errorType !== undefined && { errorType: this.errorType }),
      ...(this.requestId !== undefined && { requestId: this.requestId }),
      ...(this.hint !== undefined && { hint: this.hint }),
      ...(trace !== undefined && { trace }),
    };
  }
}

// Outside of the class: esbuild renames a class that names itself, and `console.log(error)` would show that name.
function restate(
  error: RuntimeError,
  { message = error.message, ...more }: RuntimeErrorOptions & { message?: string },
): RuntimeError {
  const { code, message: _, trace: __, ...facts } = error.toJSON();
  return new RuntimeError(code, message, { ...facts, cause: error.cause, refused: error.refused, ...more });
}

/** The failure without what only a developer needs. */
export function toShownError({ trace: _, ...shown }: ErrorData): ErrorData {
  return shown;
}

const longestTrace = 8_000;
const deepestCause = 8;

/** The stack of a failure that should not be, and the causes of any failure. Others are told by their words. */
function traceOf(error: RuntimeError): string | undefined {
  const isInternal = error.code === "internal";
  let { cause } = error;
  while (cause instanceof RuntimeError && cause.code !== "internal") cause = cause.cause; // the same failure in other words
  if (!isInternal && cause === undefined) return undefined;
  const lines: string[] = isInternal && !(error.cause instanceof Error) ? [error.stack ?? error.message] : [];
  for (let depth = 0; cause !== undefined && depth < deepestCause; depth++) {
    lines.push(describeCause(cause, isInternal));
    cause = cause instanceof Error ? cause.cause : undefined;
  }
  return lines.join("\nCaused by: ").slice(0, longestTrace);
}

function describeCause(cause: unknown, withStack: boolean): string {
  if (!(cause instanceof Error)) return typeof cause === "string" ? cause : Object.prototype.toString.call(cause);
  const code = "code" in cause && typeof cause.code === "string" ? ` (${cause.code})` : "";
  return withStack && cause.stack !== undefined ? `${cause.stack}${code}` : `${cause.name}: ${cause.message}${code}`;
}

/** The one place where an unknown throw becomes a typed failure. */
export function toRuntimeError(thrown: unknown): RuntimeError {
  if (thrown instanceof RuntimeError) return thrown;
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return new RuntimeError("internal", message, { cause: thrown });
}
