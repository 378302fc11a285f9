import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { launcher } from "./launcher.ts";
import { createFileStore } from "../packages/runtime/src/journal/file-store.ts";
import { type ServerReply, startModelServer } from "../packages/runtime/src/testing/model-server.ts";
import { createRandom, inParallel, Tally } from "./report.ts";
import { checkLines } from "./transcript.ts";

type Random = (below: number) => number;

/** How long a run may live on after what should end it, and its processes after it. */
const patienceMs = 2000;

/** The built command under signals, readers that leave or stall, bad input, dead helpers and limits. */
export async function failProcesses(options: { command: string; runs: number; seed: number }): Promise<Tally> {
  const tally = new Tally("runs that are disturbed");
  const random = createRandom(options.seed);
  const jobs = Array.from({ length: options.runs }, (_, index) => ({ index, make: pick(random, disturbances)(random) }));
  await inParallel(jobs, 2, async ({ index, make }) => {
    const place = await openPlace(options.command, make.replies, index);
    try {
      const { kind, wrong } = await make.run(place);
      for (const what of wrong) tally.violate(`${make.name}: ${what}`);
      const left = await leftBehind(place.marker);
      if (left.length > 0) tally.violate(`${make.name}: ${left.length} processes left after ${patienceMs} ms`);
      tally.count(kind);
      tally.count("runs");
    } catch (error) {
      tally.violate(`${make.name}: ${error instanceof Error ? error.message : error}`);
    } finally {
      await place.close();
    }
  });
  return tally;
}

type Verdict = { readonly kind: string; readonly wrong: string[] };
type Disturbance = {
  readonly name: string;
  readonly replies: (marker: string) => readonly ServerReply[] | (() => ServerReply);
  readonly run: (place: Place) => Promise<Verdict>;
};

const words = "one two three four five six seven eight nine ten ".repeat(8);
const slowAnswer = (): ServerReply[] => [{ text: words, chunkDelayMs: 8 }];
const longTool = (marker: string): ServerReply[] => [
  { text: "Starting.", calls: [{ name: "Bash", input: { command: `trap '' TERM; sleep ${marker} & sleep ${marker}; wait` } }] },
  { text: "Done." },
];
/** A reader that leaves is noticed with the next line that is written: a tool that says nothing has to end first. */
const shortTool = (marker: string): ServerReply[] => [
  { text: "Starting.", calls: [{ name: "Bash", input: { command: `: ${marker}; sleep 1; echo done` } }] },
  { text: "Done." },
];
const stream = ["-p", "go", "--output-format", "stream-json", "--allowedTools", "Bash"];

