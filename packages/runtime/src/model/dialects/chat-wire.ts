import type { Effort } from "../model.ts";

export const dialectId = "openai-chat";

/** In what the servers of this wire differ. What is left out is as at OpenAI. */
export type OpenAIChatQuirks = {
  readonly maxTokensField?: "max_completion_tokens" | "max_tokens";
  readonly systemRole?: "system" | "developer";
  /** Asks for token counts: without it most servers send none, and a few refuse the question. */
  readonly includeUsage?: boolean;
  /** Hands earlier reasoning back; some servers want it, others refuse it. */
  readonly sendReasoning?: boolean;
  /** The field it goes back in. Answers may use either. */
  readonly reasoningField?: "reasoning_content" | "reasoning";
  /** How an effort is asked for. The last three can only switch thinking on, or off for `minimal`. */
  readonly effort?: "reasoning_effort" | "reasoning" | "thinking" | "enable_thinking" | "chat_template_kwargs" | "none";
  /** The server's words for efforts, where they are not ours. */
  readonly effortWords?: Readonly<Partial<Record<Effort, string>>>;
  readonly parallelToolCalls?: boolean;
  /** False: images are told of, not shown. */
  readonly images?: boolean;
  /** False: an image in a tool's result follows as a user message. */
  readonly imagesInToolResults?: boolean;
  /** The server takes only ids of nine letters and digits. */
  readonly nineCharacterCallIds?: boolean;
  readonly nativeSchema?: boolean;
  /** Models whose provider caches only what it is told to, and that the server tells on: it marks the end of each request. */
  readonly marksCacheOf?: RegExp;
  /** The server does not take the model's text apart: reasoning between tags and tool calls written as text are found here. */
  readonly projectThinkTags?: boolean;
  /** The provider whose records of models say what a request may hold; without it nothing is known about any. */
  readonly recordsOf?: string;
  /** It is the maker's own API that answers: what its models do not take there is refused before it is sent. */
  readonly isMaker?: boolean;
};

type Optional = "parallelToolCalls" | "recordsOf" | "isMaker" | "marksCacheOf";
export type Wire = Required<Omit<OpenAIChatQuirks, Optional>> & Pick<OpenAIChatQuirks, Optional> & { readonly pdf: boolean };

export const defaults: Wire = {
  maxTokensField: "max_completion_tokens",
  systemRole: "system",
  includeUsage: true,
  sendReasoning: false,
  reasoningField: "reasoning_content",
  effort: "reasoning_effort",
  effortWords: {},
  images: true,
  imagesInToolResults: false,
  nineCharacterCallIds: false,
  nativeSchema: true,
  projectThinkTags: false,
  pdf: true,
};
