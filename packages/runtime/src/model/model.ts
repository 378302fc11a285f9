import type { AssistantMessage, JsonObject, Message, ToolDefinition } from "../protocol/content.ts";
import type { ErrorData } from "../protocol/errors.ts";
import type { ModelRecord } from "./capabilities/record.ts";
import type { Masked } from "../util/masked.ts";

export type { ToolDefinition } from "../protocol/content.ts";

export type ModelRequest = {
  /** The model's id at its provider. */
  readonly model: string;
  readonly system: string;
  readonly messages: readonly Message[];
  readonly tools: readonly ToolDefinition[];
  readonly maxOutputTokens?: number;
  readonly temperature?: number;
  /** Tokens the model may think with before it answers; 0 = it is not to think; absent = as it is best. */
  readonly thinkingTokens?: number;
  /** How hard the model should think, where it takes a word for that instead of a number of tokens. */
  readonly effort?: Effort;
  /** JSON Schema the final answer must fit; set only for dialects with `nativeSchema`. */
  readonly outputSchema?: JsonObject;
  readonly stopSequences?: readonly string[];
  /** The profile's own options for its provider: added to the request body as they are. */
  readonly options?: JsonObject;
  /** What is known better about the model than the built-in record says. */
  readonly capabilities?: Partial<ModelRecord>;
  /** Fields of the body that this provider has refused, such as `output_config.effort`: they are not sent. */
  readonly omit?: readonly string[];
};

/** From the least to the most. */
export const efforts = ["minimal", "low", "medium", "high", "xhigh", "max"] as const;
export type Effort = (typeof efforts)[number];

export type ModelEvent =
  | { type: "text.delta"; text: string }
  | { type: "reasoning.delta"; text: string; signature?: string }
  | { type: "tool-input.delta"; callId: string; name: string; json: string }
  /** This attempt failed; everything it had said is void, the next attempt starts over. */
  | { type: "retry.scheduled"; attempt: number; maxRetries: number; delayMs: number; error: ErrorData }
  /** The provider gave up; what it had said is void, and another model is asked. */
  | { type: "fallback.used"; from: string; to: string; error: ErrorData }
  /** Something about the request that a person should know; the answer goes on. */
  | { type: "warning.raised"; message: string }
  /** Always last. `rateLimits`: what the answer's headers say of the provider's limits, by their names. */
  | { type: "finished"; message: AssistantMessage; rateLimits?: Readonly<Record<string, string>> };

/** The only thing the engine knows about any model. Failures reject with a RuntimeError; a stream that does not reject ends with `finished`. */
export interface ModelClient {
  stream(request: ModelRequest, options: { signal: AbortSignal }): AsyncIterable<ModelEvent>;
}

/** A request as sessions make it: every word in it was masked, so that no secret leaves the machine by way of a model. */
export type MaskedRequest = Omit<ModelRequest, "system" | "messages"> & {
  readonly system: Masked<string>;
  readonly messages: readonly Masked<Message>[];
};

/** A provider as the engine sees it. Any provider is one. */
export interface SessionModel extends Omit<Provider, "stream"> {
  stream(request: MaskedRequest, options: { signal: AbortSignal }): AsyncIterable<ModelEvent>;
}

/** A model client with the facts a session needs about it. */
export interface Provider extends ModelClient {
  /** e.g. `anthropic`. */
  readonly name: string;
  /** The model asked for when the session names none. */
  readonly model: string;
  /** Tokens that fit into one request together with its answer. */
  readonly contextWindow: number;
  /** Nobody said how large the window is: a table of models knows better, where it has the model. */
  readonly contextWindowIsGuess?: boolean;
  /** Lets go of its connections; what is asked afterwards opens new ones. */
  close?(): void;
  /** Makes the model answer with JSON that fits `outputSchema`; without it the schema has to be asked for in other ways. */
  readonly nativeSchema: boolean;
  /** Whether it does so for this schema; absent: for any. */
  fitsSchema?(schema: JsonObject): boolean;
}