const disturbances: readonly ((random: Random) => Disturbance)[] = [
  (random) => {
    const signal = pick(random, ["SIGTERM", "SIGINT", "SIGHUP"] as const);
    const inTool = random(2) === 0;
    const afterMs = random(700);
    return {
      name: `${signal} after ${afterMs} ms, ${inTool ? "with a tool" : "in an answer"}`,
      replies: (marker) => (inTool ? longTool(marker) : slowAnswer()),
      async run(place) {
        const run = place.start([...stream, ...(random(2) === 0 ? ["--include-partial-messages"] : [])]);
        let sentAt = 0;
        const timer = setTimeout(() => {
          sentAt = Date.now();
          run.child.kill(signal);
        }, afterMs);
        const ended = await run.done;
        clearTimeout(timer);
        if (ended.signal !== null) return diedEarly(ended);
        const { wrong, last } = checkLines(ended.stdout);
        const stopped = sentAt > 0 && ended.code === 124;
        if (!stopped && ended.code !== 0) wrong.push(`exit ${ended.code}: ${ended.stderr.slice(0, 200)}`);
        if (stopped && Date.now() - sentAt > patienceMs) wrong.push(`took ${Date.now() - sentAt} ms to end`);
        if (last && last.is_error !== (ended.code !== 0)) wrong.push(`exit ${ended.code} and is_error ${last.is_error}`);
        return { kind: stopped ? "signals" : "over before the signal", wrong };
      },
    };
  },
  (random) => {
    const bytes = random(6000);
    const inTool = random(3) === 0;
    return {
      name: `reader leaves after ${bytes} bytes${inTool ? ", with a tool" : ""}`,
      replies: (marker) => (inTool ? shortTool(marker) : slowAnswer()),
      async run(place) {
        const run = place.start([...stream, "--include-partial-messages"]);
        let seen = 0;
        let leftAt = 0;
        run.child.stdout.on("data", (chunk: string) => {
          seen += chunk.length;
          if (seen < bytes || leftAt > 0) return;
          leftAt = Date.now();
          run.child.stdout.destroy();
        });
        const ended = await run.done;
        const { wrong } = checkLines(ended.stdout, { results: ended.stdout.includes('"type":"result"') ? 1 : 0, cut: true });
        if (leftAt > 0 && ended.code === 124 && Date.now() - leftAt > patienceMs + 1500)
          wrong.push(`took ${Date.now() - leftAt} ms to end`);
        if (ended.code !== 124 && ended.code !== 0) wrong.push(`exit ${ended.code}: ${ended.stderr.slice(0, 200)}`);
        if (/\n\s+at /.test(ended.stderr)) wrong.push(`a stack trace: ${ended.stderr.slice(0, 200)}`);
        const ends = await place.endsInJournal();
        if (ends !== 1) wrong.push(`${ends} ends in the journal`);
        return { kind: "readers that left", wrong };
      },
    };
  },
  (random) => {
    const pauseMs = 1 + random(15);
    return {
      name: `reader pauses ${pauseMs} ms after every piece`,
      replies: () => [{ text: "a b ".repeat(2000) }],
      async run(place) {
        const run = place.start([...stream, "--include-partial-messages"]);
        run.child.stdout.on("data", () => {
          run.child.stdout.pause();
          setTimeout(() => run.child.stdout.resume(), pauseMs);
        });
        const ended = await run.done;
        const { wrong, last } = checkLines(ended.stdout);
        if (ended.code !== 0 || last?.result?.length !== 8000)
          wrong.push(`exit ${ended.code}, ${last?.result?.length} characters`);
        return { kind: "slow readers", wrong };
      },
    };
  },
  (random) => {
    const afterMs = 300 + random(400);
    return {
      name: `reader stalls, and SIGTERM after ${afterMs} ms`,
      replies: () => [{ text: "a b ".repeat(20_000) }],
      async run(place) {
        const run = place.start([...stream, "--include-partial-messages"]);
        run.child.stdout.pause();
        await new Promise((resolve) => setTimeout(resolve, afterMs));
        const sentAt = Date.now();
        run.child.kill("SIGTERM");
        const [code, died] = await run.exited;
        const took = Date.now() - sentAt;
        run.child.stdout.resume();
        const ended = await run.done;
        if (died !== null) return diedEarly(ended);
        const delivered = ended.stdout.includes('"type":"result"');
        const { wrong } = checkLines(ended.stdout, { results: delivered ? 1 : 0, cut: !delivered });
        if (took > patienceMs) wrong.push(`took ${took} ms to end`);
        if (code !== 124) wrong.push(`exit ${code}`);
        return { kind: "stalled readers", wrong };
      },
    };
  },
  (random) => {
    const good = random(3);
    const bad = pick(random, [
      "{not json",
      '{"type":"user","content":"hi","colour":"red"}',
      '{"type":"nonsense"}',
      "[1,2,3]",
      '"words"',
      '{"type":"user"}',
      '{"type":"control","subtype":"explode"}',
      "\u0000\u0001\u0002",
    ]);
    return {
      name: `${good} good lines, then ${bad}`,
      replies: () => () => ({ text: "ok" }),
      async run(place) {
        const run = place.start(["--input-format", "stream-json", "--output-format", "stream-json"]);
        run.child.stdin.on("error", () => {});
        const isSkipped = good > 0 || bad.includes("nonsense"); // it is told of; alone it is an error, but for another program's frame
        const lines = Array.from({ length: good }, () => '{"type":"user","content":"hello"}\n');
        run.child.stdin.end(`${lines.join("")}${bad}\n`);
        const ended = await run.done;
        const { wrong } = checkLines(ended.stdout, { results: isSkipped ? good : 1 });
        const told = ended.stdout.includes('"subtype":"warning"');
        if (ended.code !== (isSkipped ? 0 : 64) || !told) wrong.push(`exit ${ended.code}: ${ended.stdout.slice(-300)}`);
        return { kind: "bad frames", wrong };
      },
    };
  },
  (random) => {
    const command = pick(random, [
      "kill -9 $$",
      "exit 1",
      "exit 7",
      "no-such-program-at-all",
      "echo '{broken'; exit 0",
      "sleep 30",
    ]);
    const event = pick(random, ["PreToolUse", "PostToolUse", "Stop", "SessionStart", "UserPromptSubmit"]);
    const hooks = { [event]: [{ hooks: [{ type: "command", command, timeout: 1 }] }] };
    return {
      name: `${event} hook: ${command}`,
      replies: () => [{ calls: [{ name: "Bash", input: { command: "true" } }] }, { text: "Done." }],
      async run(place) {
        const ended = await place.start([...stream, "--settings", JSON.stringify({ hooks })]).done;
        const { wrong, last } = checkLines(ended.stdout);
        if (ended.code !== 0 && ended.code !== 1) wrong.push(`exit ${ended.code}: ${ended.stderr.slice(0, 200)}`);
        if (last && last.is_error !== (ended.code !== 0)) wrong.push(`exit ${ended.code} and is_error ${last.is_error}`);
        return { kind: "hooks that crash", wrong };
      },
    };
  },
  (random) => {
    const command = pick(random, ["exit 1", "kill -9 $$", "sleep 30", "echo garbage; sleep 30", "no-such-program-at-all"]);
    const required = random(3) === 0;
    const servers = { dead: { command: "bash", args: ["-c", command] } };
    return {
      name: `MCP server: ${command}${required ? ", required" : ""}`,
      replies: () => [{ text: "Done." }],
      async run(place) {
        const flags = ["--mcp-config", JSON.stringify({ mcpServers: servers }), "--mcp-timeout", "300ms"];
        const ended = await place.start([...stream, ...flags, ...(required ? ["--require-mcp"] : [])]).done;
        const { wrong } = checkLines(ended.stdout);
        if ((ended.code === 0) === required) wrong.push(`exit ${ended.code}: ${ended.stderr.slice(0, 200)}`);
        return { kind: "dead MCP servers", wrong };
      },
    };
  },
  (random) => {
    const inTool = random(2) === 0;
    return {
      name: `deadline, ${inTool ? "with a tool" : "in silence"}`,
      replies: (marker) => (inTool ? longTool(marker) : [{ text: "Well", hang: true }]),
      async run(place) {
        const ended = await place.start([...stream, "--deadline", `${100 + random(500)}ms`]).done;
        const { wrong } = checkLines(ended.stdout);
        if (ended.code !== 124) wrong.push(`exit ${ended.code}: ${ended.stderr.slice(0, 200)}`);
        return { kind: "deadlines", wrong };
      },
    };
  },
  (random) => {
    const [flags, code] = pick(random, [
      [["--max-turns", "1"], 75],
      [["--max-budget-usd", "0.000001"], 137],
      [["--max-turns", "x"], 64],
      [["--no-such-flag"], 64],
      [["--settings", "{oops"], 78],
      [["--resume", "nobody"], 66],
    ] as const);
    return {
      name: flags.join(" "),
      replies: () => () => ({
        text: "Looking.",
        calls: [{ name: "Bash", input: { command: "true" } }],
        usage: { inputTokens: 5000, outputTokens: 5000 },
      }),
      async run(place) {
        const ended = await place.start([...stream, ...flags]).done;
        const { wrong } = checkLines(ended.stdout);
        if (ended.code !== code) wrong.push(`exit ${ended.code}, not ${code}`);
        return { kind: "limits and refusals", wrong };
      },
    };
  },
];

