import { isAbsolute, relative } from "node:path";
import type { AgentEvent, Outcome, SessionOptions } from "@outrider/runtime";
import { createClaudeFormat, createIdSeries, type ShownOutcome } from "@outrider/runtime/host";
import { clip } from "./clip.ts";

export type ToolLine = { readonly name: string; calls: number; failed: number; denied: number; durationMs: number };

export type ModelLine = {
  readonly name: string;
  /** With what came from a cache. */
  readonly inputTokens: number;
  readonly cachedTokens: number;
  readonly outputTokens: number;
  readonly costUsd: number | null;
};

/** A call that was not permitted: what it was about, and why not. */
export type DeniedCall = { readonly tool: string; readonly input: string; readonly reason: string };

/** What people want to know about a run afterwards. */
export type RunReport = {
  /** The first prompt. Undefined when the run ended before there was one. */
  readonly task: string | undefined;
  /** Live input may bring more than one. */
  readonly prompts: number;
  readonly outcome: Outcome;
  readonly exitCode: number;
  /** Empty when there was no session yet. */
  readonly sessionId: string;
  readonly turns: number;
  readonly durationMs: number;
  readonly costUsd: number | null;
  readonly models: readonly ModelLine[];
  readonly tools: readonly ToolLine[];
  /** The first of them; the tool lines count all. */
  readonly denied: readonly DeniedCall[];
  /** By Write and Edit; relative to the working directory where they are in it. */
  readonly changedFiles: readonly string[];
  /** What git saw change during the run beside those, by whatever changed it. */
  readonly changedBeside: readonly string[];
  /** The file with the run as a page. */
  readonly page?: string | undefined;
};

/** What is being run. */
export type RunFacts = {
  /** When absent, the first prompt that the run begins to work on. */
  readonly task?: string | undefined;
  readonly sessionId: string;
  readonly cwd: string;
  /** The file that the run is written to as a page. */
  readonly page?: string | undefined;
  readonly catalogOverride?: SessionOptions["catalogOverride"] | undefined;
};

/** The report of a run that never came to be, or that was ended before it could say more. */
export function emptyReport(outcome: Outcome, exitCode: number): RunReport {
  const numbers = { prompts: 0, turns: 0, durationMs: 0, costUsd: null };
  const lists = { models: [], tools: [], denied: [], changedFiles: [], changedBeside: [] };
  return { task: undefined, outcome, exitCode, sessionId: "", ...numbers, ...lists };
}

const maxDenied = 20;
const maxInput = 300;

/** Gathers a report from the events of a run, and of nothing that the session did before: a resumed one has had its own reports. */
export class RunReporter {
  readonly #facts: RunFacts;
  readonly #format: ReturnType<typeof createClaudeFormat>;
  readonly #tools = new Map<string, ToolLine>();
  readonly #changed = new Set<string>();
  readonly #denied: DeniedCall[] = [];
  readonly #inputs = new Map<string, unknown>();
  #task: string | undefined;
  #prompts = 0;
  #turns = 0;
  #durationMs = 0;

