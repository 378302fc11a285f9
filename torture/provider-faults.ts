import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Writable } from "node:stream";
import { exitCodeOf } from "../packages/cli/src/exit-codes.ts";
import { createAnthropicProvider } from "../packages/runtime/src/model/providers/anthropic.ts";
import { InteractiveSession } from "../packages/runtime/src/session/interactive-session.ts";
import { type ServerReply, startModelServer } from "../packages/runtime/src/testing/model-server.ts";
import { createClaudeFormat, loadPartialMessages } from "../packages/runtime/src/transports/headless/claude-format.ts";
import { LineOutput } from "../packages/runtime/src/transports/headless/line-output.ts";
import { runPrompt } from "../packages/runtime/src/transports/headless/run-prompt.ts";
import { createIdSeries } from "../packages/runtime/src/util/unique-ids.ts";
import { createRandom, inParallel, Tally } from "./report.ts";
import { checkLines } from "./transcript.ts";

type Fault = {
  readonly name: string;
  readonly reply: ServerReply;
  /** What comes of it when it never stops: exit code 1 with one of these codes. */
  readonly codes: readonly string[];
  /** Tried again, so that a later good answer counts. */
  readonly passing: boolean;
};

const maxRetries = 2;
const answer = "All of it, word by word, to the end.";

/** Sessions whose provider fails in every way, now and then or for ever: one result, its own code, whole lines, the whole answer. */
export async function failProviders({ runs, seed }: { runs: number; seed: number }): Promise<Tally> {
  const tally = new Tally("providers that fail");
  const random = createRandom(seed);
  const folder = mkdtempSync(join(tmpdir(), "outrider-torture-provider-"));
  const jobs = Array.from({ length: runs }, () => ({
    fault: pickFault(random),
    times: random(3) === 0 ? Number.POSITIVE_INFINITY : 1 + random(maxRetries),
    slowly: random(4) === 0,
    tool: random(3) === 0,
    partial: random(2) === 0,
  }));
  try {
    await inParallel(jobs, 4, async (job) => {
      const label = `${job.fault.name} × ${job.times}${job.tool ? " after a tool" : ""}`;
      for (const wrong of await runJob(job, folder)) tally.violate(`${label}: ${wrong}`);
      tally.count("runs");
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return tally;
}

type Job = { fault: Fault; times: number; slowly: boolean; tool: boolean; partial: boolean };

async function runJob({ fault, times, slowly, tool, partial }: Job, folder: string): Promise<string[]> {
  let failed = 0;
  let called = !tool;
  const server = await startModelServer({
    replies: () => {
      if (!called) {
        called = true;
        return { text: "First a tool.", calls: [{ name: "Glob", input: { pattern: "*" } }] };
      }
      return failed++ < times ? fault.reply : { text: answer };
    },
  });
  const cwd = join(folder, "project");
  mkdirSync(cwd, { recursive: true });
  const session = new InteractiveSession({
    cwd,
    provider: createAnthropicProvider({
      apiKey: "torture",
      baseURL:
        fault.name === "nobody"
          ? "http://127.0.0.1:9"
          : fault.name === "no-such-host"
            ? "http://no.such.host.invalid"
            : server.url,
      retry: { maxRetries, baseDelayMs: 1, maxDelayMs: 5 },
      timeouts: { connectMs: 2000, headersMs: 300, firstByteMs: 300, idleMs: 150 },
    }),
    overflowDirectory: join(folder, "overflow"),
  });
  const sink = new Sink(slowly);
  try {
    const format = createClaudeFormat("stream-json", {
      sessionId: session.id,
      newId: createIdSeries(),
      partialMessages: partial ? await loadPartialMessages() : undefined,
    });
    const outcome = await runPrompt(session, "go", { format, output: new LineOutput(sink) });
    const { wrong, last } = checkLines(sink.text);
    const code = exitCodeOf(outcome);
    const recovers = fault.passing && times <= maxRetries;
    const ended = outcome.type === "failed" ? outcome.error.code : outcome.type;
    if (recovers && (code !== 0 || last?.result !== answer))
      wrong.push(`did not recover: ${ended} ${JSON.stringify(last?.errors)}`);
    if (!recovers && code !== 1) wrong.push(`exit ${code}`);
    if (!recovers && !fault.codes.includes(ended)) wrong.push(`ended as ${ended}`);
    if (last && last.is_error !== (code !== 0)) wrong.push(`exit ${code} and is_error ${last.is_error}`);
    return wrong;
  } finally {
    await session.shutdown();
    await server.close();
  }
}

/** Takes what it gets, at once or bit by bit. */
class Sink extends Writable {
  readonly #chunks: Buffer[] = [];
  readonly #slowly: boolean;

  constructor(slowly: boolean) {
    super({ highWaterMark: 1024 });
    this.#slowly = slowly;
  }

  get text(): string {
    return Buffer.concat(this.#chunks).toString("utf8");
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.#chunks.push(chunk);
    if (this.#slowly) setTimeout(done, 3);
    else done();
  }
}

function pickFault(random: (below: number) => number): Fault {
  const statuses: readonly [number, string, boolean][] = [
    [400, "provider-bad-request", false],
    [401, "provider-auth", false],
    [403, "provider-auth", false],
    [404, "provider-bad-request", false],
    [413, "provider-bad-request", false],
    [429, "provider-rate-limit", true],
    [500, "provider-unavailable", true],
    [502, "provider-unavailable", true],
    [503, "provider-unavailable", true],
    [529, "provider-overloaded", true],
  ];
  const kinds: readonly (() => Fault)[] = [
    () => {
      const [status, code, passing] = statuses[random(statuses.length)] ?? [500, "provider-unavailable", true];
      return { name: `HTTP ${status}`, reply: { status }, codes: [code], passing };
    },
    () => {
      // Somewhere before the last event; some of them in the middle of a character.
      const reply = { reasoning: "Hm ü", text: `${answer} é 😀 `.repeat(20), dropAfterBytes: random(4000) };
      return { name: `cut after ${reply.dropAfterBytes} bytes`, reply, codes: broken, passing: true };
    },
    () => ({ name: "hangs up before the headers", reply: { dropBeforeHeaders: true }, codes: broken, passing: true }),
    () => ({ name: "goes silent", reply: { text: answer, stallAfterBytes: 300 + random(300) }, codes: broken, passing: true }),
    () => {
      const raw = Buffer.from(Array.from({ length: 1 + random(600) }, () => random(256)));
      return { name: "garbage for events", reply: { raw }, codes: broken, passing: true };
    },
    () => ({
      name: "events that are no JSON",
      reply: { raw: "event: message_start\ndata: {oops\n\n" },
      codes: broken,
      passing: true,
    }),
    () => ({ name: "an empty stream", reply: { raw: "" }, codes: broken, passing: true }),
    () => ({
      name: "an error event",
      reply: { text: "Well", fail: { code: "provider-overloaded", message: "busy" } },
      codes: broken,
      passing: true,
    }),
    () => ({ name: "nobody", reply: {}, codes: broken, passing: false }),
    () => ({ name: "no-such-host", reply: {}, codes: broken, passing: false }),
  ];
  const kind = kinds[random(kinds.length)] ?? kinds[0];
  return kind ? kind() : { name: "nothing", reply: {}, codes: [], passing: true };
}

const broken = ["provider-unavailable", "provider-timeout", "provider-protocol", "provider-overloaded"];
