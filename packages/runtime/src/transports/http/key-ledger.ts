import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isRecord } from "../../util/is-record.ts";
import { toLine } from "../../util/jsonl.ts";
import { replaceFileSync } from "../../util/replace-file.ts";
import { HttpProblem } from "./problem.ts";

/** How many keys are remembered; of older ones it is not known any more what they were given with. */
const remembered = 10_000;

/** What a key is for, and what the same key must come with again. */
export type Keyed = { readonly place: readonly string[]; readonly what: unknown };

/** The same key is the same prompt of a session, whichever way and with whatever mode it comes. */
export function keyedPrompt(sessionId: string, content: unknown): Keyed {
  return { place: ["prompt", sessionId], what: content };
}

/** With what the latest keys were given: another request with the same key is a mistake, in every process of this server to come. */
export class KeyLedger {
  readonly #path: string;
  readonly #asked = new Map<string, string>();
  #lines = 0;

  constructor(folder: string) {
    this.#path = join(folder, "keys.jsonl");
    for (const line of linesOf(this.#path)) {
      this.#lines++;
      if (isRecord(line) && typeof line["key"] === "string" && typeof line["asked"] === "string")
        this.#remember(line["key"], line["asked"]);
    }
  }

  /** Throws where the owner's key was given with something else. */
  check(owner: string, given: string, { place, what }: Keyed): void {
    const key = digest([owner, ...place, given]);
    const asked = digest(what ?? null);
    const before = this.#asked.get(key);
    if (before === asked) return;
    if (before !== undefined) throw new HttpProblem("key-reused", "This Idempotency-Key was given with another request");
    this.#remember(key, asked);
    if (this.#lines < 2 * remembered) appendFileSync(this.#path, toLine({ key, asked }), { mode: 0o600 });
    else this.#rewrite();
    this.#lines++;
  }

  #remember(key: string, asked: string): void {
    this.#asked.set(key, asked);
    const [oldest] = this.#asked.keys();
    if (this.#asked.size > remembered && oldest !== undefined) this.#asked.delete(oldest);
  }

  #rewrite(): void {
    replaceFileSync(this.#path, [...this.#asked].map(([key, asked]) => toLine({ key, asked })).join(""));
    this.#lines = this.#asked.size;
  }
}

/** Neither keys nor prompts are kept for that. */
function digest(value: unknown): string {
  const { createHash } = process.getBuiltinModule("node:crypto");
  return createHash("sha256").update(JSON.stringify(value)).digest("base64url");
}

/** A line that a crash has cut off is no line. */
function linesOf(path: string): unknown[] {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    throw error;
  }
  const whole = text.slice(0, text.lastIndexOf("\n") + 1);
  if (whole !== text) replaceFileSync(path, whole);
  return whole.split("\n").map((line) => {
    try {
      return JSON.parse(line);
    } catch {
      return undefined;
    }
  });
}
