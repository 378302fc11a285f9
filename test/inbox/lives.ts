import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { createFileStore } from "../../packages/runtime/src/journal/file-store.ts";
import { textOf } from "../../packages/runtime/src/protocol/content.ts";

type Step = { readonly do: string; readonly text?: string; readonly mode?: string; readonly key?: string; readonly ms?: number };

/** Where a process ends itself: before or after it appends events of a type, or when the model is asked something. */
type Death = { when?: "before" | "after"; type?: string; text?: string; append?: number; asked?: string };

export type Life = {
  readonly name?: string;
  readonly steps: readonly Step[];
  readonly randomSteps?: number;
  readonly seed?: number;
  readonly delayMs?: number;
  readonly die?: Death;
};

/** What a process has told before it ended, each at once. */
export type Told = {
  waiting?: string[];
  accepted?: string;
  id?: string;
  isRepeated?: boolean;
  ended?: string;
  type?: string;
  code?: string;
  cancelled?: string;
  asked?: string;
  shutdown?: boolean;
};

/** A session that is lived in by one process after the other, each of which may be killed. */
export class Lives {
  readonly #folder = mkdtempSync(join(tmpdir(), "outrider-inbox-lives-"));
  readonly #project: string;
  #count = 0;

  constructor(project: string) {
    this.#project = project;
  }

  /** Answers what this process told. */
  async live(life: Life): Promise<{ told: Told[]; signal: string | null }> {
    const before = this.told.length;
    const given = {
      ...life,
      library: pathToFileURL(join(this.#project, "packages/runtime/dist/index.js")).href,
      folder: this.#folder,
      log: this.#log,
      session: "lived",
      isNew: this.#count++ === 0 || !existsSync(join(this.#folder, "lived.jsonl")),
    };
    const program = join(this.#project, "test/inbox/child.mjs");
    const child = spawn(process.execPath, [program, JSON.stringify(given)], { stdio: ["ignore", "inherit", "inherit"] });
    const [code, signal] = (await once(child, "exit")) as [number | null, string | null];
    if (code !== 0 && signal !== "SIGKILL") throw new Error(`A life ended with ${code ?? signal}`);
    return { told: this.told.slice(before), signal };
  }

  /** Of all processes so far. */
  get told(): Told[] {
    if (!existsSync(this.#log)) return [];
    const lines = readFileSync(this.#log, "utf8").split("\n").filter(Boolean);
    return lines.map((line) => JSON.parse(line) as Told);
  }

  /** How often the model was asked this. */
  asked(text: string): number {
    return this.told.filter((line) => line.asked === text).length;
  }

  /** Per accepted prompt on record: its text, how often it began, and whether it was cancelled. */
  async onRecord(): Promise<Map<string, { text: string; begun: number; cancelled: number }>> {
    const prompts = new Map<string, { text: string; begun: number; cancelled: number }>();
    for (const event of await createFileStore(this.#folder).read("lived")) {
      if (event.type === "prompt.accepted")
        prompts.set(event.promptId, { text: textOf(event.input.content), begun: 0, cancelled: 0 });
      const id = event.type === "turn.started" ? event.turnId : "promptId" in event ? event.promptId : undefined;
      const prompt = prompts.get(id ?? "");
      if (prompt && (event.type === "turn.started" || event.type === "input.added")) prompt.begun++;
      if (prompt && event.type === "prompt.cancelled") prompt.cancelled++;
    }
    return prompts;
  }

  end(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  get #log(): string {
    return join(this.#folder, "told.log");
  }
}

/**
 * Some processes do random things to a session and are killed at random moments; the last one goes on with everything. Answers what of the
 * promises was broken, in a sentence each.
 */
export async function liveAtRandom(project: string, seed: number, count: number): Promise<{ kills: number; broken: string[] }> {
  const lives = new Lives(project);
  let kills = 0;
  try {
    for (let life = 0; life < count; life++) {
      const own = seed * 1_000 + life;
      const die: Death = { when: own % 2 === 0 ? "before" : "after", append: 4 + ((own * 7) % 60) };
      const { signal } = await lives.live({ name: `life${life}`, steps: [], randomSteps: 30, seed: own, die });
      if (signal === "SIGKILL") kills++;
    }
    await lives.live({ steps: [{ do: "goOn" }, { do: "idle" }] });
    return { kills, broken: await brokenPromises(lives) };
  } finally {
    lives.end();
  }
}

async function brokenPromises(lives: Lives): Promise<string[]> {
  const broken: string[] = [];
  const onRecord = await lives.onRecord();
  for (const [id, { text, begun, cancelled }] of onRecord) {
    if (begun + cancelled !== 1) broken.push(`${text} (${id}) began ${begun} times and was cancelled ${cancelled} times`);
  }
  for (const { accepted, id } of lives.told)
    if (accepted !== undefined && !onRecord.has(id ?? "")) broken.push(`${accepted} was acknowledged and is not on record`);
  for (const { cancelled } of lives.told)
    if (cancelled !== undefined && !cancelled.startsWith("key") && lives.asked(cancelled) > 0)
      broken.push(`${cancelled} was cancelled, and the model was asked it`);
  const asked = lives.told.flatMap((line) => line.asked ?? []);
  for (const text of new Set(asked))
    if (lives.asked(text) > 1 && !text.startsWith("key")) broken.push(`The model was asked ${text} twice`);
  const keys = [...onRecord.values()].filter(({ text }) => text.startsWith("key"));
  if (keys.length > 5) broken.push(`${keys.length} prompts have the five keys`);
  return broken;
}
