import { headline, isFields } from "./describe-call.ts";
import { editsInInput } from "./edits.ts";
import { picture } from "./from-events.ts";
import { known, StepList, toRunModel } from "./run-builder.ts";
import type { CallStatus, Picture, RunModel, TokenCounts } from "./run-model.ts";

type Fields = Readonly<Record<string, unknown>>;

/** A trajectory of any version and agent. It tells no outcome of its own, unless it was written here. */
export function fromTrajectory(
  trajectory: Fields,
  place: { readonly loadPicture?: (path: string) => string | undefined } = {},
): RunModel {
  const steps = fieldsIn(trajectory["steps"]);
  const began = steps.map(timeOf).find((time) => time !== undefined);
  const reader = new TrajectoryReader(trajectory, { began, ...place });
  const list = reader.read(steps);
  const agent = isFields(trajectory["agent"]) ? trajectory["agent"] : {};
  const ended = steps.map(timeOf).findLast((time) => time !== undefined);
  const totals = isFields(trajectory["final_metrics"]) ? trajectory["final_metrics"] : {};
  const last = steps.findLast((step) => step["source"] === "agent");
  const said = last ? textOf(last["message"]) : "";
  return toRunModel(list, {
    ...{ id: wordOf(trajectory["session_id"]) ?? wordOf(trajectory["trajectory_id"]) ?? "trajectory", source: "trajectory" },
    agent: [wordOf(agent["name"]), wordOf(agent["version"])].filter(Boolean).join(" ") || "an agent",
    ...(began !== undefined && { startedAt: new Date(began).toISOString(), durationMs: Math.max(0, (ended ?? began) - began) }),
    ...known({ costUsd: numberOf(totals["total_cost_usd"]) }),
    outcome: last && !fieldsIn(last["tool_calls"]).length ? { state: "completed", what: headline(said) } : undefined,
    notes: [
      `Read from an ${wordOf(trajectory["schema_version"]) ?? "ATIF"} file, which says nothing of permissions, hooks and retries.`,
    ],
  });
}

class TrajectoryReader {
  readonly #whole: Fields;
  readonly #began: number | undefined;
  readonly #loadPicture: ((path: string) => string | undefined) | undefined;

  constructor(whole: Fields, options: { began: number | undefined; loadPicture?: (path: string) => string | undefined }) {
    this.#whole = whole;
    this.#began = options.began;
    this.#loadPicture = options.loadPicture;
  }

