import type { InteractiveSession } from "@outrider/runtime";
import { terminalText } from "../terminal/terminal-text.ts";

export type Offer = {
  /** What stands in the place of the word. */
  readonly text: string;
  readonly about: string;
};

/** What may be meant by the word at the cursor: `word` is what stands there, from the index `start` on. */
export type Offers = { readonly start: number; readonly word: string; readonly offers: readonly Offer[] };

const mostOffers = 8;

/** Commands where a prompt begins with a slash, and files behind an `@`; undefined where neither is written. */
export async function findOffers(text: string, cursor: number, session: InteractiveSession): Promise<Offers | undefined> {
  const before = text.slice(0, cursor);
  const [, command] = /^(\/[\w:-]*)$/.exec(before) ?? [];
  if (command !== undefined) return { start: 0, word: command, offers: commandOffers(command.slice(1), session) };
  const [, file] = /(?:^|\s)(@[^\s]*)$/.exec(before) ?? [];
  if (file === undefined) return undefined;
  const controls = await session.controls();
  const { files } = await controls.findFiles({ query: file.slice(1), limit: mostOffers });
  return { start: cursor - file.length, word: file, offers: files.map((path) => ({ text: `@${path}`, about: "" })) };
}

function commandOffers(typed: string, session: InteractiveSession): Offer[] {
  return session
    .listCommands()
    .filter(({ name }) => name.startsWith(typed))
    .sort((one, other) => (one.name < other.name ? -1 : 1))
    .slice(0, mostOffers)
    .map(({ name, description, argumentHint = "" }) => ({
      text: `/${name}`,
      about: terminalText(`${argumentHint} ${description}`).replace(/\s+/g, " ").trim(),
    }));
}
