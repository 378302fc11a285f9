import { mkdirSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { after } from "node:test";
import {
  type Options,
  type Query,
  query,
  type SDKMessage,
  type SDKResultMessage,
  type SDKUserMessage,
} from "@anthropic-ai/claude-agent-sdk";
import { type ModelServer, type ModelServerOptions, startModelServer } from "../../packages/runtime/src/testing/model-server.ts";

export const projectRoot: string = process.env["OUTRIDER_ROOT"] ?? process.cwd();
export const command: string = process.env["OUTRIDER_TEST_COMMAND"] ?? join(projectRoot, "packages/cli/bin/outrider.js");

/** One test's world: a scripted model, a project folder, a home of its own, and the options that point the SDK at the built command. */
export type Stage = {
  readonly server: ModelServer;
  readonly cwd: string;
  readonly home: string;
  readonly env: Record<string, string>;
  readonly stderr: string[];
  options(more?: Options): Options;
  /** A query to its end. */
  ask(prompt: string | AsyncIterable<SDKUserMessage>, more?: Options): Promise<Answered>;
  /** A query that the test drives by itself; closed when the test file ends at the latest. */
  open(prompt: string | AsyncIterable<SDKUserMessage>, more?: Options): Query;
};

export type Answered = {
  readonly messages: SDKMessage[];
  readonly results: SDKResultMessage[];
  /** What the iterator threw in the end, as it does after an error result. */
  readonly thrown: Error | undefined;
};

export async function stage(replies: ModelServerOptions["replies"]): Promise<Stage> {
  const server = await startModelServer({ replies });
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "outrider-sdk-")));
  const [cwd, home] = [join(folder, "project"), join(folder, "home")];
  for (const path of [cwd, home]) mkdirSync(path);
  const open = new Set<Query>();
  after(async () => {
    for (const one of open) one.close();
    await server.close();
    await eventually(() => processesOf({ cwd }, "outrider").length === 0, "the commands of the test have ended");
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  });
  const stderr: string[] = [];
  const env = {
    PATH: `${dirname(process.execPath)}${delimiter}${process.env["PATH"] ?? ""}`,
    HOME: home,
    TMPDIR: process.env["TMPDIR"] ?? tmpdir(),
    OUTRIDER_HOME: join(home, ".outrider"),
    CLAUDE_CONFIG_DIR: join(home, ".claude"),
    OUTRIDER_RETRY_BASE_MS: "5",
    ANTHROPIC_API_KEY: "test-key",
    ANTHROPIC_BASE_URL: server.url,
  };
  const options = (more: Options = {}): Options => ({
    pathToClaudeCodeExecutable: command,
    executable: "node",
    cwd,
    stderr: (text) => stderr.push(text),
    ...more,
    env: { ...env, ...more.env },
  });
  const openQuery: Stage["open"] = (prompt, more) => {
    const started = query({ prompt, options: options(more) });
    open.add(started);
    return started;
  };
  const ask: Stage["ask"] = async (prompt, more) => await collect(openQuery(prompt, more));
  return { server, cwd, home, env, stderr, options, ask, open: openQuery };
}

/** Everything a query says, to its end. */
export async function collect(messages: AsyncIterable<SDKMessage>): Promise<Answered> {
  const all: SDKMessage[] = [];
  let thrown: Error | undefined;
  try {
    for await (const message of messages) all.push(message);
  } catch (error) {
    thrown = error instanceof Error ? error : new Error(String(error));
  }
  return { messages: all, results: all.filter((message) => message.type === "result"), thrown };
}

/** The only result there is. */
export function only({ results, thrown, messages }: Answered): SDKResultMessage {
  const [result, ...more] = results;
  if (result && more.length === 0) return result;
  throw new Error(`${results.length} results instead of one; ${thrown?.message ?? ""} ${JSON.stringify(messages.map(kindOf))}`);
}

/** The text of a successful result. */
export function textOf(result: SDKResultMessage | undefined): string {
  if (result?.subtype === "success") return result.result;
  throw new Error(`No success but ${JSON.stringify(result)}`);
}

export function kindOf(message: SDKMessage): string {
  return "subtype" in message ? `${message.type}/${message.subtype}` : message.type;
}

