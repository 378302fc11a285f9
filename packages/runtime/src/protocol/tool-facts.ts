import type { JsonObject } from "./content.ts";

/**
 * What a call does, in the words permission rules are written in: `look` reads the workspace, `edit` changes files, `run` starts
 * programs, `reach` talks to the network, `note` touches nothing.
 */
export type CallKind = "look" | "edit" | "run" | "reach" | "note";

/** What a tool says about itself, so that nobody else has to know it by its name. */
export type ToolFacts = {
  /** What its calls do. `access` says what a single call touches. */
  readonly kind: CallKind;
  /** Fields of its input: the file its calls are about, the folder they search, the command they run, the list of what is to be done. */
  readonly fields?: { readonly file?: string; readonly folder?: string; readonly command?: string; readonly plan?: string };
  /** The files a call is about, where that is not one field. */
  readonly filesIn?: (input: JsonObject) => readonly string[];
  /** It reads what servers have: the fields of its input, and the names of the servers. */
  readonly readsResources?: { readonly server: string; readonly address: string; readonly servers: () => readonly string[] };
  /** Fields of its input that decide nothing about what it does, such as what it tells people: another value there makes no other call. */
  readonly asides?: readonly string[];
  /** Its answer can be had again: a second call costs nothing and changes nothing. */
  readonly isRepeatable?: true;
  /** It has work done by other agents. */
  readonly startsAgents?: true;
  /** It is another name of a tool that is offered: models are not shown it, and understood when they use it. */
  readonly isOtherName?: true;
  /** It is about the conversation itself: subagents do not have it. */
  readonly ofConversation?: true;
  readonly shown?: ToolPresentation | undefined;
};

/** How people get to see its calls. */
export type ToolPresentation = {
  readonly as: "read" | "edit" | "execute" | "search" | "fetch" | "think";
  /** A line about one call; empty when its input is too odd for one. `short` makes a path of the input readable. */
  readonly title: (input: JsonObject, short: (path: string) => string) => string;
  /** What it answers is text as it is, not Markdown. */
  readonly isPlain?: true;
  /** The line of the file at which a call starts. */
  readonly line?: (input: JsonObject) => number | undefined;
  /** What a call would change in its file, before anybody knows what the file holds. */
  readonly change?: (input: JsonObject) => { readonly oldText: string | null; readonly newText: string } | undefined;
};

export type FactsOf = (toolName: string) => ToolFacts | undefined;
