import type { AgentEvent, AssistantMessage, ToolCallPart } from "@outrider/runtime";
import type { Call, FileEdit, RunModel, Step, Value } from "@outrider/web";

const noUsage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };
const signs = { "+": "add", "-": "remove", " ": "context", "@": "hunk" } as const;

/** A run of another program, told in events of ours as far as it is known: whoever tells a session's events can tell this. */
export function toEvents(run: RunModel): AgentEvent[] {
  const base = run.startedAt === undefined ? 0 : Date.parse(run.startedAt);
  return [...new Telling(run.id, Number.isNaN(base) ? 0 : base).tell(run.steps, undefined)];
}

class Telling {
  readonly #sessionId: string;
  readonly #base: number;
  readonly #events: AgentEvent[] = [];
  #tasks = 0;

  constructor(sessionId: string, base: number) {
    this.#sessionId = sessionId;
    this.#base = base;
  }

  tell(steps: readonly Step[], taskId: string | undefined): readonly AgentEvent[] {
    let last = 0;
    for (const step of steps) {
      last = step.at ?? last;
      if (step.kind === "prompt" && step.who !== "System" && taskId === undefined)
        this.#add({ type: "turn.started", input: { role: "user", content: [{ type: "text", text: whole(step.text) }] } }, last);
      if (step.kind === "answer") this.#tellAnswer(step, { at: last + (step.modelMs ?? 0), taskId });
      if (step.rule) this.#add({ type: "warning.raised", message: step.rule.title, ...of(taskId) }, last);
    }
    return this.#events;
  }

  #tellAnswer(step: Step, { at, taskId }: { at: number; taskId: string | undefined }): void {
    const calls = step.calls.map(
      ({ id, tool, input }): ToolCallPart => ({ type: "tool-call", callId: id, name: tool, input: toInput(input) }),
    );
    const content: AssistantMessage["content"] = [{ type: "text", text: whole(step.text) }, ...calls];
    const message: AssistantMessage = {
      role: "assistant",
      content,
      model: { provider: "", id: step.model ?? "" },
      finish: calls.length > 0 ? "tool-calls" : "stop",
      usage: noUsage,
    };
    const messageId = `step ${step.n}`;
    const durationMs = step.modelMs ?? 0;
    this.#add({ type: "message.ended", messageId, message, durationMs, requestedModel: step.model ?? "", ...of(taskId) }, at);
    for (const call of step.calls) this.#tellCall(call, { at: call.at ?? at, taskId });
  }

  #tellCall(call: Call, { at, taskId }: { at: number; taskId: string | undefined }): void {
    const { id: callId, tool: name, subagent } = call;
    this.#add({ type: "tool.started", callId, name, input: toInput(call.input), ...of(taskId) }, at);
    if (subagent) this.#tellSubagent(call, { subagent, at });
    const diffs = (call.edits ?? []).map((edit) => ({ path: edit.path, diff: toDiff(edit) }));
    const diff = diffs.flatMap((one) => one.diff);
    const text = whole(call.output) || (call.status === "ok" ? "" : call.result);
    const status = call.status === "ok" || call.status === "denied" ? call.status : "error";
    const result = {
      type: "tool-result" as const,
      callId,
      name,
      content: [{ type: "text" as const, text }],
      isError: status !== "ok",
    };
    const durationMs = call.tookMs ?? 0;
    this.#add(
      {
        type: "tool.ended",
        callId,
        name,
        status,
        result,
        durationMs,
        ...(diff.length > 0 && { details: { diff } }),
        ...of(taskId),
      },
      at + durationMs,
    );
  }

  #tellSubagent(call: Call, { subagent, at }: { subagent: NonNullable<Call["subagent"]>; at: number }): void {
    const taskId = `task ${++this.#tasks}`;
    const model = { provider: "", id: subagent.model ?? "" };
    const words = { agent: subagent.name, description: call.preview, prompt: "", system: "", tools: [], model };
    this.#add({ type: "task.started", taskId, callId: call.id, ...words, permissionMode: "default" }, at);
    this.tell(subagent.steps, taskId);
    const durationMs = subagent.durationMs ?? 0;
    const outcome = { type: "completed" as const, text: "" };
    this.#add(
      { type: "task.ended", taskId, callId: call.id, outcome, usage: noUsage, modelCalls: 0, durationMs },
      at + durationMs,
    );
  }

  #add(body: Body, at: number): void {
    const envelope = { seq: this.#events.length + 1, at: new Date(this.#base + at).toISOString(), sessionId: this.#sessionId };
    this.#events.push({ ...envelope, ...body } as AgentEvent); // a body of one type is one event
  }
}

type Told = "turn.started" | "message.ended" | "tool.started" | "tool.ended" | "task.started" | "task.ended" | "warning.raised";
type Body = { [T in Told]: Omit<AgentEvent<T>, "seq" | "at" | "sessionId"> }[Told];

function of(taskId: string | undefined): { taskId?: string } {
  return taskId === undefined ? {} : { taskId };
}

function whole(value: Value | undefined): string {
  if (!value) return "";
  return value.cut ? `${value.text}\n… ${value.cut.lines} more lines …\n${value.cut.tail}` : value.text;
}

/** Most inputs were JSON once. */
function toInput(value: Value): unknown {
  try {
    return JSON.parse(value.text);
  } catch {
    return { input: value.text };
  }
}

function toDiff({ rows }: FileEdit): NonNullable<NonNullable<AgentEvent<"tool.ended">["details"]>["diff"]> {
  return rows.map(({ sign, text }) => ({ type: signs[sign], text }));
}
