import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import {
  type ModelServer,
  type RecordedRequest,
  type ServerReply,
  startModelServer,
} from "../../packages/runtime/src/testing/model-server.ts";
import { type Json, type JsonRecord, kindOf } from "../contract/structure.ts";

/** One thing that a host does: says a prompt, sends a frame, or waits for the `n`th frame of a kind. */
type Step = string | { readonly wait: string; readonly n?: number } | { readonly pauseMs: number } | JsonRecord;

/** One run of a command line. `ROOT` stands for the scenario's folder, `SESSION` for the session of the run before, `TASK` for the last task that was told. */
type RunOfScenario = {
  readonly prompt?: string;
  readonly args?: readonly string[];
  readonly stdin?: string;
  readonly live?: readonly Step[];
  readonly format?: "text" | "json" | "stream-json";
};

export type Scenario = RunOfScenario & {
  readonly runs?: readonly RunOfScenario[];
  /** Below the working directory, below the home folder and beside both. */
  readonly files?: Readonly<Record<string, Json>>;
  readonly home?: Readonly<Record<string, Json>>;
  readonly root?: Readonly<Record<string, Json>>;
  readonly env?: Readonly<Record<string, string>>;
  /** What the model answers: to the conversation, and to agents that are told the word at their beginning. */
  readonly replies?: readonly ServerReply[];
  readonly agents?: Readonly<Record<string, readonly ServerReply[]>>;
  /** What a request that offers no tools is answered: that of a hook which asks a model. */
  readonly aside?: string;
  /** What the host answers to requests, by their subtype. `$input` and `$suggestions` stand for what was asked. */
  readonly answers?: Readonly<Record<string, JsonRecord>>;
  readonly signal?: { readonly at: string; readonly name: NodeJS.Signals; readonly after: number };
  /** Words that must come to the model in both, or in none. */
  readonly seek?: readonly string[];
  /** Files that must be the same afterwards. */
  readonly look?: readonly string[];
  /** It begins in a git repository. */
  readonly git?: boolean;
  /** Headers that requests must have alike; of `name?word` only whether the word is in it. */
  readonly headers?: readonly string[];
  /** Fields of request bodies that must be alike. */
  readonly body?: readonly string[];
};

type Ran = {
  readonly code: number | string | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly frames: JsonRecord[];
};
export type Played = {
  readonly runs: readonly Ran[];
  readonly requests: readonly JsonRecord[];
  /** Of each request, the headers that the scenario names. */
  readonly headers: readonly Readonly<Record<string, Json>>[];
  /** What hooks were told that log their input. */
  readonly hooks: readonly JsonRecord[];
  readonly files: Readonly<Record<string, string | undefined>>;
};

export type Product = {
  readonly name: "claude" | "outrider";
  readonly command: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
};

const limitMs = 60_000;

/** Plays a scenario with one of the two, in folders of its own, against a model that follows the script. */
export async function play(given: Scenario, product: Product, mcpServer: string): Promise<Played> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "outrider-differential-")));
  const scenario: Scenario = JSON.parse(JSON.stringify(given).replaceAll("ROOT", root));
  const cwd = join(root, "cwd");
  for (const folder of ["cwd", "home", "tmp"]) mkdirSync(join(root, folder));
  const hookLog = `#!/bin/bash\nin=$(cat); printf '%s\\n' "$in" >> ROOT/hooks.log\n`;
  lay(root, { "log.sh": hookLog, "mcp.mjs": readFileSync(mcpServer, "utf8"), ...scenario.root }, root);
  lay(cwd, scenario.files ?? {}, root);
  lay(join(root, "home"), scenario.home ?? {}, root);
  if (scenario.git) await makeRepository(cwd);
  const server = await startModelServer({ replies: script(scenario) });
  try {
    const runs: Ran[] = [];
    for (const run of scenario.runs ?? [scenario]) {
      const session = runs.flatMap(({ frames }) => frames).find((frame) => frame["session_id"])?.["session_id"];
      runs.push(await runOnce({ ...scenario, ...run }, product, { root, cwd, server, session: String(session ?? "") }));
    }
    const log = join(root, "hooks.log");
    const hooks = existsSync(log) ? readFileSync(log, "utf8").split("\n").filter(Boolean) : [];
    const look = (name: string): string | undefined =>
      existsSync(join(root, name)) ? readFileSync(join(root, name), "utf8").replaceAll(root, "ROOT") : undefined;
    const requests = server.requests.filter(isConversation);
    return {
      runs,
      requests: requests.map(({ body }) => body as JsonRecord),
      headers: requests.map(({ headers }) => headersIn(headers, scenario.headers ?? [])),
      hooks: hooks.map((line): JsonRecord => JSON.parse(line)),
      files: Object.fromEntries((scenario.look ?? []).map((name) => [name, look(name)])),
    };
  } finally {
    await server.close();
    rmSync(root, { recursive: true, force: true });
  }
}

