import type { AgentEvent, Outcome, SessionOptions } from "@outrider/runtime";
import { createClaudeFormat, createIdSeries } from "@outrider/runtime/host";

export type ToolLine = { readonly name: string; calls: number; failed: number; denied: number; durationMs: number };

/** What people want to know about a run afterwards. */
export type RunReport = {
  readonly task: string;
  readonly outcome: Outcome;
  readonly exitCode: number;
  readonly sessionId: string;
  readonly turns: number;
  readonly durationMs: number;
  readonly costUsd: number | null;
  readonly models: readonly {
    readonly name: string;
    readonly inputTokens: number;
    readonly outputTokens: number;
    readonly costUsd: number | null;
  }[];
  readonly tools: readonly ToolLine[];
  readonly changedFiles: readonly string[];
};

/** Gathers a report from the events of a run. Numbers come from the same result that is printed, so that both always agree. */
export class RunReporter {
  readonly #task: string;
  readonly #sessionId: string;
  readonly #format: ReturnType<typeof createClaudeFormat>;
  readonly #tools = new Map<string, ToolLine>();
  readonly #changed = new Set<string>();

  constructor(task: string, facts: { sessionId: string; catalogOverride?: SessionOptions["catalogOverride"] }) {
    this.#task = task;
    this.#sessionId = facts.sessionId;
    const { catalogOverride } = facts;
    this.#format = createClaudeFormat("json", {
      sessionId: facts.sessionId,
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
    if (event.status === "ok" && event.details?.file !== undefined) this.#changed.add(event.details.file);
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
      task: this.#task,
      outcome,
      exitCode,
      sessionId: this.#sessionId,
      turns: result.num_turns,
      durationMs: result.duration_ms,
      costUsd: result.total_cost_usd,
      models: Object.entries(result.modelUsage).map(([name, usage]) => ({
        name,
        inputTokens: usage.inputTokens + usage.cacheReadInputTokens + usage.cacheCreationInputTokens,
        outputTokens: usage.outputTokens,
        costUsd: usage.costUSD,
      })),
      tools: [...this.#tools.values()].sort((a, b) => b.calls - a.calls),
      changedFiles: [...this.#changed].sort(),
    };
  }
}
