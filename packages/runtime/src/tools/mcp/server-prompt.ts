import type { ImagePart, TextPart } from "../../protocol/content.ts";

/** A prompt that a server has written, to be filled in. */
export type ServerPrompt = {
  /** As a command: `mcp__SERVER__PROMPT`. */
  readonly command: string;
  readonly server: string;
  readonly name: string;
  readonly description?: string;
  readonly arguments: readonly { readonly name: string; readonly description?: string; readonly required: boolean }[];
};

/** What a filled-in prompt says, message by message. */
export type FilledPrompt = readonly {
  readonly role: "user" | "assistant";
  readonly content: readonly (TextPart | ImagePart)[];
}[];

/** The prompts that the servers of a session have at the moment. */
export interface ServerPrompts {
  list(): readonly ServerPrompt[];
  /** Rejects when there is none of that name, or when the server refuses the values. */
  get(command: string, values: Readonly<Record<string, string>>, signal: AbortSignal): Promise<FilledPrompt>;
}
