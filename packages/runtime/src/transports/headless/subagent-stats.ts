import { callsOf } from "../../protocol/content.ts";
import type { AgentEvent } from "../../protocol/events.ts";
import type { Outcome } from "../../protocol/outcome.ts";
import { taskNames } from "../../tools/builtin/facts.ts";
import { isRecord } from "../../util/is-record.ts";

/** How many subagents the session has had, how they were asked for and how they ended, in the words of Claude Code's results. */
export class SubagentStats {
  readonly #requested = { background: 0, foreground: 0, unset: 0 };
  readonly #killed = { parent: 0, user: 0, system: 0 };
  readonly #byType = new Map<string, number>();
  /** What calls of the conversation say about waiting: open ones, and those whose agent waits for its turn to begin. */
  readonly #asked = new Map<string, unknown>();
  readonly #inBackground = new Set<string>();
  #spawned = 0;
  #startedInBackground = 0;
  #completed = 0;
  #failed = 0;

  apply(event: AgentEvent): void {
    switch (event.type) {
      case "message.ended":
        if (event.taskId !== undefined) return;
        for (const { callId, input } of callsOf(event.message))
          this.#asked.set(callId, isRecord(input) ? input["run_in_background"] : undefined);
        return;
      case "tool.ended":
        if (event.taskId !== undefined || (event.status === "ok" && taskNames.includes(event.name))) return;
        this.#asked.delete(event.callId);
        return;
      case "task.started":
        return this.#start(event);
      case "task.ended":
        if (!this.#inBackground.delete(event.taskId)) this.#end(event.outcome.type);
        return;
      case "background.ended":
        if (event.task.kind !== "agent") return;
        if (event.task.status === "cancelled") this.#killed[killers[event.by ?? "user"]]++;
        else this.#end(event.task.status === "completed" ? "completed" : "failed");
    }
  }

  get fields(): Record<string, unknown> {
    return {
      spawned: this.#spawned,
      requested: { ...this.#requested },
      started_in_background: this.#startedInBackground,
      max_depth: this.#spawned > 0 ? 1 : 0,
      spawned_by_subagents: 0,
      completed: this.#completed,
      failed: this.#failed,
      killed: { ...this.#killed },
      refused: { depth_limit: 0, concurrency_limit: 0, budget: 0 },
      by_type: Object.fromEntries(this.#byType),
    };
  }

  #start({ agent, callId, taskId, background }: AgentEvent<"task.started">): void {
    this.#spawned++;
    this.#byType.set(agent, (this.#byType.get(agent) ?? 0) + 1);
    const asked = this.#asked.get(callId);
    this.#asked.delete(callId);
    this.#requested[asked === true ? "background" : asked === false ? "foreground" : "unset"]++;
    if (!background) return;
    this.#startedInBackground++;
    this.#inBackground.add(taskId);
  }

  #end(how: Outcome["type"]): void {
    if (how === "completed") this.#completed++;
    else if (how === "cancelled") this.#killed.user++;
    else this.#failed++;
  }
}

const killers = { model: "parent", user: "user", run: "system" } as const;
