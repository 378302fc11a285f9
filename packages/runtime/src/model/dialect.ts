import type { JsonObject } from "../protocol/content.ts";
import type { ModelEvent, ModelRequest } from "./model.ts";

/**
 * One wire format (Anthropic Messages, …) as pure functions.
 * A dialect knows no URL, no key and no clock; that is a provider's business.
 */
export interface Dialect {
  readonly id: string;
  /** Takes `outputSchema` and makes the model answer with JSON of that shape. */
  readonly nativeSchema: boolean | ((model: string) => boolean);
  /** Whether it can do so for this schema; absent: for any. */
  fitsSchema?(schema: JsonObject): boolean;
  /** `tell` hears of what the model does not take, and what is asked instead. */
  encode(request: ModelRequest, tell?: (note: string) => void): JsonObject;
  /** A fresh decoder for one answer; `provider` goes into the message's `model`. */
  decoder(request: ModelRequest, provider: string): Decoder;
}

export interface Decoder {
  /**
   * Folds one server-sent payload in and answers what became visible; the last answer of a whole stream ends with `finished`.
   * Throws a RuntimeError for an error inside the stream and for bytes that cannot be understood.
   */
  push(payload: { event: string | undefined; data: string }): ModelEvent[];
  /**
   * The body came to its regular end without `finished`: whether the answer was whole all the same is for wires without
   * a reliable last event. Without this method, or without `finished` in its answer, the answer counts as broken off.
   */
  end?(): ModelEvent[];
}
