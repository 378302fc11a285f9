import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { OutriderError } from "../packages/runtime/src/exports/client.ts";
import { startModelServer } from "../packages/runtime/src/testing/model-server.ts";
import { growthPerSession, type Rest, whyNotFlat } from "./flat-memory.ts";
import { createRandom, inParallel, Tally } from "./report.ts";
import { type ServedProcess, startServed } from "./served-process.ts";
import { type Reader, readerKinds, openReader } from "./server-readers.ts";

export type CrowdOptions = {
  readonly command: string;
  readonly connections: number;
  readonly sessions: number;
  /** So many, then the session is removed and another one takes its place: what is kept of a conversation stays bounded. */
  readonly prompts: number;
  /** No session is begun after that. */
  readonly seconds: number;
  /** How often all rest, at the end of each part of the time. */
  readonly parts: number;
  readonly seed: number;
};

/** Random growth of what a process holds of memory whose heap is collected when it likes. */
const slackMegabytes = 48;
const slackDescriptors = 12;

/**
 * One server under everything at once: sessions at work, readers that read, that do not, and that come and go. Every prompt has one result, every
 * reader each stored event once, and the server holds no more memory or descriptors at the end than it did early on.
 */
export async function crowdServer({
  command,
  connections,
  sessions,
  prompts,
  seconds,
  parts,
  seed,
}: CrowdOptions): Promise<Tally> {
  const tally = new Tally("a server with many clients");
  const random = createRandom(seed);
  const folder = mkdtempSync(join(tmpdir(), "outrider-torture-soak-"));
  const asked = new Map<string, number>();
  const model = await startModelServer({ keepsRequests: false, replies: ({ body }) => reply(body, asked) });
  const server = await startServed({ command, folder, url: model.url });
  const share = Math.max(1, Math.round(connections / sessions));
  try {
    const idle = server.descriptors();
    const begunAt = Date.now();
    const rests: Rest[] = [];
    const samples: number[] = [];
    const sampling = setInterval(() => samples.push(server.megabytes()), seconds > 60 ? 2_000 : 250);
    const lives = new Map<number, number>();
    for (let part = 1; part <= parts; part++) {
      const deadline = begunAt + (seconds * 1000 * part) / parts;
      await inParallel([...Array(sessions).keys()], sessions, async (slot) => {
        do {
          const life = lives.get(slot) ?? 0;
          lives.set(slot, life + 1);
          await liveOnce(tally, { server, slot, life, connections: share, prompts, asked, random });
        } while (Date.now() < deadline);
      });
      await checkDescriptors(tally, server, idle + 2 * sessions);
      const heap = await server.heap();
      if (heap) rests.push({ sessions: tally.counts["sessions"] ?? 0, heap });
    }
    clearInterval(sampling);
    checkHeap(tally, rests);
    checkResident(tally, samples);
    if (asked.size > 0) tally.violate(`${asked.size} prompts that nobody sent`);
  } finally {
    await server.stop();
    await model.close();
    rmSync(folder, { recursive: true, force: true });
  }
  return tally;
}

type Life = {
  readonly server: ServedProcess;
  readonly slot: number;
  readonly life: number;
  readonly connections: number;
  readonly prompts: number;
  readonly asked: Map<string, number>;
  readonly random: (below: number) => number;
};

/** One session from its beginning to its removal. */
async function liveOnce(tally: Tally, { server, slot, life, connections, prompts, asked, random }: Life): Promise<void> {
  const { id } = await insist(tally, () =>
    server.client.createSession({ name: `soak ${slot}/${life}` }, { key: `${slot}/${life}` }),
  );
  const readers = Array.from({ length: connections }, (_, index) =>
    openReader(readerKinds[(slot + index) % readerKinds.length] ?? "steady", { ...server, id, random }),
  );
  for (let number = 0; number < prompts; number++) {
    const prompt = `soak-${slot}-${life}-${number}-end`;
    const { outcome } = await insist(tally, () => server.client.prompt(id, prompt, { key: prompt }));
    if (outcome.text !== answerTo(prompt)) tally.violate(`${prompt}: ${outcome.type} ${outcome.text.slice(0, 60)}`);
    if (asked.get(prompt) !== 2) tally.violate(`${prompt}: the model was asked ${asked.get(prompt)} times`);
    asked.delete(prompt);
    tally.count("prompts");
    await pause(random(200));
  }
  await checkSession(tally, { ...server, id, prompts, readers });
  await insist(tally, () => server.client.deleteSession(id));
  tally.count("sessions");
}

