/** What a command is given of the session it runs in. */
export interface CommandHostContext {
  readonly sessionId: string;
  readonly cwd: string;
  /** Aborted when whoever waits for the command waits no longer. */
  readonly signal: AbortSignal;
  /** Summarises the older part of the conversation; undefined when there is nothing to summarise. */
  compact(instructions?: string): Promise<ContextSizes | undefined>;
  /** What the next request would be made of. */
  contextUse(): Promise<ContextUse>;
}

/** What fills the context window. Parts are estimates. */
export type ContextUse = {
  readonly model: string;
  readonly usedTokens: number;
  readonly maxTokens: number;
  /** From here on room is made; absent where that never happens by itself. */
  readonly compactsAt?: number;
  readonly shares: readonly { readonly name: string; readonly tokens: number }[];
};

/** Tokens of the context before and after a summary. */
export type ContextSizes = { readonly preTokens: number; readonly postTokens: number };

export type CommandResult = { readonly success: boolean; readonly message: string; readonly data?: unknown };

/** A named action of the session. Names have no slash; the slash belongs to the input. */
export interface SystemCommand {
  readonly name: string;
  readonly description: string;
  /** What may be written behind it. */
  readonly argumentHint?: string;
  execute(context: CommandHostContext, args: string): Promise<CommandResult> | CommandResult;
}

export type CommandSummary = Pick<SystemCommand, "name" | "description" | "argumentHint"> & {
  /** It is kept in a file of the user or the project. */
  readonly isWritten?: true;
};

/** `/name args` when the text begins like that; a path like `/usr/bin/x` does not, nor does a text with a space in front. */
export function parseCommand(text: string): { name: string; args: string } | undefined {
  const match = /^\/([A-Za-z][\w:.-]*)(?:\s+(.*))?$/s.exec(text.trimEnd());
  return match?.[1] === undefined ? undefined : { name: match[1], args: match[2] ?? "" };
}
