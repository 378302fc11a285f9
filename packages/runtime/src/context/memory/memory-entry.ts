import { RuntimeError } from "../../protocol/errors.ts";
import { withoutHiddenText } from "../hidden-text.ts";

export const memoryTypes = ["user", "feedback", "project", "reference"] as const;
export type MemoryType = (typeof memoryTypes)[number];

/** Something worth knowing in later sessions. */
export type MemoryEntry = {
  /** The day it was written, as `2026-11-16`. */
  readonly date: string;
  readonly type: MemoryType;
  readonly topic: string;
  readonly text: string;
};

export type NewMemory = Omit<MemoryEntry, "date">;

const maxText = 500;

/** As it stands in the files: `- [2026-11-16] (project/build) text`. */
export function formatEntry({ date, type, topic, text }: MemoryEntry): string {
  return `- [${date}] (${type}/${topic}) ${text}`;
}

/** Undefined for a line that is none. */
export function parseEntry(line: string): MemoryEntry | undefined {
  const [, date = "", word = "", topic = "", text = ""] =
    /^- \[(\d{4}-\d{2}-\d{2})\] \(([a-z]+)\/([^)/]+)\) (.+)$/.exec(line.trim()) ?? [];
  const type = memoryTypes.find((known) => known === word);
  return type && text !== "" ? { date, type, topic, text } : undefined;
}

/** What was wanted, made fit for a file; throws in words where it cannot be. */
export function checkMemory({ type: word, topic, text }: { type: string; topic: string; text: string }): NewMemory {
  const type = memoryTypes.find((known) => known === word);
  if (!type) throw new RuntimeError("usage", `${JSON.stringify(word)} is no type; there are ${memoryTypes.join(", ")}`);
  const words = withoutHiddenText(text).text.replace(/\s+/g, " ").trim();
  if (words === "") throw new RuntimeError("usage", "There is nothing to remember");
  if (words.length > maxText)
    throw new RuntimeError("usage", `An entry may have ${maxText} characters, and this one has ${words.length}`);
  return { type, topic: checkTopic(topic), text: words };
}

/** A topic is the name of a file. */
export function checkTopic(topic: string): string {
  const name = topic.toLowerCase();
  const isReserved = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/.test(name);
  if (/^[\p{L}\p{N}][\p{L}\p{N}._-]{0,63}$/u.test(name) && !name.endsWith(".") && !name.includes("..") && !isReserved)
    return name;
  throw new RuntimeError("usage", `${JSON.stringify(topic)} is no topic: letters, digits, ".", "_" and "-", at most 64`);
}

/** Two entries that differ only in this say the same. */
export function normalizedText(text: string): string {
  return text
    .toLowerCase()
    .normalize("NFKC")
    .replace(/\s+/g, " ")
    .replace(/[.!]+$/, "")
    .trim();
}
