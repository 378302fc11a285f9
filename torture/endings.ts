import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isStandalone, launcher } from "./launcher.ts";
import { type ServerReply, startModelServer } from "../packages/runtime/src/testing/model-server.ts";
import { createRandom, inParallel, Tally } from "./report.ts";
import { checkLines } from "./transcript.ts";

type Random = (below: number) => number;

/** A run that has not ended by then hangs, on any machine. */
const hangMs = 180_000;

/** The built command, with several faults at once and at any moment: one result, and an exit code that agrees with it. */
export async function countEndings(options: { command: string; shim: string; runs: number; seed: number }): Promise<Tally> {
  const tally = new Tally("runs with faults of several kinds");
  const random = createRandom(options.seed);
  const jobs = Array.from({ length: options.runs }, (_, index) => plan(random, index));
  await inParallel(jobs, 2, async (job) => {
    const folder = mkdtempSync(join(tmpdir(), "outrider-torture-endings-"));
    try {
      const wrong = await runJob(job, { ...options, folder });
      for (const what of wrong.found) tally.violate(`${job.name}: ${what}`);
      tally.count("runs");
      tally.count(wrong.kind);
    } catch (error) {
      tally.violate(`${job.name}: ${error instanceof Error ? error.message : error}`);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
  return tally;
}

type Job = {
  readonly name: string;
  readonly format: "json" | "stream-json";
  readonly provider: ServerReply | undefined;
  /** From which request on the provider fails, and how often. */
  readonly from: number;
  readonly times: number;
  readonly disk: { readonly at: number; readonly how: string } | undefined;
  /** A signal with the nth piece of output, or when the nth request comes. */
  readonly signal:
    | { readonly name: NodeJS.Signals; readonly with: "output" | "request"; readonly nth: number; readonly more: number }
    | undefined;
  readonly server: string | undefined;
  readonly descriptors: number | undefined;
  /** The reader leaves after so many bytes. */
  readonly leaves: number | undefined;
  readonly flags: readonly string[];
  /** The prompt comes as a line among others that mean nothing. */
  readonly lines: readonly string[] | undefined;
};

function plan(random: Random, index: number): Job {
  const maybe = <T>(chance: number, make: () => T): T | undefined => (random(chance) === 0 ? make() : undefined);
  const format = pick(random, ["json", "stream-json"] as const);
  const job = {
    format,
    flags: [...Array(random(3))].flatMap(() => pick(random, format === "json" ? anyFlags : [...anyFlags, ...streamFlags])),
    lines: maybe(format === "json" ? 1_000_000 : 4, () => [...Array(random(4))].map(() => pick(random, oddLines))),
    provider: maybe(2, () => pick(random, providerFaults)),
    from: random(4),
    times: pick(random, [1, 2, 1000]),
    disk: maybe(4, () => ({ at: 1 + random(60), how: pick(random, ["ENOSPC", "EIO", "EMFILE"]) })),
    signal: maybe(3, () => ({
      name: pick(random, ["SIGTERM", "SIGINT", "SIGHUP"] as const),
      with: pick(random, ["output", "request"] as const),
      nth: 1 + random(5),
      more: random(3),
    })),
    server: maybe(4, () => pick(random, servers)),
    descriptors: maybe(8, () => 20 + random(21)),
    leaves: maybe(8, () => random(3000)),
  };
  return {
    ...job,
    name: `${index}: ${JSON.stringify({ ...job, provider: job.provider && JSON.stringify(job.provider).slice(0, 60) })}`,
  };
}

const providerFaults: readonly ServerReply[] = [
  { status: 500 },
  { status: 529 },
  { status: 429, headers: { "retry-after": "0" } },
  { status: 400 },
  { status: 401 },
  { status: 413 },
  { dropBeforeHeaders: true },
  { text: "It begins and breaks off", dropAfterBytes: 300 },
  { raw: "event: nonsense\ndata: {broken\n\n" },
  { raw: "" },
  { body: "<html>a gateway</html>", status: 502 },
  { text: "" },
];

/** `go` ends with one result under each of them. */
const anyFlags: readonly (readonly string[])[] = [
  ["--max-turns", "2"],
  ["--max-budget-usd", "0.0001"],
  ["--no-session-persistence"],
  ["--fallback-model", "claude-haiku-4-5"],
  ["--permission-mode", "plan"],
  ["--json-schema", '{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}'],
  ["--deadline", "1s"],
  ["--disallowedTools", "Write"],
  ["--settings", JSON.stringify({ hooks: { SessionEnd: [{ hooks: [{ type: "command", command: "sleep 0.2" }] }] } })],
  ["--settings", JSON.stringify({ hooks: { PreToolUse: [{ hooks: [{ type: "command", command: "exit 2" }] }] } })],
  ["--settings", JSON.stringify({ hooks: { Stop: [{ hooks: [{ type: "command", command: "sleep 60", async: true }] }] } })],
];
const streamFlags: readonly (readonly string[])[] = [
  ["--verbose"],
  ["--include-partial-messages"],
  ["--include-hook-events"],
  ["--forward-subagent-text"],
];

/** Each is passed over with a warning. */
const oddLines: readonly string[] = [
  "this is no JSON",
  "[]",
  "7",
  '{"type":"banana"}',
  '{"type":"system","subtype":"init"}',
  '{"type":"result","subtype":"success"}',
  '{"type":"control_response","response":{"subtype":"success","request_id":"nobody"}}',
  '{"type":"control_cancel_request","request_id":"nobody"}',
  '{"type":"keep_alive"}',
  `{"type":"user","message":{"role":"user","content":${"[".repeat(2000)}`,
];

const servers: readonly string[] = [
  "exit 1",
  "kill -9 $$",
  "echo garbage; sleep 600",
  "read line; exit 0",
  "trap '' TERM; read line; sleep 600",
];

type Setting = { readonly command: string; readonly shim: string; readonly folder: string };

async function runJob(job: Job, { command, shim, folder }: Setting): Promise<{ kind: string; found: string[] }> {
  let requests = 0;
  let child: ChildProcess | undefined;
  let isSignalled = false;
  const signal = (at: "output" | "request", nth: number): void => {
    if (job.signal?.with !== at || job.signal.nth !== nth || !child) return;
    isSignalled = true;
    for (let again = 0; again <= job.signal.more; again++) child.kill(job.signal.name);
  };
  const server = await startModelServer({
    replies: () => {
      const nth = requests++;
      signal("request", nth + 1);
      if (job.provider && nth >= job.from && nth < job.from + job.times) return job.provider;
      if (nth < 3) return { text: `Step ${nth}.`, calls: [{ name: "Bash", input: { command: `echo ${nth} >> steps` } }] };
      return { text: "Done." };
    },
  });
  try {
    mkdirSync(join(folder, "work"));
    const mcp =
      job.server === undefined
        ? []
        : [
            "--mcp-config",
            JSON.stringify({ mcpServers: { s: { command: "bash", args: ["-c", job.server] } } }),
            "--mcp-timeout",
            "1s",
          ];
    const prompt = job.lines ? ["-p", "--input-format", "stream-json"] : ["-p", "go"];
    const flags = [...prompt, "--output-format", job.format, "--sandbox", "off", "--allowedTools", "Bash", ...mcp, ...job.flags];
    const words = [launcher, ...(job.disk && !isStandalone ? ["--require", shim] : []), command, ...flags];
    const limited =
      job.descriptors === undefined ? words : ["bash", "-c", `ulimit -n ${job.descriptors}; exec "$@"`, "bash", ...words];
    child = spawn(limited[0] ?? "", limited.slice(1), {
      cwd: join(folder, "work"),
      stdio: [job.lines ? "pipe" : "ignore", "pipe", "pipe"],
      env: {
        PATH: process.env["PATH"] ?? "",
        HOME: folder,
        OUTRIDER_HOME: join(folder, "home"),
        ANTHROPIC_API_KEY: "torture",
        ANTHROPIC_BASE_URL: server.url,
        OUTRIDER_RETRY_BASE_MS: "2",
        OUTRIDER_MAX_RETRIES: "2",
        TORTURE_ROOT: join(folder, "home"),
        TORTURE_AT: String(job.disk?.at ?? 0),
        TORTURE_HOW: job.disk?.how ?? "",
      },
    });
    child.stdin?.on("error", () => {}); // it may be gone
    child.stdin?.end([...(job.lines ?? []), `{"type":"user","message":{"role":"user","content":"go"}}`, ""].join("\n"));
    const ended = await follow(child, { onOutput: (nth) => signal("output", nth), leaves: job.leaves });
    return judge(job, ended, isSignalled);
  } finally {
    child?.kill("SIGKILL");
    await server.close();
  }
}

type Ended = {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
  hasLeft: boolean;
  hangs: boolean;
};

async function follow(child: ChildProcess, options: { onOutput(nth: number): void; leaves: number | undefined }): Promise<Ended> {
  const ended: Ended = { code: null, signal: null, stdout: "", stderr: "", hasLeft: false, hangs: false };
  let pieces = 0;
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    ended.stdout += text;
    options.onOutput(++pieces);
    if (options.leaves === undefined || ended.hasLeft || ended.stdout.length < options.leaves) return;
    ended.hasLeft = true;
    child.stdout?.destroy();
  });
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    ended.stderr += text;
  });
  const timer = setTimeout(() => {
    ended.hangs = true;
    child.kill("SIGKILL");
  }, hangMs);
  await new Promise<void>((resolve) => {
    child.on("close", (code, signal) => {
      Object.assign(ended, { code, signal });
      resolve();
    });
  });
  clearTimeout(timer);
  return ended;
}