function lay(folder: string, files: Readonly<Record<string, Json>>, root: string): void {
  for (const [name, content] of Object.entries(files)) {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    const text = typeof content === "string" ? content : JSON.stringify(content);
    writeFileSync(path, text.startsWith("base64:") ? Buffer.from(text.slice(7), "base64") : text.replaceAll("ROOT", root));
    if (name.endsWith(".sh")) chmodSync(path, 0o755);
  }
}

async function makeRepository(cwd: string): Promise<void> {
  const commands = "git init -q -b main && git add -A && git -c user.name=t -c user.email=t@t commit -q --allow-empty -m first";
  const child = spawn("bash", ["-c", commands], { cwd, stdio: "ignore" });
  await new Promise((resolve) => child.on("exit", resolve));
}

/** The tools that the conversation itself has, under whatever system prompt. */
function isConversation({ url, body }: RecordedRequest): boolean {
  const tools = (body as { tools?: { name: string }[] } | undefined)?.tools ?? [];
  return url.startsWith("/v1/messages") && tools.some(({ name }) => ["Bash", "Read", "Agent"].includes(name));
}

function headersIn(headers: RecordedRequest["headers"], wanted: readonly string[]): Record<string, Json> {
  return Object.fromEntries(
    wanted.map((name) => {
      const [header = "", word] = name.split("?");
      const value = headers[header];
      return [name, word === undefined ? String(value ?? "") : String(value ?? "").includes(word)];
    }),
  );
}

/** Each lane has its own place in its list; the last answer is given again. */
function script({ replies = [{ text: "done" }], agents = {}, aside }: Scenario): (request: RecordedRequest) => ServerReply {
  const places = new Map<string, number>();
  return (request) => {
    if (request.url.includes("count_tokens")) return { body: { input_tokens: 10 } };
    if (!request.url.startsWith("/v1/messages")) return { status: 404, body: {} };
    const { system = "", messages } = request.body as { system?: Json; messages: Json[] };
    const told = JSON.stringify([system, messages[0] ?? ""]);
    const word = Object.keys(agents).find((name) => told.includes(name)) ?? "";
    if (word === "" && !isConversation(request)) return { text: aside ?? "aside" };
    const list = agents[word] ?? replies;
    const place = places.get(word) ?? 0;
    places.set(word, place + 1);
    const { calls, ...reply } = list[Math.min(place, list.length - 1)] ?? { text: "done" };
    return {
      ...reply,
      ...(calls && { calls: calls.map((call, index) => ({ callId: `toolu_${word}${place}_${index}`, ...call })) }),
    };
  };
}

type Place = { readonly root: string; readonly cwd: string; readonly server: ModelServer; readonly session: string };

async function runOnce(scenario: Scenario, { name, command, env }: Product, { root, cwd, server, session }: Place): Promise<Ran> {
  const fill = (text: string): string => text.replaceAll("SESSION", session);
  const { prompt, format = "stream-json", live, args = [] } = scenario;
  const [file = "", ...own] = command;
  const words = [
    ...["-p", "--output-format", format, ...(format === "text" ? [] : ["--verbose"]), "--setting-sources", "user,project,local"],
    ...(live ? ["--input-format", "stream-json"] : []),
    ...args.map(fill),
    ...(prompt === undefined || live ? [] : ["--", prompt]),
  ];
  const variables = {
    ...{ HOME: join(root, "home"), TMPDIR: join(root, "tmp"), PATH: process.env["PATH"], LANG: "C.UTF-8" },
    ...{ ANTHROPIC_BASE_URL: server.url, ANTHROPIC_API_KEY: "k", IS_SANDBOX: "1" },
    ...{ CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1", DISABLE_AUTOUPDATER: "1" },
    ...env,
    ...Object.fromEntries(Object.entries(scenario.env ?? {}).map(([key, value]) => [key, fill(value)])),
  };
  const child = spawn(file, [...own, ...words], { cwd, env: variables, detached: true });
  const run = { stdout: "", stderr: "", frames: new Frames(format) };
  child.stdin.on("error", () => undefined); // a command that has ended reads no more
  child.stderr.setEncoding("utf8").on("data", (text: string) => (run.stderr += text));
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    run.stdout += text;
    for (const frame of run.frames.take(text)) answer(child, frame, scenario.answers ?? {});
  });
  const ended = new Promise<number | string | null>((resolve) => child.on("exit", (code, signal) => resolve(code ?? signal)));
  const end = (): void => {
    try {
      if (child.pid) process.kill(-child.pid, "SIGKILL");
    } catch {
      // everything has ended
    }
  };
  const timer = setTimeout(end, limitMs);
  void speak(child, scenario, { frames: run.frames, ended });
  if (scenario.signal) void strike(child, scenario.signal, run.frames);
  const code = await ended;
  await sleep(50); // the last of its output
  clearTimeout(timer);
  end();
  return withoutNames({ ...run, frames: run.frames.all(run.stdout), code, product: name }, root);
}