  constructor(facts: RunFacts) {
    this.#facts = facts;
    this.#task = facts.task;
    const { sessionId, catalogOverride } = facts;
    this.#format = createClaudeFormat("json", {
      sessionId,
      newId: createIdSeries(),
      catalogOverride,
    });
  }

  apply(event: AgentEvent): void {
    this.#format.event(event);
    if (event.type === "turn.started") this.#begin(event);
    else if (event.type === "input.added" && event.origin === "user") this.#prompts++;
    else if (event.type === "message.ended") this.#remember(event);
    else if (event.type === "tool.ended") this.#count(event);
    else if (event.type === "turn.ended") this.#end(event);
  }

  #begin({ input, displayInput, taskId }: AgentEvent<"turn.started">): void {
    if (taskId !== undefined) return;
    this.#prompts++;
    const words = input.content.flatMap((part) => (part.type === "text" ? [part.text] : []));
    this.#task ??= displayInput ?? words.join("\n");
  }

  #remember({ message, taskId }: AgentEvent<"message.ended">): void {
    for (const part of message.content)
      if (part.type === "tool-call") this.#inputs.set(`${taskId ?? ""} ${part.callId}`, part.input);
  }

  #count(event: AgentEvent<"tool.ended">): void {
    const line = this.#tools.get(event.name) ?? { name: event.name, calls: 0, failed: 0, denied: 0, durationMs: 0 };
    line.calls++;
    line.durationMs += event.durationMs;
    if (event.status === "denied") line.denied++;
    else if (event.status !== "ok") line.failed++;
    this.#tools.set(event.name, line);
    const key = `${event.taskId ?? ""} ${event.callId}`;
    if (event.status === "denied") this.#deny(event, this.#inputs.get(key));
    this.#inputs.delete(key);
    const { file, others = [] } = (event.status === "ok" && event.details) || {};
    for (const changed of [file, ...others.map((other) => other.file)])
      if (changed !== undefined) this.#changed.add(fromHere(this.#facts.cwd, changed));
  }

  #deny({ name, result }: AgentEvent<"tool.ended">, input: unknown): void {
    if (this.#denied.length >= maxDenied) return;
    const reason = result.content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join(" ");
    this.#denied.push({ tool: name, input: clip(describeInput(input), maxInput), reason: clip(reason, maxInput) });
  }

  #end({ modelCalls, durationMs, taskId }: AgentEvent<"turn.ended">): void {
    if (taskId !== undefined) return;
    this.#turns += modelCalls;
    this.#durationMs += durationMs;
    this.#inputs.clear();
  }

  async finish(outcome: ShownOutcome, exitCode: number): Promise<RunReport> {
    // Our own encoder wrote it.
    const result = JSON.parse(await this.#format.end(outcome)) as {
      total_cost_usd: number | null;
      modelUsage: Record<
        string,
        {
          inputTokens: number;
          cacheReadInputTokens: number;
          cacheCreationInputTokens: number;
          outputTokens: number;
          costUSD: number | null;
        }
      >;
    };
    return {
      ...this.soFar(outcome, exitCode),
      costUsd: result.total_cost_usd,
      models: Object.entries(result.modelUsage).map(([name, usage]) => ({
        name,
        inputTokens: usage.inputTokens + usage.cacheReadInputTokens + usage.cacheCreationInputTokens,
        cachedTokens: usage.cacheReadInputTokens,
        outputTokens: usage.outputTokens,
        costUsd: usage.costUSD,
      })),
    };
  }

  /** What can be said without waiting for anything: what was done, but not what it cost. */
  soFar(outcome: Outcome, exitCode: number): RunReport {
    return {
      ...emptyReport(outcome, exitCode),
      task: this.#task,
      prompts: this.#prompts,
      sessionId: this.#facts.sessionId,
      turns: this.#turns,
      durationMs: this.#durationMs,
      tools: [...this.#tools.values()].sort((a, b) => b.calls - a.calls),
      denied: this.#denied,
      changedFiles: [...this.#changed].sort(),
      page: this.#facts.page,
    };
  }
}

/** What a call is about: the one word that matters where there is one. */
function describeInput(input: unknown): string {
  const { command, file_path: file, url } = (input ?? {}) as Record<string, unknown>; // anything may be missing
  const word = [command, file, url].find((value) => typeof value === "string");
  return typeof word === "string" ? word : (JSON.stringify(input) ?? "");
}

/** A path as it is written in this folder: relative where it is in it, absolute elsewhere. */
export function fromHere(cwd: string, path: string): string {
  if (!isAbsolute(path)) return path;
  const short = relative(cwd, path);
  return short === "" || short === ".." || short.startsWith("../") || isAbsolute(short) ? path : short;
}
