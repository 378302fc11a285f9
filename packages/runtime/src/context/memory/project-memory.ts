import { join } from "node:path";
import { RuntimeError } from "../../protocol/errors.ts";
import {
  checkMemory,
  checkTopic,
  formatEntry,
  type MemoryEntry,
  type NewMemory,
  normalizedText,
  parseEntry,
} from "./memory-entry.ts";
import { MemoryFiles, memoryFolder } from "./memory-files.ts";
import { MemoryPolicyEvaluator } from "./memory-policy.ts";

export type ProjectMemoryOptions = {
  /** The top of the project. */
  readonly root: string;
  readonly policy?: MemoryPolicyEvaluator | undefined;
  readonly now?: (() => number) | undefined;
};

export type AppendedMemory = {
  readonly entry: MemoryEntry;
  /** The topic says it already; nothing was written. */
  readonly deduplicated: boolean;
  /** The index is full: it is in the file of its topic alone, and not in prompts. */
  readonly indexFull: boolean;
};

const indexName = "MEMORY.md";
const maxIndexLines = 200;
const maxIndexBytes = 25_600;
const maxTopicBytes = 64 * 1024;
const maxTopics = 200;

/**
 * What later sessions of a project should know: an index, which new sessions are told, and a file for each topic, which they are not. Nobody
 * writes here but whoever calls `append`.
 */
export class ProjectMemoryStore {
  readonly #files: MemoryFiles;
  readonly #policy: MemoryPolicyEvaluator;
  readonly #now: () => number;

  constructor({ root, policy = new MemoryPolicyEvaluator(), now = Date.now }: ProjectMemoryOptions) {
    this.#files = new MemoryFiles(root);
    this.#policy = policy;
    this.#now = now;
  }

  /** Fit to be kept, or throws in words: no type, no name of a file, too long, a secret. */
  check(wanted: { readonly type: string; readonly topic: string; readonly text: string }): NewMemory {
    const memory = checkMemory(wanted);
    const verdict = this.#policy.evaluate(`${memory.topic} ${memory.text}`);
    if (!verdict.allowed) throw new RuntimeError("usage", `It was not stored: ${verdict.reason}`);
    return memory;
  }

  async append(wanted: { readonly type: string; readonly topic: string; readonly text: string }): Promise<AppendedMemory> {
    const memory = this.check(wanted);
    const entry: MemoryEntry = { ...memory, date: new Date(this.#now()).toISOString().slice(0, 10) };
    return await this.#files.change(async () => {
      const file = topicFile(entry.topic);
      const before = this.#files.read(file);
      const isKnown = entriesIn(before).some((known) => normalizedText(known.text) === normalizedText(entry.text));
      if (isKnown) return { entry, deduplicated: true, indexFull: false };
      const topic = withLine(before || `# ${entry.topic}\n\n`, formatEntry(entry));
      if (Buffer.byteLength(topic) > maxTopicBytes)
        throw new RuntimeError("usage", `The topic ${entry.topic} is full: it may have ${maxTopicBytes / 1024} KiB`);
      if (before === "" && this.topics().length >= maxTopics)
        throw new RuntimeError("usage", `There are ${maxTopics} topics already`);
      const index = withLine(this.#files.read(indexName), formatEntry(entry));
      const indexFull = index.split("\n").length - 1 > maxIndexLines || Buffer.byteLength(index) > maxIndexBytes;
      await this.#files.write(file, topic);
      if (!indexFull) await this.#files.write(indexName, index);
      return { entry, deduplicated: false, indexFull };
    });
  }

  /** The index as new sessions are told it, entry by entry. */
  list(): MemoryEntry[] {
    return entriesIn(this.#files.read(indexName));
  }

  topics(): string[] {
    return this.#files
      .topics()
      .flatMap((name) => (name.endsWith(".md") ? [name.slice(0, -3)] : []))
      .sort();
  }

  /** The whole file of a topic; undefined when there is none. */
  show(topic: string): string | undefined {
    return this.#files.read(topicFile(checkTopic(topic))) || undefined;
  }
}

/** The files that change with an entry of this topic. */
export function filesOfTopic(root: string, topic: string): string[] {
  return [indexName, topicFile(topic)].map((name) => join(root, memoryFolder, name));
}

function topicFile(topic: string): string {
  return join("topics", `${topic}.md`);
}

function entriesIn(text: string): MemoryEntry[] {
  return text.split("\n").flatMap((line) => parseEntry(line) ?? []);
}

function withLine(text: string, line: string): string {
  return `${text === "" || text.endsWith("\n") ? text : `${text}\n`}${line}\n`;
}