/** The frames of one output, and those who wait for some. */
class Frames {
  readonly #format: string;
  readonly #seen: JsonRecord[] = [];
  #rest = "";
  #waiting: { readonly isThere: () => boolean; readonly resolve: () => void }[] = [];

  constructor(format: string) {
    this.#format = format;
  }

  /** The task of the frame that last named one. */
  get lastTask(): string {
    return String(this.#seen.findLast((frame) => frame["task_id"])?.["task_id"] ?? "none");
  }

  take(text: string): JsonRecord[] {
    if (this.#format !== "stream-json") return [];
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop() ?? "";
    const fresh = lines.filter((line) => line.startsWith("{")).map((line): JsonRecord => JSON.parse(line));
    this.#seen.push(...fresh);
    for (const { isThere, resolve } of this.#waiting) if (isThere()) resolve();
    this.#waiting = this.#waiting.filter(({ isThere }) => !isThere());
    return fresh;
  }

  until(kind: string, count: number): Promise<void> {
    const isThere = (): boolean => this.#seen.filter((frame) => kindOf(frame).startsWith(kind)).length >= count;
    return isThere() ? Promise.resolve() : new Promise((resolve) => this.#waiting.push({ isThere, resolve }));
  }

  all(stdout: string): JsonRecord[] {
    if (this.#format !== "json") return this.#seen;
    return /^[[{]/.test(stdout) ? [JSON.parse(stdout)].flat() : []; // some say in words why there is none
  }
}

type Listening = { readonly frames: Frames; readonly ended: Promise<unknown> };

async function speak(
  child: ChildProcessWithoutNullStreams,
  { live, stdin }: Scenario,
  { frames, ended }: Listening,
): Promise<void> {
  if (stdin !== undefined) child.stdin.write(stdin);
  for (const step of live ?? []) {
    if (typeof step === "string")
      say(child, { type: "user", message: { role: "user", content: step }, parent_tool_use_id: null, session_id: "" });
    else if ("wait" in step) await Promise.race([frames.until(String(step.wait), Number(step["n"] ?? 1)), ended]);
    else if ("pauseMs" in step) await sleep(Number(step.pauseMs));
    else say(child, JSON.parse(JSON.stringify(step).replaceAll("TASK", frames.lastTask)));
  }
  child.stdin.end();
}

function say(child: ChildProcessWithoutNullStreams, frame: JsonRecord): void {
  if (child.stdin.writable) child.stdin.write(`${JSON.stringify(frame)}\n`);
}

function answer(child: ChildProcessWithoutNullStreams, frame: JsonRecord, answers: NonNullable<Scenario["answers"]>): void {
  if (frame["type"] !== "control_request") return;
  const request = frame["request"] as JsonRecord;
  const given = answers[String(request["subtype"])];
  if (!given) return;
  const asked: JsonRecord = { $input: request["input"] ?? {}, $suggestions: request["permission_suggestions"] ?? [] };
  const response = Object.fromEntries(
    Object.entries(given).map(([name, value]) => [name, typeof value === "string" ? (asked[value] ?? value) : value]),
  );
  say(child, { type: "control_response", response: { subtype: "success", request_id: frame["request_id"] ?? "", response } });
}

async function strike(
  child: ChildProcessWithoutNullStreams,
  { at, name, after }: NonNullable<Scenario["signal"]>,
  frames: Frames,
): Promise<void> {
  await frames.until(at, 1);
  await sleep(after);
  child.kill(name);
}

/** The scenario's folder has another name each time. */
function withoutNames({ code, stdout, stderr, frames }: Ran & { readonly product: string }, root: string): Ran {
  const plain = (text: string): string => text.replaceAll(root, "ROOT").replaceAll(root.replaceAll("/", "-"), "ROOT");
  return { code, stdout: plain(stdout), stderr: plain(stderr), frames: JSON.parse(plain(JSON.stringify(frames))) };
}
