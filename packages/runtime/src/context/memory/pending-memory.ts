import { RuntimeError } from "../../protocol/errors.ts";
import { isRecord } from "../../util/is-record.ts";
import { randomUuid } from "../../util/unique-ids.ts";
import { checkMemory, type NewMemory, normalizedText } from "./memory-entry.ts";
import { MemoryFiles } from "./memory-files.ts";

/** Something that a model would like to be remembered, until a person has said yes or no. */
export type PendingMemory = NewMemory & { readonly id: string; readonly at: string };

const fileName = "pending.json";
const maxPending = 100;

/** What waits for a person's word, in `pending.json` of the project's memory. No prompt is made of it. */
export class PendingMemoryStore {
  readonly #files: MemoryFiles;
  readonly #now: () => number;

  constructor({ root, now = Date.now }: { readonly root: string; readonly now?: (() => number) | undefined }) {
    this.#files = new MemoryFiles(root);
    this.#now = now;
  }

  list(): PendingMemory[] {
    return parseRecords(this.#files.read(fileName));
  }

  /** The same words about the same topic wait once. */
  async add(memory: NewMemory): Promise<PendingMemory> {
    return await this.#files.change(async () => {
      const records = this.list();
      const twin = records.find(
        ({ topic, text }) => topic === memory.topic && normalizedText(text) === normalizedText(memory.text),
      );
      if (twin) return twin;
      if (records.length >= maxPending) throw new RuntimeError("usage", `${maxPending} entries wait already`);
      const record = { ...memory, id: randomUuid().slice(0, 8), at: new Date(this.#now()).toISOString() };
      await this.#write([...records, record]);
      return record;
    });
  }

  /** Takes one out; undefined when there is none of that id. */
  async take(id: string): Promise<PendingMemory | undefined> {
    return await this.#files.change(async () => {
      const records = this.list();
      const found = records.find((record) => record.id === id);
      if (found) await this.#write(records.filter((record) => record !== found));
      return found;
    });
  }

  async #write(records: readonly PendingMemory[]): Promise<void> {
    await this.#files.write(fileName, `${JSON.stringify({ version: 1, records }, null, 2)}\n`);
  }
}

/** What is no record, such as what a repository brought along, is left out. */
function parseRecords(text: string): PendingMemory[] {
  if (text === "") return [];
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return [];
  }
  const records = isRecord(value) && Array.isArray(value["records"]) ? value["records"] : [];
  return records.flatMap((record: unknown): PendingMemory[] => {
    if (!isRecord(record)) return [];
    const { id, at, type, topic, text: words } = record;
    if ([id, at, type, topic, words].some((field) => typeof field !== "string")) return [];
    try {
      const memory = checkMemory({ type: String(type), topic: String(topic), text: String(words) });
      return [{ ...memory, id: String(id).slice(0, 64), at: String(at).slice(0, 40) }];
    } catch {
      return [];
    }
  });
}
