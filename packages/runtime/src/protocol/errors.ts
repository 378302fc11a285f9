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
  /** The provider's id of the request that failed: what its support asks for. */
  requestId?: string;
  /** What to do next, in one sentence. */
  hint?: string;
};

export type RuntimeErrorOptions = Partial<Omit<ErrorData, "code" | "message">> & {
  cause?: unknown;
  refused?: Refused | undefined;
};

/** What of a request a provider complained about: parts of its messages, and tools by the names they have on the wire. */
export type Refused = { readonly parts: readonly PartPlace[]; readonly tools: readonly string[] };

export class RuntimeError extends Error {
  override readonly name = "RuntimeError";
  readonly code: ErrorCode;
  readonly retryable: boolean;
  readonly retryAfterMs: number | undefined;
  readonly httpStatus: number | undefined;
  readonly requestId: string | undefined;
  readonly hint: string | undefined;
  readonly refused: Refused | undefined;

  constructor(code: ErrorCode, message: string, options: RuntimeErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.retryable = options.retryable ?? false;
    this.retryAfterMs = options.retryAfterMs;
    this.httpStatus = options.httpStatus;
    this.requestId = options.requestId;
    this.hint = options.hint;
    this.refused = options.refused;
  }

  /** The same failure in other words, or with more to say. */
  restated({ message = this.message, ...more }: RuntimeErrorOptions & { message?: string }): RuntimeError {
    const { code, message: _, ...facts } = this.toJSON();
    return new RuntimeError(code, message, { ...facts, cause: this.cause, refused: this.refused, ...more });
  }

  toJSON(): ErrorData {
    return {
      code: this.code,
      message: this.message,
      retryable: this.retryable,
      ...(this.retryAfterMs !== undefined && { retryAfterMs: this.retryAfterMs }),
      ...(this.httpStatus !== undefined && { httpStatus: this.httpStatus }),
      ...(this.requestId !== undefined && { requestId: this.requestId }),
      ...(this.hint !== undefined && { hint: this.hint }),
    };
  }
}

/** The one place where an unknown throw becomes a typed failure. */
export function toRuntimeError(thrown: unknown): RuntimeError {
  if (thrown instanceof RuntimeError) return thrown;
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return new RuntimeError("internal", message, { cause: thrown });
}
