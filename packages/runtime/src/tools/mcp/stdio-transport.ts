import type { ChildProcessWithoutNullStreams } from "node:child_process";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { readLines } from "../../util/jsonl.ts";
import { randomUuid } from "../../util/unique-ids.ts";
import { endProcesses } from "../../workspace/process-sweep.ts";

export type StdioOptions = {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** The whole environment. */
  readonly env: Readonly<Record<string, string>>;
};

const graceMs = 500;
const keptStderr = 2_000;

/** A server as a child process, one JSON message per line. Unlike the package's own, closing it also ends what the server has started. */
export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: <T extends JSONRPCMessage>(message: T) => void;
  readonly #options: StdioOptions;
  readonly #mark: string = `mcp-${randomUuid()};`;
  #child: ChildProcessWithoutNullStreams | undefined;
  #exited: Promise<void> = Promise.resolve();
  #stderr = "";

  constructor(options: StdioOptions) {
    this.#options = options;
  }

  /** The last words of the server, for whoever has to say why it failed. */
  get stderr(): string {
    return this.#stderr.trim();
  }

  async start(): Promise<void> {
    const { command, args, cwd, env } = this.#options;
    const child = process.getBuiltinModule("node:child_process").spawn(command, args, {
      cwd,
      env: { ...env, OUTRIDER_PROCESS_SCOPE: `${env["OUTRIDER_PROCESS_SCOPE"] ?? ""}${this.#mark}` },
      stdio: ["pipe", "pipe", "pipe"],
      detached: true, // a group of its own, so that all of it can be ended
    });
    this.#child = child;
    this.#exited = new Promise((resolve) => child.once("exit", () => resolve()));
    child.stdin.on("error", (error) => this.onerror?.(error));
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-keptStderr);
    });
    await new Promise<void>((resolve, reject) => {
      child.once("spawn", resolve);
      child.once("error", reject);
    });
    void this.#read(child.stdout);
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#child?.stdin;
    if (!stdin?.writable) throw new Error("The server has ended");
    await new Promise<void>((resolve, reject) =>
      stdin.write(`${JSON.stringify(message)}\n`, (error) => (error ? reject(error) : resolve())),
    );
  }

  async close(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (!child?.pid) return;
    child.stdin.end();
    await Promise.race([this.#exited, new Promise((resolve) => setTimeout(resolve, graceMs).unref())]);
    await endProcesses({ mark: this.#mark, group: child.pid });
    child.stdout.destroy();
    child.stderr.destroy();
  }

  async #read(stdout: AsyncIterable<Uint8Array>): Promise<void> {
    try {
      for await (const line of readLines(stdout)) {
        try {
          // What the message holds is checked by the client.
          this.onmessage?.(JSON.parse(line) as JSONRPCMessage);
        } catch {
          this.onerror?.(new Error("The server wrote a line that is no JSON")); // many print a banner first
        }
      }
    } catch (error) {
      this.onerror?.(error instanceof Error ? error : new Error(String(error)));
    }
    this.onclose?.();
  }
}