/** What is too late where the machine is too busy: a connection within the client's ten seconds, an answer within its five minutes. (The server waits a minute for a request.) */
const lateCodes: ReadonlySet<unknown> = new Set(["UND_ERR_CONNECT_TIMEOUT", "UND_ERR_HEADERS_TIMEOUT"]);

/** It is asked again then; with the same key, so that nothing is done twice. */
async function insist<T>(tally: Tally, ask: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      const { code } = ((error as Error).cause ?? {}) as { code?: string };
      const isLate = lateCodes.has(code) || (error instanceof OutriderError && error.status === 408);
      if (!isLate) throw error;
      tally.count(code === "UND_ERR_CONNECT_TIMEOUT" ? "connections not made" : "requests and answers too late");
    }
  }
}

/** Some work first, then many words. */
function reply(body: unknown, asked: Map<string, number>): { text: string } | { calls: { name: string; input: object }[] } {
  const prompt =
    JSON.stringify(body)
      .match(/soak-\d+-\d+-\d+-end/g)
      ?.at(-1) ?? "";
  const times = (asked.get(prompt) ?? 0) + 1;
  asked.set(prompt, times);
  return times === 1 ? { calls: [{ name: "Glob", input: { pattern: `${prompt}*` } }] } : { text: answerTo(prompt) };
}

function answerTo(prompt: string): string {
  return `${"word ".repeat(300)}${prompt}`;
}

type Checked = ServedProcess & { readonly id: string; readonly prompts: number; readonly readers: readonly Reader[] };

async function checkSession(tally: Tally, { store, id, prompts, readers }: Checked): Promise<void> {
  const stored = await store.read(id);
  const ends = stored.filter(({ type, taskId }) => type === "turn.ended" && taskId === undefined);
  if (ends.length !== prompts) tally.violate(`${id}: ${ends.length} results of ${prompts} prompts`);
  const last = ends.at(-1)?.seq ?? 0;
  const wanted = stored.filter(({ seq }) => seq <= last).map(({ seq }) => seq);
  await Promise.all(
    readers.map(async (reader) => {
      const told = (await reader.until(last)).filter((seq) => seq <= last);
      reader.leave();
      tally.count(`${reader.kind} readers`);
      tally.count("returns", reader.returns);
      // Over a socket not every event has a message; those that have come in order, up to the last.
      const isWhole = reader.kind === "socket" ? isAscending(told) && told.at(-1) === last : told.join() === wanted.join();
      if (!isWhole) tally.violate(`${id}: a ${reader.kind} reader has ${told.length} of ${wanted.length} events`);
    }),
  );
}

function isAscending(numbers: readonly number[]): boolean {
  return numbers.every((number, index) => index === 0 || number > (numbers[index - 1] ?? 0));
}

function checkHeap(tally: Tally, rests: readonly Rest[]): void {
  if (rests.length === 0) return;
  tally.count("rests", rests.length);
  tally.count("bytes of growth with each session", Math.round(growthPerSession(rests).each));
  const why = whyNotFlat(rests);
  if (why !== undefined) tally.violate(why);
}

/** The second quarter against the last one: by then all that is kept has been kept. */
function checkResident(tally: Tally, samples: readonly number[]): void {
  const quarter = Math.floor(samples.length / 4);
  const early = median(samples.slice(quarter, 2 * quarter));
  const late = median(samples.slice(-quarter));
  tally.count("MB early", Math.round(early));
  tally.count("MB late", Math.round(late));
  if (late > early * 1.2 + slackMegabytes) tally.violate(`memory grew from ${early.toFixed(0)} to ${late.toFixed(0)} MB`);
}

function median(values: readonly number[]): number {
  return [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;
}

/** Of as many sessions as were at work at once, the connections to the client and to the model are kept for the next request. */
async function checkDescriptors(tally: Tally, server: ServedProcess, idle: number): Promise<void> {
  for (let tries = 0; tries < 100 && server.descriptors() > idle + slackDescriptors; tries++) await pause(100);
  const left = server.descriptors();
  if (left > idle + slackDescriptors)
    tally.violate(`${left} descriptors are open when all have left, ${idle} would do: ${server.openFiles().join(" ")}`);
}
