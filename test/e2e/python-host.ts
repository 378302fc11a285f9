import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { projectRoot, type Run, start } from "./command.ts";

export type Frame = Record<string, unknown> & { type: string };
type Value = string | readonly string[] | true;

/** What the published source of the Python SDK says: which words it puts on the command line, in which order, and what it needs of each frame. */
type Facts = {
  readonly argv: readonly { readonly option?: string; readonly without?: readonly string[]; readonly words: readonly string[] }[];
  readonly needed: Readonly<Record<string, readonly string[]>>;
  readonly blocks: Readonly<Record<string, readonly string[]>>;
  readonly control: Readonly<Record<string, Record<string, unknown>>>;
};
export const facts: Facts = JSON.parse(readFileSync(join(projectRoot, "test/fixtures/python-sdk.json"), "utf8"));

/** The words of a command line with these options. An option with several values is written once for each, where it takes no list. */
export function toWords(options: Readonly<Record<string, Value>>): string[] {
  const known = new Set(facts.argv.map(({ option }) => option));
  for (const name of Object.keys(options))
    assert.ok(known.has(name) || name === "preset", `The Python SDK has no option ${name}`);
  return facts.argv.flatMap(({ option, without, words }) => {
    if (without) return without.some((name) => name in options) ? [] : words;
    const value = option === undefined ? true : options[option];
    if (value === undefined) return [];
    if (typeof value === "object" && option === "extra_args") return value;
    const values = typeof value === "object" ? value : [value];
    return values.flatMap((one) => words.map((word) => (one === true ? word : word.replace("$", () => one))));
  });
}

export type Program = {
  readonly options?: Readonly<Record<string, Value>>;
  /** Fields of `initialize`, beside `hooks`. */
  readonly initialize?: Record<string, unknown>;
  readonly hooks?: Record<string, unknown>;
  /** A string is one prompt of `query()`; a list are the messages of a client, each after the result of the one before. */
  readonly prompt: string | readonly string[];
  /** What callbacks answer: by subtype; a function gets the request. An error is what a callback has raised. */
  readonly answers?: Readonly<Record<string, (request: Record<string, unknown>) => unknown>>;
  /** What a client asks for: in order, when the first result is there. */
  readonly requests?: readonly Record<string, unknown>[];
  readonly env: Record<string, string>;
  readonly cwd?: string;
};

export type Ran = Run & { readonly frames: Frame[]; readonly responses: Record<string, unknown>[] };

/** The part of the Python SDK that talks to the command: it initializes and waits for the answer, prompts, answers, and ends. */
export async function runPython(program: Program): Promise<Ran> {
  const env = { CLAUDE_CODE_ENTRYPOINT: "sdk-py", ...program.env, CLAUDE_AGENT_SDK_VERSION: "0.2.132" };
  const { child, done } = start(toWords(program.options ?? {}), {
    env,
    stdin: "open",
    ...(program.cwd !== undefined && { cwd: program.cwd }),
  });
  const host = new PythonHost(
    program,
    (frame) => void child.stdin.write(`${JSON.stringify(frame)}\n`),
    () => child.stdin.end(),
  );
  child.stdin.on("error", () => undefined); // a command that has ended reads no more
  let rest = "";
  child.stdout.on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) host.read(line);
  });
  host.begin();
  const run = await done;
  if (host.problem) throw new Error(`The Python SDK raises: ${host.problem}\n${run.stderr}`);
  return { ...run, frames: host.frames, responses: host.responses };
}

const maxLine = 1024 * 1024;

class PythonHost {
  readonly frames: Frame[] = [];
  readonly responses: Record<string, unknown>[] = [];
  problem: string | undefined;
  readonly #program: Program;
  readonly #send: (frame: object) => void;
  readonly #end: () => void;
  readonly #prompts: string[];
  readonly #requests: Record<string, unknown>[];
  #counter = 0;
  #state: unknown;
  #results = 0;
  #lastError: Frame | undefined;

  constructor(program: Program, send: (frame: object) => void, end: () => void) {
    this.#program = program;
    this.#send = send;
    this.#end = end;
    this.#prompts = typeof program.prompt === "string" ? [] : [...program.prompt];
    this.#requests = [...(program.requests ?? [])];
  }

  begin(): void {
    this.#ask({ subtype: "initialize", hooks: this.#program.hooks ?? null, ...this.#program.initialize });
  }

  read(line: string): void {
    if (line.trim() === "" || !line.trim().startsWith("{")) return; // passed over, as some programs print beside it
    try {
      assert.ok(line.length < maxLine, "JSON message exceeded maximum buffer size");
      const frame = JSON.parse(line) as Frame;
      if (frame.type === "control_request") this.#answer(frame);
      else if (frame.type === "control_response") this.#take(frame);
      else this.#hear(frame);
    } catch (error) {
      this.problem ??= `${error instanceof Error ? error.message : error}: ${line.slice(0, 300)}`;
      this.#end();
    }
  }

  #hear(frame: Frame): void {
    const isState = frame.type === "system" && frame["subtype"] === "session_state_changed";
    parse(frame);
    this.frames.push(frame);
    if (isState) this.#state = frame["state"];
    if (frame.type === "result") {
      this.#results++;
      this.#lastError = frame["is_error"] === true ? frame : undefined;
      this.#next();
    } else if (!isState) this.#lastError = undefined;
    if (this.#isOver()) this.#end();
  }

