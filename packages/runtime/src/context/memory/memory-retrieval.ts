import type { MemoryEntry } from "./memory-entry.ts";
import { parseEntry } from "./memory-entry.ts";
import type { ProjectMemoryStore } from "./project-memory.ts";

export type RetrievedMemory = MemoryEntry & {
  /** How many of the words that were asked for it holds, of 1. */
  readonly score: number;
};

export type RetrievalOptions = {
  /** 5 when absent. */
  readonly maxEntries?: number | undefined;
  /** Bytes of their texts together; 4,096 when absent. */
  readonly maxBytes?: number | undefined;
};

/** Finds what the project's memory has to say about a text. It only reads, and nobody calls it but whoever wants to know. */
export class MemoryRetrievalService {
  readonly #store: Pick<ProjectMemoryStore, "topics" | "show">;

  constructor(store: Pick<ProjectMemoryStore, "topics" | "show">) {
    this.#store = store;
  }

  /** The entries that share most words with the text, the newest of equals first. */
  retrieve(text: string, { maxEntries = 5, maxBytes = 4_096 }: RetrievalOptions = {}): RetrievedMemory[] {
    const wanted = wordsOf(text);
    if (wanted.size === 0) return [];
    const found = this.#entries()
      .map((entry) => ({ ...entry, score: shareOf(wanted, wordsOf(`${entry.topic} ${entry.text}`)) }))
      .filter(({ score }) => score > 0)
      .toSorted((a, b) => b.score - a.score || (a.date < b.date ? 1 : -1));
    let left = maxBytes;
    return found.slice(0, maxEntries).filter(({ text: words }) => {
      left -= Buffer.byteLength(words);
      return left >= 0;
    });
  }

  #entries(): MemoryEntry[] {
    return this.#store.topics().flatMap((topic) => {
      const lines = (this.#store.show(topic) ?? "").split("\n");
      return lines.flatMap((line) => parseEntry(line) ?? []);
    });
  }
}

/** Words that tell texts apart; short ones stand in all of them. */
function wordsOf(text: string): Set<string> {
  const words = text
    .toLowerCase()
    .normalize("NFKC")
    .matchAll(/[\p{L}\p{N}_]{3,}/gu);
  return new Set(Array.from(words, ([word]) => word));
}

function shareOf(wanted: ReadonlySet<string>, words: ReadonlySet<string>): number {
  return [...wanted].filter((word) => words.has(word)).length / wanted.size;
}
