import { isAbsolute, relative } from "node:path";
import type { AgentEvent, Outcome, SessionOptions } from "@outrider/runtime";
import { createClaudeFormat, createIdSeries } from "@outrider/runtime/host";

export type ToolLine = { readonly name: string; calls: number; failed: number; denied: number; durationMs: number };

export type ModelLine = {
  readonly name: string;
  /** With what came from a cache. */
  readonly inputTokens: number;
  readonly cachedTokens: number;
  readonly outputTokens: number;
  readonly costUsd: number | null;
};

/** What people want to know about a run afterwards. */
export type RunReport = {
  /** Undefined when the run ended before there was a prompt. */
  readonly task: string | undefined;
  readonly outcome: Outcome;
  readonly exitCode: number;
  /** Empty when there was no session yet. */
  readonly sessionId: string;
  readonly turns: number;
  readonly durationMs: number;
  readonly costUsd: number | null;
  readonly models: readonly ModelLine[];
  readonly tools: readonly ToolLine[];
  /** By Write and Edit; relative to the working directory where they are in it. */
  readonly changedFiles: readonly string[];
  /** What git saw change during the run beside those, by whatever changed it. */
  readonly changedBeside: readonly string[];
};

/** What is being run. */
export type RunFacts = {
  readonly task: string;
  readonly sessionId: string;
  readonly cwd: string;
  readonly catalogOverride?: SessionOptions["catalogOverride"];
};

/** The report of a run that never came to be, or that was ended before it could say more. */
export function emptyReport(outcome: Outcome, exitCode: number): RunReport {
  const nothing = { turns: 0, durationMs: 0, costUsd: null, models: [], tools: [], changedFiles: [], changedBeside: [] };
  return { task: undefined, outcome, exitCode, sessionId: "", ...nothing };
}

/** Gathers a report from the events of a run. Numbers come from the same result that is printed, so that both always agree. */
export class RunReporter {
  readonly #facts: RunFacts;
  readonly #format: ReturnType<typeof createClaudeFormat>;
  readonly #tools = new Map<string, ToolLine>();
  readonly #changed = new Set<string>();

  constructor(facts: RunFacts) {
    this.#facts = facts;
    const { sessionId, catalogOverride } = facts;
    this.#format = createClaudeFormat("json", {
      sessionId,
      newId: createIdSeries(),
      ...(catalogOverride && { catalogOverride }),
    });
  }

  apply(event: AgentEvent): void {
    this.#format.event(event);
    if (event.type !== "tool.ended") return;
    const line = this.#tools.get(event.name) ?? { name: event.name, calls: 0, failed: 0, denied: 0, durationMs: 0 };
    line.calls++;
    line.durationMs += event.durationMs;
    if (event.status === "denied") line.denied++;
    else if (event.status !== "ok") line.failed++;
    this.#tools.set(event.name, line);
    const file = event.status === "ok" ? event.details?.file : undefined;
    if (file !== undefined) this.#changed.add(fromHere(this.#facts.cwd, file));
  }

  async finish(outcome: Outcome, exitCode: number): Promise<RunReport> {
    // Our own encoder wrote it.
    const result = JSON.parse(await this.#format.end(outcome)) as {
      num_turns: number;
      duration_ms: number;
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
      turns: result.num_turns,
      durationMs: result.duration_ms,
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

  /** What can be said without waiting for anything: no numbers, but what was done. */
  soFar(outcome: Outcome, exitCode: number): RunReport {
    return {
      ...emptyReport(outcome, exitCode),
      task: this.#facts.task,
      sessionId: this.#facts.sessionId,
      tools: [...this.#tools.values()].sort((a, b) => b.calls - a.calls),
      changedFiles: [...this.#changed].sort(),
    };
  }
}

/** A path as it is written in this folder: relative where it is in it, absolute elsewhere. */
export function fromHere(cwd: string, path: string): string {
  if (!isAbsolute(path)) return path;
  const short = relative(cwd, path);
  return short === "" || short === ".." || short.startsWith("../") || isAbsolute(short) ? path : short;
}
