/** What a command is given of the session it runs in. */
export interface CommandHost {
  readonly sessionId: string;
  readonly cwd: string;
}

export type CommandResult = { readonly success: boolean; readonly message: string; readonly data?: unknown };

/** A named action of the session that needs no model. Names have no slash; the slash belongs to the input. */
export interface SystemCommand {
  readonly name: string;
  readonly description: string;
  /** What may be written behind it. */
  readonly argumentHint?: string;
  execute(args: string, host: CommandHost): Promise<CommandResult>;
}

export type CommandSummary = Pick<SystemCommand, "name" | "description" | "argumentHint">;

/** `/name args` when the text is a command; a path like `/usr/bin/x` is not one. */
export function parseCommand(text: string): { name: string; args: string } | undefined {
  const match = /^\/([A-Za-z][\w:-]*)(?:\s+(.*))?$/s.exec(text.trim());
  return match?.[1] === undefined ? undefined : { name: match[1], args: (match[2] ?? "").trim() };
}
