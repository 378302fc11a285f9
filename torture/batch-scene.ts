import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startModelServer } from "../packages/runtime/src/testing/model-server.ts";
import { judgeCall } from "./judge-call.ts";
import type { Tally } from "./report.ts";

export type BatchScene = {
  readonly folder: string;
  readonly env: Record<string, string>;
  /** When the model was asked. */
  readonly asked: readonly number[];
  /** How often it was asked what it had been asked before: the answer came to nobody. */
  repeated(): number;
  /** The file of so many tasks. */
  tasks(count: number, more?: object): string;
  /** From which addresses the outside was called, by task. */
  readonly callers: ReadonlyMap<string, ReadonlySet<string>>;
  /** How many tasks have a result. */
  done(out: string): number;
  /** Every task has one result, and journal, model and outside agree on each call; the outside has counted. */
  judge(out: string, tasks: number, tally: Tally): void;
  close(): Promise<void>;
};

/** What each answer costs with `claude-haiku-4-5`: 5 dollars per million tokens that it writes. */
export const answerUsd = 0.005;

export type BatchSceneOptions = {
  readonly steps: number;
  readonly delayMs: number;
  /** Where the outside listens; on loop-back when absent. */
  readonly host?: string;
  /** What is done in the folder of the task with each call, beside calling the outside. */
  readonly beside?: ((step: number) => string) | undefined;
};

/** A model whose tasks call the outside once per step, and an outside that counts. The answer depends on the conversation alone. */
export async function openBatchScene({ steps, delayMs, host = "127.0.0.1", beside }: BatchSceneOptions): Promise<BatchScene> {
  const folder = mkdtempSync(join(tmpdir(), "outrider-torture-batch-"));
  const effects = new Map<string, number>();
  /** By the id of the call: what the model heard of it last. */
  const told = new Map<string, string>();
  const asked: number[] = [];
  const questions = new Set<string>();
  const callers = new Map<string, Set<string>>();
  const outside = createServer(({ url = "", socket }, response) => {
    effects.set(url, (effects.get(url) ?? 0) + 1);
    const task = url.split("/")[1] ?? "";
    callers.set(task, (callers.get(task) ?? new Set()).add(socket.remoteAddress ?? ""));
    response.end("done\n");
  });
  await new Promise<void>((resolve) => outside.listen(0, host, resolve));
  const { port } = outside.address() as AddressInfo; // it listens on a port
  const model = await startModelServer({
    keepsRequests: false,
    replies: ({ body }) => {
      asked.push(Date.now());
      listen(body, told);
      questions.add(questionOf(body));
      return {
        ...answer(body, { url: `http://${host}:${port}`, steps, beside }),
        usage: { inputTokens: 0, outputTokens: 1_000 },
        delayMs,
      };
    },
  });
  return {
    folder,
    env: {
      PATH: process.env["PATH"] ?? "",
      HOME: folder,
      OUTRIDER_HOME: join(folder, "home"),
      ANTHROPIC_API_KEY: "torture",
      ANTHROPIC_BASE_URL: model.url,
    },
    asked,
    repeated: () => asked.length - questions.size,
    callers,
    tasks(count, more = {}) {
      const ids = Array.from({ length: count }, (_, at) => `t${at + 1}`);
      const lines = ids.map((id) => JSON.stringify({ id, prompt: `TASK ${id}`, allowedTools: ["Bash"], ...more }));
      writeFileSync(join(folder, "tasks.jsonl"), lines.join("\n"));
      return join(folder, "tasks.jsonl");
    },
    done: (out) => readLines(join(out, "results.jsonl")).length,
    judge: (out, tasks, tally) => judge({ out, tasks, steps, effects, told, tally }),
    async close() {
      await model.close();
      outside.closeAllConnections();
      outside.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

type Call = { readonly name: string; readonly input: object; readonly callId: string };

type Answering = Pick<BatchSceneOptions, "steps" | "beside"> & { readonly url: string };

/** Which task asks, and how often it has called before. */
function placeOf(body: unknown): { task: string | undefined; called: number } {
  const messages: { role: string; content: unknown }[] = Object(body).messages;
  const [, task] = /TASK ([\w-]+)/.exec(JSON.stringify(messages[0])) ?? [];
  const called = messages.filter(
    ({ role, content }) => role === "assistant" && JSON.stringify(content).includes("tool_use"),
  ).length;
  return { task, called };
}

function questionOf(body: unknown): string {
  const { task, called } = placeOf(body);
  return `${task} ${called}`;
}

function answer(body: unknown, { url, steps, beside }: Answering): { text?: string; calls?: Call[] } {
  const { task, called } = placeOf(body);
  if (called >= steps) return { text: `Task ${task} is done.` };
  const also = beside ? `${beside(called + 1)}; ` : "";
  const command = `${also}curl -s ${url}/${task}/${called + 1}`;
  return { calls: [{ name: "Bash", input: { command }, callId: `call_${task}_${called + 1}` }] };
}

/** Results of calls, as the model is told them. */
function listen(body: unknown, told: Map<string, string>): void {
  const messages: { content: unknown }[] = Object(body).messages;
  for (const { content } of messages)
    for (const part of Array.isArray(content) ? content : [])
      if (part.type === "tool_result") told.set(part.tool_use_id, textOf(part.content));
}

function textOf(content: unknown): string {
  return Array.isArray(content) ? content.map(({ text = "" }) => text).join("") : String(content);
}

type Judged = {
  readonly out: string;
  readonly tasks: number;
  readonly steps: number;
  readonly effects: ReadonlyMap<string, number>;
  readonly told: ReadonlyMap<string, string>;
  readonly tally: Tally;
};

function judge({ out, tasks, steps, effects, told, tally }: Judged): void {
  const results = new Map<unknown, Record<string, unknown>[]>();
  for (const result of readLines(join(out, "results.jsonl")))
    results.set(result["unit_id"], [...(results.get(result["unit_id"]) ?? []), result]);
  let unknown = 0;
  let notRun = 0;
  for (let task = 1; task <= tasks; task++) {
    const own = results.get(`t${task}`) ?? [];
    if (own.length !== 1 || own[0]?.["status"] !== "passed")
      tally.violate(`t${task} has ${own.length} results: ${JSON.stringify(own).slice(0, 300)}`);
    const events = readLines(join(out, "journals", `t${task}.jsonl`));
    for (let step = 1; step <= steps; step++) {
      const id = `call_t${task}_${step}`;
      const [started, ended] = ["tool.started", "tool.ended"].map((kind) =>
        events.find(({ type, callId }) => type === kind && callId === id),
      );
      const status = ended && String(ended["status"]);
      const seen = {
        isStarted: started !== undefined,
        status,
        told: told.get(id),
        effects: effects.get(`/t${task}/${step}`) ?? 0,
      };
      const verdict = judgeCall(seen);
      if (verdict.type === "unknown") unknown++;
      if (verdict.type === "not-run") notRun++;
      if (verdict.type === "lie") tally.violate(`t${task}, step ${step}, ${verdict.text}`);
    }
  }
  tally.count("results", results.size);
  tally.count("calls of unknown outcome", unknown);
  tally.count("calls not run", notRun);
}

function readLines(path: string): Record<string, unknown>[] {
  try {
    return readFileSync(path, "utf8")
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line));
  } catch (error) {
    if (Object(error).code === "ENOENT") return [];
    throw error;
  }
}
