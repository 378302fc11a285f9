import { ToolFailure } from "./tool.ts";

/** What stands in results where a secret was: `[redacted:anthropic-key]`. */
const placeholder = /\[redacted(?::[\w.-]+)?\]/g;

/**
 * A model sees placeholders where a file holds secrets. Writing them back would destroy the secrets, so a text that brings a
 * placeholder into a file which has none of that kind is refused.
 */
export function refusePlaceholders(text: string, facts: { readonly before: string; readonly name: string }): void {
  const found = text.match(placeholder)?.find((word) => !facts.before.includes(word));
  if (found === undefined) return;
  throw new ToolFailure(
    `The new text holds ${found}, which stands for a secret in ${facts.name} that is not shown to you; writing it would lose the secret. ` +
      "Change the other lines with Edit and leave that one as it is.",
  );
}

/** A new file may speak of masks; one that stands for a secret the model saw masked would take that secret's place. */
export function refuseMasks(text: string, standsForSecret: ((mask: string) => boolean) | undefined): void {
  const found = maskIn(text, standsForSecret);
  if (found === undefined) return;
  throw new ToolFailure(
    `The text holds ${found}, which stands for a secret that is not shown to you; the file would hold these words instead of it. ` +
      "Leave it out, or copy the secret with a command that reads it from where it is.",
  );
}

/** A command or a server would get the mask in place of the secret, and might write it over the secret itself. */
export function refuseMasksInCall(input: unknown, standsForSecret: (mask: string) => boolean): void {
  const found = maskIn(JSON.stringify(input), standsForSecret);
  if (found === undefined) return;
  throw new ToolFailure(
    `The call holds ${found}, which stands for a secret that is not shown to you; it would be done with these words instead of it, so it was not run. ` +
      "Leave it out, or let a command read the secret from where it is: a variable or a file.",
  );
}

function maskIn(text: string, standsForSecret: ((mask: string) => boolean) | undefined): string | undefined {
  return masksIn(text).find((mask) => standsForSecret?.(mask));
}

/** The masks in a text. */
export function masksIn(text: string): readonly string[] {
  return text.match(placeholder) ?? [];
}

/** Why a text that was shown cannot be found in the file. */
export function explainPlaceholder(text: string): string | undefined {
  const found = text.match(placeholder)?.[0];
  if (found === undefined) return undefined;
  return `It holds ${found}, which stands for a secret that is not shown to you: choose a text without it.`;
}