function judge(job: Job, ended: Ended, isSignalled: boolean): { kind: string; found: string[] } {
  const { code, signal, stdout, stderr } = ended;
  if (ended.hangs) return { kind: "hangs", found: [`has not ended after ${hangMs / 1000} s: ${stderr.slice(-300)}`] };
  // Node itself needs some descriptors before a line of ours runs, and a signal may come before that too.
  const isTooEarly =
    stdout === "" && ((job.descriptors !== undefined && !/^outrider: /m.test(stderr)) || (isSignalled && signal !== null));
  if (isTooEarly) return { kind: "over before the program ran", found: [] };
  if (signal !== null) return { kind: "died", found: [`died of ${signal}: ${stderr.slice(-300)}`] };
  if (ended.hasLeft) {
    const { wrong } = checkLines(stdout, { results: /"type":"result"/.test(stdout) ? 1 : 0, cut: true });
    const isKnown = code !== null && code !== 255;
    return { kind: "readers that left", found: [...wrong, ...(isKnown ? [] : [`exit ${code}`])] };
  }
  const { wrong, last } = checkLines(stdout);
  if (last && last.is_error !== (code !== 0))
    wrong.push(`exit ${code} and is_error ${last.is_error}: ${JSON.stringify(last).slice(0, 300)}`);
  if (/\n\s+at .*:\d+:\d+\)?/.test(stderr)) wrong.push(`a stack trace: ${stderr.slice(0, 400)}`);
  return { kind: code === 0 ? "completed" : "failed with a result", found: wrong };
}

function pick<T>(random: Random, list: readonly T[]): T {
  const item = list[random(list.length)];
  if (item === undefined) throw new Error("Nothing to choose from");
  return item;
}
