import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { randomUuid } from "../../util/unique-ids.ts";
import { type Guarded, guardProcesses, ownMark } from "../../workspace/process-guard.ts";
import { endProcesses, killAtExit } from "../../workspace/process-sweep.ts";
import { type BoundedLine, boundedLines } from "./bounded-lines.ts";
import { OpenRequests } from "./open-requests.ts";
import { toShortMessage } from "./oversized-message.ts";
import type { McpMessage, McpTransport } from "./transport.ts";

export type StdioOptions = {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** The whole environment. */
  readonly env: Readonly<Record<string, string>>;
};

/** What of a child keeps a process alive: itself, and its pipes, which are sockets. */
type Handle = { ref?(): void; unref?(): void };

const graceMs = 500;
const settleMs = 200;
const newsMs = 20;
const maxLastWords = 300;
const keptStderr = 2_000;
/** A banner has fewer lines. A program that prints on and on is no server, and reading it would take all our time. */
const maxStrangeLines = 1_000;

/** A server as a child process, one JSON message per line. Unlike the package's own, closing it also ends what the server has started. */
export class StdioTransport implements McpTransport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: McpMessage) => void;
  readonly #options: StdioOptions;
  readonly #mark: string = `${ownMark()}.mcp-${randomUuid()};`;
  #guarded: Guarded | undefined;
  #child: ChildProcessWithoutNullStreams | undefined;
  #exited: Promise<void> = Promise.resolve();
  /** The requests that wait for an answer. */
  readonly #asked = new OpenRequests();
  /** That a list has changed, as it was told last. */
  #lastNews: { readonly text: string; readonly message?: McpMessage } = { text: "" };
  #held: NodeJS.Timeout | undefined;
  #stderr = "";
  #problem: string | undefined;
  #ending = false;
  #closing: Promise<void> | undefined;
  #forget: () => void = () => {};

  constructor(options: StdioOptions) {
    this.#options = options;
  }

  /** How the program went wrong, as far as it shows, with its last words, for the error message. */
  get trouble(): string | undefined {
    const lines = this.#stderr
      .trim()
      .split("\n")
      .filter((line) => !/^\s*(?:Node\.js v\d|at |\^|$)/.test(line));
    // A program that fell over says why before it shows where.
    const said = (lines.findLast((line) => /^\w*(?:Error|Exception)\b/.test(line)) ?? lines.at(-1))?.slice(0, maxLastWords);
    if (!said) return this.#problem;
    return this.#problem === undefined ? `it said: ${said}` : `${this.#problem}, and said: ${said}`;
  }

  async start(): Promise<void> {
    const { command, args, cwd, env } = this.#options;
    this.#guarded = await guardProcesses();
    const child = process.getBuiltinModule("node:child_process").spawn(command, args, {
      cwd,
      env: { ...env, OUTRIDER_PROCESS_SCOPE: `${env["OUTRIDER_PROCESS_SCOPE"] ?? ""}${this.#mark}` },
      stdio: ["pipe", "pipe", "pipe"],
      detached: true, // a group of its own, so that all of it can be ended
    });
    const spawned = new Promise<void>((resolve, reject) => {
      child.once("spawn", resolve);
      child.once("error", reject);
    });
    if (child.pid === undefined) return await spawned; // which rejects; without a descriptor left it has no pipes
    this.#child = child;
    const group = child.pid;
    this.#forget = killAtExit(() => ({ mark: this.#mark, group }));
    this.#exited = new Promise((resolve) => {
      child.once("exit", (code, signal) => {
        const byItself = !this.#closing || (code !== null && code !== 0); // some end well when their input does
        if (byItself) this.#problem ??= signal ? `it was ended by ${signal}` : `it ended with exit code ${code}`;
        resolve();
      });
    });
    child.stdin.on("error", (error) => {
      this.#ending = true; // it reads no more
      this.onerror?.(error);
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-keptStderr);
    });
    await spawned;
    void this.#read(child.stdout);
    this.#holdProcess(child);
  }

  /** A server that nobody waits for keeps no program alive; one that is asked does, until it has answered. */
  #holdProcess(child: ChildProcessWithoutNullStreams | undefined, isWaitedFor = this.#asked.size > 0): void {
    const { stdin, stdout, stderr } = child ?? {};
    for (const handle of [child, stdin, stdout, stderr] as readonly (Handle | undefined)[])
      if (isWaitedFor) handle?.ref?.();
      else handle?.unref?.();
  }

  async send(message: McpMessage): Promise<void> {
    const stdin = this.#child?.stdin;
    if (!stdin?.writable) throw new Error("The server has ended");
    this.#asked.send(message);
    this.#holdProcess(this.#child);
    await new Promise<void>((resolve, reject) =>
      stdin.write(`${JSON.stringify(message)}\n`, (error) => (error ? reject(error) : resolve())),
    );
  }

  /** A program that is about to end has a moment to do so: then its exit code and last words are known. */
  async settled(): Promise<void> {
    if (this.#problem === undefined && this.#ending) await this.#exitedWithin(settleMs);
  }

  async close(): Promise<void> {
    this.#closing ??= this.#close();
    await this.#closing;
  }

  async #close(): Promise<void> {
    clearTimeout(this.#held);
    const child = this.#child;
    this.#child = undefined;
    if (!child?.pid) return this.#guarded?.release();
    this.#holdProcess(child, true);
    child.stdin.end();
    await this.#exitedWithin(graceMs);
    await endProcesses({ mark: this.#mark, group: child.pid, limit: this.#guarded?.limitIfLast() });
    this.#forget();
    this.#guarded?.release();
    child.stdout.destroy();
    child.stderr.destroy();
  }

  async #exitedWithin(ms: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, ms);
    });
    await Promise.race([this.#exited, late]);
    clearTimeout(timer);
  }

  async #read(stdout: AsyncIterable<Uint8Array>): Promise<void> {
    try {
      let strange = 0;
      for await (const line of boundedLines(stdout)) {
        const text = line.type === "line" ? line.text.trim() : line.start;
        if (text !== "" && text === this.#lastNews.text) {
          this.#holdNews();
          continue;
        }
        const message = this.#toMessage(line);
        if (message?.method?.endsWith("/list_changed")) this.#lastNews = { text, message };
        if (message) {
          strange = 0;
          this.#holdProcess(this.#child);
          this.onmessage?.(message);
        }
        if (message || text === "") continue;
        if (strange === 0) this.onerror?.(new Error("The server wrote a line that is no message")); // many print a banner first
        if (++strange <= maxStrangeLines) continue;
        this.#problem = `it prints what is no message: ${text.slice(0, maxLastWords)}`;
        break;
      }
    } catch (error) {
      this.onerror?.(error instanceof Error ? error : new Error(String(error)));
    }
    this.#ending = true;
    this.onclose?.();
  }

  /** The same news again: all of it that comes within a moment is told once, at its end. */
  #holdNews(): void {
    this.#held ??= setTimeout(() => {
      this.#held = undefined;
      if (this.#lastNews.message) this.onmessage?.(this.#lastNews.message);
    }, newsMs).unref();
  }

  #toMessage(line: BoundedLine): McpMessage | undefined {
    const message = line.type === "line" ? parseMessage(line.text.trim()) : toShortMessage(line, this.#asked);
    return message && this.#asked.receive(message);
  }
}

/** Cheap for what cannot be one: a failed parse takes many times as long as a good one. */
function parseMessage(line: string): McpMessage | undefined {
  if (!line.startsWith("{")) return undefined;
  try {
    return JSON.parse(line) as McpMessage; // what it holds is checked by the client
  } catch {
    return undefined;
  }
}
