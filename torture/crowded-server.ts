import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { launcher } from "./launcher.ts";
import { OutriderClient, OutriderError } from "../packages/runtime/src/exports/client.ts";
import { createFileStore } from "../packages/runtime/src/journal/file-store.ts";
import { startModelServer } from "../packages/runtime/src/testing/model-server.ts";
import { TokenStore } from "../packages/runtime/src/transports/http/token-store.ts";
import { createRandom, inParallel, Tally } from "./report.ts";
import { type Reader, readerKinds, openReader } from "./server-readers.ts";

export type CrowdOptions = {
  readonly command: string;
  readonly connections: number;
  readonly sessions: number;
  /** So many, then the session is removed and another one takes its place: what is kept of a conversation stays bounded. */
  readonly prompts: number;
  /** No session is begun after that. */
  readonly seconds: number;
  readonly seed: number;
};

/** Random growth of a heap that is collected when it likes. */
const slackMegabytes = 48;
const slackDescriptors = 12;

/**
 * One server under everything at once: sessions at work, readers that read, that do not, and that come and go. Every prompt has one result, every
 * reader each stored event once, and the server holds no more memory or descriptors at the end than it did early on.
 */
export async function crowdServer({ command, connections, sessions, prompts, seconds, seed }: CrowdOptions): Promise<Tally> {
  const tally = new Tally("a server with many clients");
  const random = createRandom(seed);
  const folder = mkdtempSync(join(tmpdir(), "outrider-torture-soak-"));
  const asked = new Map<string, number>();
  const model = await startModelServer({ keepsRequests: false, replies: ({ body }) => reply(body, asked) });
  const server = await startServer({ command, folder, url: model.url });
  try {
    const readers = new Set<Reader>();
    const idle = server.descriptors();
    const deadline = Date.now() + seconds * 1000;
    const samples: { readonly at: number; readonly megabytes: number }[] = [];
    const sampling = setInterval(
      () => samples.push({ at: Date.now(), megabytes: server.megabytes() }),
      seconds > 60 ? 2_000 : 250,
    );
    const share = Math.max(1, Math.round(connections / sessions));
    await inParallel([...Array(sessions).keys()], sessions, async (slot) => {
      for (let life = 0; life === 0 || Date.now() < deadline; life++) {
        const { id } = await insist(tally, () =>
          server.client.createSession({ name: `soak ${slot}/${life}` }, { key: `${slot}/${life}` }),
        );
        const mine = Array.from({ length: share }, (_, index) =>
          openReader(readerKinds[(slot + index) % readerKinds.length] ?? "steady", { ...server, id, random }),
        );
        for (const reader of mine) readers.add(reader);
        for (let number = 0; number < prompts; number++) {
          const prompt = `soak-${slot}-${life}-${number}-end`;
          const { outcome } = await insist(tally, () => server.client.prompt(id, prompt, { key: prompt }));
          if (outcome.text !== answerTo(prompt)) tally.violate(`${prompt}: ${outcome.type} ${outcome.text.slice(0, 60)}`);
          if (asked.get(prompt) !== 2) tally.violate(`${prompt}: the model was asked ${asked.get(prompt)} times`);
          asked.delete(prompt);
          tally.count("prompts");
          await pause(random(200));
        }
        await checkSession(tally, { ...server, id, prompts, readers: mine });
        for (const reader of mine) readers.delete(reader);
        await insist(tally, () => server.client.deleteSession(id));
        tally.count("sessions");
      }
    });
    clearInterval(sampling);
    checkMemory(tally, samples);
    await checkDescriptors(tally, server, idle + 2 * sessions);
    if (asked.size > 0) tally.violate(`${asked.size} prompts that nobody sent`);
  } finally {
    await server.stop();
    await model.close();
    rmSync(folder, { recursive: true, force: true });
  }
  return tally;
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

type Checked = Server & { readonly id: string; readonly prompts: number; readonly readers: readonly Reader[] };

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

/** The second quarter against the last one: by then all that is kept has been kept. */
function checkMemory(tally: Tally, samples: readonly { readonly megabytes: number }[]): void {
  const quarter = Math.floor(samples.length / 4);
  const early = median(samples.slice(quarter, 2 * quarter).map(({ megabytes }) => megabytes));
  const late = median(samples.slice(-quarter).map(({ megabytes }) => megabytes));
  tally.count("MB early", Math.round(early));
  tally.count("MB late", Math.round(late));
  if (late > early * 1.2 + slackMegabytes) tally.violate(`memory grew from ${early.toFixed(0)} to ${late.toFixed(0)} MB`);
}

/** Of as many sessions as were at work at once, the connections to the client and to the model are kept for the next request. */
async function checkDescriptors(tally: Tally, server: Server, idle: number): Promise<void> {
  for (let tries = 0; tries < 100 && server.descriptors() > idle + slackDescriptors; tries++) await pause(100);
  const left = server.descriptors();
  if (left > idle + slackDescriptors)
    tally.violate(`${left} descriptors are open when all have left, ${idle} would do: ${server.openFiles().join(" ")}`);
}

function median(values: readonly number[]): number {
  return [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;
}

type Server = {
  readonly url: string;
  readonly token: string;
  readonly client: OutriderClient;
  readonly store: ReturnType<typeof createFileStore>;
  megabytes(): number;
  descriptors(): number;
  /** What they are of. */
  openFiles(): string[];
  stop(): Promise<void>;
};

async function startServer({ command, folder, url: model }: { command: string; folder: string; url: string }): Promise<Server> {
  const home = join(folder, "home");
  const work = join(folder, "work");
  for (const path of [home, work]) mkdirSync(path);
  const most = 1_000_000_000;
  const limits = { sessions: most, prompts: most, requestsPerMinute: most };
  const token = new TokenStore(join(home, "server")).add({ name: "soak", scopes: ["drive"], limits });
  const env = {
    PATH: process.env["PATH"],
    HOME: home,
    OUTRIDER_HOME: home,
    ANTHROPIC_API_KEY: "soak-key",
    ANTHROPIC_BASE_URL: model,
  };
  const child = spawn(launcher, [command, "serve", "--root", work], {
    cwd: work,
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const url = await addressOf(child);
  const status = (name: string): string => readFileSync(`/proc/${child.pid}/${name}`, "utf8");
  return {
    ...{ url, token, client: new OutriderClient({ url, token }), store: createFileStore(join(home, "sessions")) },
    megabytes: () => Number(/VmRSS:\s+(\d+)/.exec(status("status"))?.[1]) / 1024,
    descriptors: () => readdirSync(`/proc/${child.pid}/fd`).length,
    openFiles: () => readdirSync(`/proc/${child.pid}/fd`).map((number) => readlinkSync(`/proc/${child.pid}/fd/${number}`)),
    async stop() {
      const gone = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGTERM");
      await gone;
    },
  };
}

function addressOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    child.stdout?.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk;
      const found = /listens on (\S+)\n/.exec(text)?.[1];
      if (found !== undefined) resolve(found);
    });
    child.once("exit", (code) => reject(new Error(`The server ended with ${code}: ${text}`)));
  });
}