/** A signal that comes before the program has begun to run ends it like any other program. */
function diedEarly({ stdout, signal }: { stdout: string; signal: NodeJS.Signals | null }): Verdict {
  return { kind: "before the program ran", wrong: stdout === "" ? [] : [`died of ${signal} with output`] };
}

type Started = {
  readonly child: ChildProcessWithoutNullStreams;
  readonly exited: Promise<[number | null, NodeJS.Signals | null]>;
  readonly done: Promise<{ code: number | null; signal: NodeJS.Signals | null; stdout: string; stderr: string }>;
};

type Place = {
  /** In the command line of every process that tools start. */
  readonly marker: string;
  start(args: readonly string[]): Started;
  endsInJournal(): Promise<number>;
  close(): Promise<void>;
};

async function openPlace(command: string, replies: Disturbance["replies"], index: number): Promise<Place> {
  const folder = mkdtempSync(join(tmpdir(), "outrider-torture-process-"));
  const marker = `30.${process.pid}${String(index).padStart(5, "0")}`;
  const server = await startModelServer({ replies: replies(marker) });
  const project = join(folder, "project");
  mkdirSync(project);
  const home = join(folder, "home");
  return {
    marker,
    start(args) {
      const child = spawn(launcher, [command, ...args], {
        cwd: project,
        env: {
          PATH: process.env["PATH"] ?? "",
          HOME: folder,
          ANTHROPIC_API_KEY: "torture",
          ANTHROPIC_BASE_URL: server.url,
          OUTRIDER_HOME: home,
          OUTRIDER_RETRY_BASE_MS: "5",
          OUTRIDER_MAX_RETRIES: "1",
        },
      });
      if (!args.includes("--input-format")) child.stdin.end();
      return { child, ...collect(child) };
    },
    async endsInJournal() {
      const sessions = join(home, "sessions");
      const [name] = readdirSync(sessions).filter((file) => file.endsWith(".jsonl"));
      const events = name === undefined ? [] : await createFileStore(sessions).read(name.replace(/\.jsonl$/, ""));
      return events.filter(({ type, taskId }) => type === "turn.ended" && taskId === undefined).length;
    },
    async close() {
      await server.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function collect(child: ChildProcessWithoutNullStreams): Omit<Started, "child"> {
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  const exited = new Promise<[number | null, NodeJS.Signals | null]>((resolve) => {
    child.on("exit", (code, signal) => resolve([code, signal]));
  });
  const closed = new Promise<void>((resolve) => child.on("close", () => resolve()));
  const done = exited.then(async ([code, signal]) => {
    await closed;
    return { code, signal, stdout, stderr };
  });
  return { exited, done };
}

async function leftBehind(marker: string): Promise<number[]> {
  const until = Date.now() + patienceMs;
  let left = processesWith(marker);
  while (left.length > 0 && Date.now() < until) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    left = processesWith(marker);
  }
  return left;
}

function processesWith(marker: string): number[] {
  return readdirSync("/proc").flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      return readFileSync(`/proc/${name}/cmdline`, "utf8").includes(marker) ? [Number(name)] : [];
    } catch {
      return [];
    }
  });
}

function pick<T>(random: Random, list: readonly T[]): T {
  const item = list[random(list.length)];
  if (item === undefined) throw new Error("Nothing to choose from");
  return item;
}