  /** The error result that the exception of a failed run is made of: nothing may come behind it. */
  get errorResult(): Frame | undefined {
    return this.#lastError;
  }

  #isOver(): boolean {
    const owed = typeof this.#program.prompt === "string" ? 1 : this.#program.prompt.length;
    return this.#results >= owed && this.#requests.length === 0 && (this.#state === undefined || this.#state === "idle");
  }

  #take(frame: Frame): void {
    const response = frame["response"] as Record<string, unknown>;
    this.responses.push(response);
    if (this.responses.length === 1) this.#initialized(response);
    else if (this.#results > 0) this.#next();
  }

  #initialized(response: Record<string, unknown>): void {
    assert.equal(response["subtype"], "success", String(response["error"]));
    const { prompt, answers, hooks } = this.#program;
    if (typeof prompt !== "string") return this.#next();
    this.#say(prompt, "");
    if (!answers && !hooks) this.#end(); // nobody will be asked: its end of stdin is closed behind the prompt
  }

  /** A client asks for all it wants after the first result, and then says what comes next. */
  #next(): void {
    const request = this.#results > 0 ? this.#requests.shift() : undefined;
    if (request) return this.#ask(request);
    const text = this.#prompts.shift();
    if (text !== undefined) return this.#say(text, "default");
    if (this.#isOver()) this.#end();
  }

  #say(text: string, session: string): void {
    this.#send({ type: "user", message: { role: "user", content: text }, parent_tool_use_id: null, session_id: session });
  }

  #ask(request: Record<string, unknown>): void {
    this.#counter++;
    this.#send({ type: "control_request", request_id: `req_${this.#counter}_0a1b2c3d`, request });
  }

  #answer({ request_id: id, request }: Frame): void {
    const asked = request as Record<string, unknown>;
    const answer = this.#program.answers?.[String(asked["subtype"])];
    const respond = (response: object): void =>
      this.#send({ type: "control_response", response: { ...response, request_id: id } });
    try {
      if (!answer) throw new Error(`Unsupported control request subtype: ${asked["subtype"]}`);
      respond({ subtype: "success", response: answer(asked) });
    } catch (error) {
      respond({ subtype: "error", error: error instanceof Error ? error.message : String(error) });
    }
  }
}

/** Reads a frame as strictly as the SDK does: a field that is missing ends the program. */
function parse(frame: Frame): void {
  const kind = `${frame.type}/${frame["subtype"]}`;
  for (const path of [...(facts.needed[frame.type] ?? []), ...(facts.needed[kind] ?? [])]) need(frame, path, kind);
  const content = (frame["message"] as { content?: unknown } | undefined)?.content;
  if (frame.type === "assistant") assert.ok(Array.isArray(content), "Invalid assistant content");
  if (!Array.isArray(content)) return;
  for (const block of content as Frame[]) {
    assert.ok(typeof block === "object" && block !== null, "Invalid content block");
    for (const path of facts.blocks[block.type] ?? []) need(block, path, `a block of ${kind}`);
  }
}

function need(value: Record<string, unknown>, path: string, where: string): void {
  let at: unknown = value;
  for (const name of path.split(".")) {
    assert.ok(typeof at === "object" && at !== null && name in at, `Missing required field in ${where}: ${path}`);
    at = (at as Record<string, unknown>)[name];
  }
}

/** What the program catches when a run has failed: the words of the error result, as nothing came behind it. */
export function raised({ frames, code }: Ran): string | undefined {
  if (code === 0) return undefined;
  const last = frames.findLast((frame) => frame["subtype"] !== "session_state_changed");
  if (last?.type !== "result" || last["is_error"] !== true) return `Command failed with exit code ${code}`;
  const errors = last["errors"];
  const said = typeof last["result"] === "string" && last["result"] !== "" ? last["result"] : undefined;
  return `Claude Code returned an error result: ${said ?? (Array.isArray(errors) ? errors.join("; ") : last["subtype"])}`;
}

/** What a server in the Python process answers: its bridge knows few methods, and no ids of notifications. */
export function mcpAnswer(request: Record<string, unknown>): unknown {
  const { id, method } = request["message"] as { id?: number; method: string };
  const inputSchema = { type: "object", properties: { a: { type: "number" }, b: { type: "number" } }, required: ["a", "b"] };
  const answers: Record<string, unknown> = {
    initialize: {
      protocolVersion: "2024-11-05",
      capabilities: { tools: {} },
      serverInfo: { name: "calc", version: "1.0.0" },
    },
    "tools/list": { tools: [{ name: "add", description: "Adds", inputSchema }] },
    "tools/call": { content: [{ type: "text", text: "The sum is 3" }] },
  };
  if (method === "notifications/initialized") return { mcp_response: { jsonrpc: "2.0", result: {} } };
  const error = { code: -32601, message: `Method '${method}' not found` };
  const answer = answers[method];
  return { mcp_response: { jsonrpc: "2.0", id: id ?? null, ...(answer === undefined ? { error } : { result: answer }) } };
}
