import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { WebSocket } from "ws";
import { isStandalone, launcher } from "./launcher.ts";
import { OutriderClient } from "../packages/runtime/src/exports/client.ts";
import { createFileStore } from "../packages/runtime/src/journal/file-store.ts";
import { TokenStore } from "../packages/runtime/src/transports/http/token-store.ts";

/** Bytes that are alive once nothing that could be collected is left; `code` is what V8 has compiled, which grows as it finds out what is used much. */
export type Heap = { readonly data: number; readonly code: number };

/** `outrider serve` in a process of its own, seen from outside. */
export type ServedProcess = {
  readonly url: string;
  readonly token: string;
  readonly client: OutriderClient;
  readonly store: ReturnType<typeof createFileStore>;
  /** Resident memory. */
  megabytes(): number;
  /** After a collection that was asked for; undefined where the command is a file of its own, which has no inspector. */
  heap(): Promise<Heap | undefined>;
  descriptors(): number;
  /** What they are of. */
  openFiles(): string[];
  stop(): Promise<void>;
};

export async function startServed(options: {
  readonly command: string;
  readonly folder: string;
  /** Of the model. */
  readonly url: string;
}): Promise<ServedProcess> {
  const { command, folder, url: model } = options;
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
  const inspect = isStandalone ? [] : ["--inspect=127.0.0.1:0"];
  const child = spawn(launcher, [...inspect, command, "serve", "--root", work], {
    ...{ cwd: work, env, stdio: ["ignore", "pipe", "pipe"] },
  });
  const inspector = isStandalone ? undefined : addressOf(child, "stderr", /listening on (ws:\S+)\n/);
  const url = await addressOf(child, "stdout", /listens on (\S+)\n/);
  const inspected = inspector && (await openInspector(await inspector));
  const status = (name: string): string => readFileSync(`/proc/${child.pid}/${name}`, "utf8");
  return {
    ...{ url, token, client: new OutriderClient({ url, token }), store: createFileStore(join(home, "sessions")) },
    megabytes: () => Number(/VmRSS:\s+(\d+)/.exec(status("status"))?.[1]) / 1024,
    heap: async () => await inspected?.heap(),
    descriptors: () => readdirSync(`/proc/${child.pid}/fd`).length,
    openFiles: () => readdirSync(`/proc/${child.pid}/fd`).map((number) => readlinkSync(`/proc/${child.pid}/fd/${number}`)),
    async stop() {
      inspected?.close();
      const gone = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGTERM");
      await gone;
    },
  };
}

function addressOf(child: ChildProcess, name: "stdout" | "stderr", pattern: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    let isFound = false;
    child[name]?.setEncoding("utf8").on("data", (chunk: string) => {
      if (isFound) return void (name === "stderr" && tellUnexpected(chunk));
      text += chunk;
      const found = pattern.exec(text)?.[1];
      if (found === undefined) return;
      isFound = true;
      resolve(found);
    });
    child.once("exit", (code) => reject(new Error(`The server ended with ${code}: ${text}`)));
  });
}

/** What the inspector says of itself is no news. */
function tellUnexpected(chunk: string): void {
  const lines = chunk
    .split("\n")
    .filter((line) => line !== "" && !/^(For help, see|Debugger |Waiting for the debugger)/.test(line));
  if (lines.length > 0) process.stderr.write(`${lines.join("\n")}\n`);
}

const heapFacts = `{
  const { heapUsed, external } = process.memoryUsage();
  const { code_and_metadata_size, bytecode_and_metadata_size } = process.getBuiltinModule("v8").getHeapCodeStatistics();
  JSON.stringify({ used: heapUsed, external, code: code_and_metadata_size, bytecode: bytecode_and_metadata_size });
}`;

type Inspector = { heap(): Promise<Heap>; close(): void };

async function openInspector(url: string): Promise<Inspector> {
  const socket = new WebSocket(url, { perMessageDeflate: false });
  await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
  const waiting = new Map<number, (result: unknown) => void>();
  socket.on("message", (data) => {
    const { id, result } = JSON.parse(String(data)) as { id: number; result: unknown };
    waiting.get(id)?.(result);
    waiting.delete(id);
  });
  let last = 0;
  const ask = (method: string, params: object = {}): Promise<unknown> =>
    new Promise((resolve) => {
      waiting.set(++last, resolve);
      socket.send(JSON.stringify({ id: last, method, params }));
    });
  return {
    async heap() {
      // What a finalizer lets go of is collected with the next one.
      for (let round = 0; round < 3; round++) await ask("HeapProfiler.collectGarbage");
      const { result } = (await ask("Runtime.evaluate", { expression: heapFacts })) as { result: { value: string } };
      const { used, external, code, bytecode } = JSON.parse(result.value) as Record<
        "used" | "external" | "code" | "bytecode",
        number
      >;
      return { data: used + external - code - bytecode, code: code + bytecode };
    },
    close: () => socket.close(),
  };
}