  read(steps: readonly Fields[], list: StepList = new StepList()): StepList {
    const agent = isFields(this.#whole["agent"]) ? this.#whole["agent"] : {};
    for (const step of steps) {
      const time = timeOf(step);
      const at = time !== undefined && this.#began !== undefined ? Math.max(0, time - this.#began) : undefined;
      const facts = { text: textOf(step["message"]), at, images: this.#pictures(step["message"]) };
      if (step["source"] === "agent")
        this.#answer(list, step, { ...facts, model: wordOf(step["model_name"]) ?? wordOf(agent["model_name"]) });
      else
        list.prompt({
          ...facts,
          ...(step["source"] === "system" && { who: "System" }),
          ...(step["is_copied_context"] === true && { who: "Earlier context" }),
        });
    }
    return list;
  }

  #answer(
    list: StepList,
    step: Fields,
    facts: { text: string; at?: number | undefined; images: Picture[]; model: string | undefined },
  ): void {
    const calls = fieldsIn(step["tool_calls"]).map((call, at) => ({
      id: wordOf(call["tool_call_id"]) ?? `call-${at}`,
      name: wordOf(call["function_name"]) ?? "tool",
      input: call["arguments"],
    }));
    const metrics = isFields(step["metrics"]) ? step["metrics"] : undefined;
    list.answer({
      ...facts,
      reasoning: wordOf(step["reasoning_content"]) ?? "",
      calls,
      usage: metrics && tokensOf(metrics),
      costUsd: metrics && numberOf(metrics["cost_usd"]),
    });
    const observation = isFields(step["observation"]) ? step["observation"] : {};
    const results = fieldsIn(observation["results"]);
    for (const [at, result] of results.entries()) {
      const call =
        calls.find(({ id }) => id === result["source_call_id"]) ?? (result["source_call_id"] == null ? calls[at] : undefined);
      if (call) this.#result(list, call, result);
    }
    // Without calls an observation is what the surroundings said.
    if (calls.length === 0)
      for (const result of results) list.prompt({ text: textOf(result["content"]), at: facts.at, who: "Observation" });
    for (const call of calls)
      if (!results.some((result, at) => (result["source_call_id"] ?? calls[at]?.id) === call.id))
        list.endCall(call.id, { status: "unknown", output: "" });
  }

  #result(list: StepList, call: { id: string; input: unknown }, result: Fields): void {
    const extra = isFields(result["extra"]) ? result["extra"] : {};
    const output = textOf(result["content"]);
    const status = statusOf(extra, output);
    list.endCall(call.id, {
      ...{
        status,
        output,
        tookMs: numberOf(extra["duration_ms"]),
        exitCode: numberOf(extra["exit_code"]),
        images: this.#pictures(result["content"]),
      },
      edits: editsInInput(call.input),
    });
    for (const ref of fieldsIn(result["subagent_trajectory_ref"])) {
      const inner = fieldsIn(this.#whole["subagent_trajectories"]).find(
        (one) =>
          (ref["trajectory_id"] != null && one["trajectory_id"] === ref["trajectory_id"]) ||
          (ref["session_id"] != null && one["session_id"] === ref["session_id"]),
      );
      const name = isFields(inner?.["agent"]) ? wordOf(inner["agent"]["name"]) : undefined;
      const child = list.openSubagent(call.id, { name: name ?? "subagent" });
      if (inner) this.read(fieldsIn(inner["steps"]), child);
      else
        child.prompt({
          text: `Told in another file: ${wordOf(ref["trajectory_path"]) ?? wordOf(ref["trajectory_id"]) ?? "unnamed"}`,
          who: "Elsewhere",
        });
    }
  }

  #pictures(content: unknown): Picture[] {
    return fieldsIn(content).flatMap((part) => {
      const source = isFields(part["source"]) ? part["source"] : undefined;
      if (part["type"] === "text" || !source) return [];
      const path = wordOf(source["path"]) ?? "";
      const data = wordOf(source["data"]) ?? (path === "" ? undefined : this.#loadPicture?.(path)) ?? "";
      return [picture(wordOf(source["media_type"]) ?? "", data, path)];
    });
  }
}

/** The format has no word for a failure: what writers put beside it, and else what the text begins with. */
function statusOf(extra: Fields, output: string): CallStatus {
  const told = wordOf(extra["status"]);
  if (told === "denied" || told === "interrupted" || told === "ok" || told === "error") return told;
  if (extra["is_error"] === true || (numberOf(extra["exit_code"]) ?? 0) !== 0) return "error";
  return /^(?:error\b|traceback \(most recent|command failed|<error>|exit code [1-9])/i.test(output.trimStart()) ? "error" : "ok";
}

function tokensOf(metrics: Fields): TokenCounts {
  const [all, cached, output] = ["prompt_tokens", "cached_tokens", "completion_tokens"].map(
    (key) => numberOf(metrics[key]) ?? 0,
  ) as [number, number, number];
  const extra = isFields(metrics["extra"]) ? metrics["extra"] : {};
  const written = numberOf(extra["cache_creation_input_tokens"]) ?? numberOf(extra["cache_write_tokens"]) ?? 0;
  return { input: Math.max(0, all - cached - written), cached, written, output };
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  return fieldsIn(content)
    .map((part) => wordOf(part["text"]) ?? "")
    .filter((text) => text !== "")
    .join("\n");
}

function timeOf(step: Fields): number | undefined {
  const time = typeof step["timestamp"] === "string" ? Date.parse(step["timestamp"]) : Number.NaN;
  return Number.isNaN(time) ? undefined : time;
}

function fieldsIn(value: unknown): Fields[] {
  return Array.isArray(value) ? value.filter(isFields) : [];
}

function wordOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** A count, a time or a price: what is less than nothing or more than anybody can have is none. */
function numberOf(value: unknown): number | undefined {
  return typeof value === "number" && value >= 0 && value < 1e15 ? value : undefined;
}
