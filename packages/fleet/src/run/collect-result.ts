import { join } from "node:path";
import type { AgentEvent, JsonObject, Outcome } from "@outrider/runtime";
import { toTrajectoryDocument, writeDocument } from "@outrider/runtime/atif";
import { createClaudeFormat, createRedactor, randomUuid, makeFolder } from "@outrider/runtime/host";
import type { Prices } from "../limits/governed-provider.ts";
import type { BatchUnit } from "../tasks/task.ts";
import { lookBack } from "./past-turns.ts";
import type { CheckResult } from "./run-check.ts";
import { type TaskResult, type TaskStatus, toCheckFields } from "./task-result.ts";

export type RunFacts = {
  readonly unit: BatchUnit;
  readonly attempt: number;
  readonly sessionId: string;
  readonly startedAt: number;
  readonly check: CheckResult | undefined;
};

export type Collecting = Prices & {
  readonly events: readonly AgentEvent[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Where the trajectory goes. */
  readonly folder: string;
  readonly name: string;
  /** The trajectory waits for the disk. */
  readonly isLasting: boolean;
};

/** The line of results.jsonl and the trajectory, both made of the journal alone: the same whoever makes them, however often. */
export async function collectResult(
  run: RunFacts,
  { events, priceOf, catalogOverride, env, folder, name, isLasting }: Collecting,
): Promise<TaskResult> {
  const { unit, sessionId, check } = run;
  const past = lookBack(events, { isFree: unit.task.schema === undefined });
  const outcome: Outcome = past.type === "ended" ? past.outcome : { type: "cancelled", cause: "abort", text: "" };
  const frame = await toFrame(events, { sessionId, outcome, env, catalogOverride });
  const document = toTrajectoryDocument(events, { priceOf, stem: name });
  if (document) {
    makeFolder(join(folder, "trajectories"), 0o777);
    writeDocument(join(folder, "trajectories", `${name}.json`), document, { isLasting });
  }
  const calls = events.filter((event) => event.type === "message.ended" || event.type === "side-call.ended");
  const ends = events.filter((event) => event.type === "turn.ended" && event.taskId === undefined) as AgentEvent<"turn.ended">[];
  const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);
  const costs = calls.map(priceOf);
  const failure = failureOf(outcome, check);
  const status = statusOf(outcome, check);
  const endedAt = Date.now();
  return {
    ...frame,
    task_id: unit.taskId,
    unit_id: unit.id,
    status,
    passed: status === "passed",
    ...(failure !== undefined && { failure }),
    model: unit.model ?? modelOf(events),
    repetition: unit.repetition,
    attempt: run.attempt,
    session_id: sessionId,
    started_at: new Date(run.startedAt).toISOString(),
    ended_at: new Date(endedAt).toISOString(),
    wall_ms: endedAt - run.startedAt,
    duration_ms: sum(ends.map(({ durationMs }) => durationMs)),
    duration_api_ms: sum(ends.map(({ modelDurationMs }) => modelDurationMs)),
    num_turns: calls.filter(({ type, taskId }) => type === "message.ended" && taskId === undefined).length,
    total_cost_usd: costs.includes(null) ? null : sum(costs.map((cost) => cost ?? 0)),
    input_tokens: sum(calls.map(({ message }) => message.usage.inputTokens)),
    output_tokens: sum(calls.map(({ message }) => message.usage.outputTokens)),
    resumed: events.filter((event) => event.type === "session.started" && event.resumed).length,
    ...toCheckFields(check),
    ...(unit.task.labels && { labels: unit.task.labels }),
  } as TaskResult; // frames are JSON
}

async function toFrame(
  events: readonly AgentEvent[],
  {
    sessionId,
    outcome,
    env,
    catalogOverride,
  }: Pick<Collecting, "env" | "catalogOverride"> & { sessionId: string; outcome: Outcome },
): Promise<JsonObject> {
  const format = createClaudeFormat("json", { sessionId, newId: randomUuid, catalogOverride });
  for (const event of events) format.event(event);
  return JSON.parse(await format.end(createRedactor({ env }).value(outcome))) as JsonObject; // written by the format just now
}

function statusOf(outcome: Outcome, check: CheckResult | undefined): TaskStatus {
  if (outcome.type === "stopped") return "stopped";
  if (outcome.type === "cancelled") return outcome.cause === "deadline" ? "stopped" : "cancelled";
  if (outcome.type === "failed") return "error";
  return check && !check.passed ? "failed" : "passed";
}

function failureOf(outcome: Outcome, check: CheckResult | undefined): string | undefined {
  if (outcome.type === "stopped") return outcome.limit;
  if (outcome.type === "cancelled") return outcome.cause === "deadline" ? "deadline" : "cancelled";
  if (outcome.type === "failed") return outcome.error.code;
  return check && !check.passed ? "check" : undefined;
}

function modelOf(events: readonly AgentEvent[]): string {
  const answer = events.find((event) => event.type === "message.ended");
  return answer?.type === "message.ended" ? `${answer.message.model.provider}/${answer.message.model.id}` : "unknown";
}