export function initOf(messages: readonly SDKMessage[]): Extract<SDKMessage, { type: "system"; subtype: "init" }> {
  const init = messages.findLast((message) => message.type === "system" && message.subtype === "init");
  if (init?.type === "system" && init.subtype === "init") return init;
  throw new Error("There is no init message");
}

/** What a person should know, as the session told it. */
export function warningsIn(messages: readonly SDKMessage[]): string[] {
  return messages.flatMap((message) => {
    const { type, subtype, message: words } = message as { type: string; subtype?: string; message?: unknown }; // a frame of ours
    return type === "system" && subtype === "warning" ? [String(words)] : [];
  });
}

/** What the tools answered, by the id of the call. */
export function toolResults(
  messages: readonly SDKMessage[],
): { id: string; text: string; isError: boolean; parent: string | null }[] {
  return messages.flatMap((message) => {
    if (message.type !== "user" || typeof message.message.content === "string") return [];
    return message.message.content.flatMap((block) => {
      if (block.type !== "tool_result") return [];
      const text = typeof block.content === "string" ? block.content : JSON.stringify(block.content);
      return [{ id: block.tool_use_id, text, isError: block.is_error === true, parent: message.parent_tool_use_id }];
    });
  });
}

export function userMessage(text: string, more: Partial<SDKUserMessage> = {}): SDKUserMessage {
  return { type: "user", message: { role: "user", content: text }, parent_tool_use_id: null, ...more };
}

/** A streaming prompt that a test feeds step by step. */
export class Feed implements AsyncIterable<SDKUserMessage> {
  readonly #waiting: SDKUserMessage[] = [];
  #wake: () => void = () => {};
  #ended = false;

  say(message: string | SDKUserMessage): void {
    this.#waiting.push(typeof message === "string" ? userMessage(message) : message);
    this.#wake();
  }

  end(): void {
    this.#ended = true;
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<SDKUserMessage> {
    while (true) {
      const next = this.#waiting.shift();
      if (next) yield next;
      else if (this.#ended) return;
      else
        await new Promise<void>((wake) => {
          this.#wake = wake;
        });
    }
  }
}

/** Reads on until a message fits. */
export async function readUntil(
  messages: AsyncIterator<SDKMessage>,
  fits: (message: SDKMessage) => boolean,
): Promise<SDKMessage[]> {
  const seen: SDKMessage[] = [];
  for (let step = await messages.next(); !step.done; step = await messages.next()) {
    seen.push(step.value);
    if (fits(step.value)) return seen;
  }
  throw new Error(`The stream ended before that: ${JSON.stringify(seen.map(kindOf))}`);
}

export async function nextResult(messages: AsyncIterator<SDKMessage>): Promise<SDKResultMessage> {
  const last = (await readUntil(messages, (message) => message.type === "result")).at(-1);
  if (last?.type === "result") return last;
  throw new Error("unreachable");
}

/** Resolves when `check` is true; gives up after ten seconds. */
export async function eventually(check: () => boolean, what: string): Promise<void> {
  for (let tries = 0; tries < 1000; tries++) {
    if (check()) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error(`Never happened: ${what}`);
}

/** The messages of one request, as the model was sent them. */
export function sent(
  server: ModelServer,
  index: number,
): { system: string; messages: { role: string; content: unknown }[]; tools: string[]; body: Record<string, unknown> } {
  const body = server.requests[index]?.body as Record<string, unknown> | undefined;
  if (!body) throw new Error(`There is no request ${index}; ${server.requests.length} came`);
  const tools = (body["tools"] ?? []) as { name: string }[];
  return {
    body,
    system: JSON.stringify(body["system"] ?? ""),
    messages: body["messages"] as { role: string; content: unknown }[],
    tools: tools.map(({ name }) => name),
  };
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z ");
  } catch {
    return false;
  }
}

/** Living processes that work in the stage's folder, by a word of their command line. Inside a sandbox they have other ids. */
export function processesOf({ cwd }: Pick<Stage, "cwd">, word: string): number[] {
  return readdirSync("/proc").flatMap((name) => {
    try {
      if (!/^\d+$/.test(name) || readlinkSync(`/proc/${name}/cwd`) !== cwd) return [];
      return readFileSync(`/proc/${name}/cmdline`, "utf8").includes(word) && isAlive(Number(name)) ? [Number(name)] : [];
    } catch {
      return []; // it has ended in the meantime
    }
  });
}
