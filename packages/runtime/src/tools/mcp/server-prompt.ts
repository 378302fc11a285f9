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
