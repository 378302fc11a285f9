import { join } from "node:path";
import type { AgentEvent, JsonValue, SessionHost, SessionStore } from "@outrider/runtime";
import type { DurableContext, DurableRun } from "../durable/durable.ts";
import type { Governing } from "../limits/governed-provider.ts";
import type { BatchUnit } from "../tasks/task.ts";
import { safeName } from "../util/safe-name.ts";
import { collectResult } from "./collect-result.ts";
import { lookBack } from "./past-turns.ts";
import { runCheck } from "./run-check.ts";
import type { TaskResult } from "./task-result.ts";
import { toPrompt, toRequest } from "./task-request.ts";
import { type Advance, TaskSession } from "./task-session.ts";
import type { PreparedWorkspace, Workspaces } from "./workspaces.ts";

export type TaskRunInput = { readonly unit: BatchUnit; readonly attempt: number };

/** What runs of tasks share in a process. */
export type TaskRunGround = {
  readonly host: SessionHost;
  /** Journals: shared by all workers that may take a run up. */
  readonly store: SessionStore;
  readonly workspaces: Workspaces;
  readonly governing: Governing;
  /** Where trajectories and patches go. */
  readonly folder: string;
  /** The folder is a copy of what another place keeps: nothing in it waits for the disk. */
  readonly isCopy?: boolean | undefined;
  /** Variables of checks: without the keys of models. */
  readonly env: Readonly<Record<string, string>>;
  /** Folders of their own are kept after the run, to be looked at. */
  readonly keepsWorkspaces: boolean;
  /** Somebody is to be asked. */
  readonly onQuestion?: ((unitId: string, name: string, question: Extract<Advance, { type: "asks" }>) => void) | undefined;
  /** Hears everything of every run, also the text that a model is writing. */
  readonly onEvent?: ((sessionId: string, event: AgentEvent) => void) | undefined;
};

/** The id of a run, and the name of its journal and files. A unit whose own name looks like the second attempt of another is told from it. */
export function runIdOf({ unit, attempt }: TaskRunInput): string {
  return attempt === 1 && !/~\d+$/.test(unit.id) ? unit.id : `${unit.id}~${attempt}`;
}

/**
 * One task from its folder to its result: the only implementation there is, for every backend. A step makes the folder, advances the session
 * by an answer or a round of calls, checks the work, or writes the result. What a step needs to know of those before is in their results and
 * in the journal, so that another process goes on with nothing else.
 */
export function createTaskRun(ground: TaskRunGround): DurableRun<JsonValue, JsonValue> {
  return {
    name: "outrider-task",
    run: async (context, input) => await runTask(ground, context, input as unknown as TaskRunInput), // what `runTaskInput` made
  };
}

async function runTask(ground: TaskRunGround, context: DurableContext, input: TaskRunInput): Promise<TaskResult> {
  const { unit, attempt } = input;
  const { task } = unit;
  const name = safeName(runIdOf(input));
  const startedAt = await context.step("begin", async () => Date.now());
  const prepared = (await context.step("workspace", async () => {
    return (await ground.workspaces.prepare(unit, name)) as JsonValue; // JSON already
  })) as unknown as PreparedWorkspace;
  const session = new TaskSession({
    host: ground.host,
    store: ground.store,
    sessionId: name,
    request: toRequest(unit, prepared.cwd),
    prompt: () => toPrompt(task),
    governing: ground.governing,
    asks: task.approvals ?? false,
    onEvent: ground.onEvent && ((event) => ground.onEvent?.(name, event)),
    deadlineAt: task.deadlineMs === undefined ? undefined : startedAt + task.deadlineMs,
  });
  await advanceToEnd(session, context, { ground, unit }).finally(() => session.close());
  const events = await ground.store.read(name);
  const past = lookBack(events, { isFree: task.schema === undefined });
  const isDone = past.type === "ended" && past.outcome.type === "completed";
  if (prepared.own)
    await context.step("patch", async () => {
      await ground.workspaces.patch(prepared, join(ground.folder, "patches", `${name}.patch`)); // before the check, whose own files are none of the agent's
      return null;
    });
  const check = task.check;
  const checked =
    check && isDone
      ? await context.step("check", async ({ signal }) => {
          const scratch = join(ground.folder, "scratch", name);
          const readable = [ground.workspaces.repositories];
          return await runCheck(check, { cwd: prepared.cwd, scratch, readable, env: ground.env, signal });
        })
      : undefined;
  return await context.step("collect", async () => {
    const facts = { unit, attempt, sessionId: name, startedAt, check: checked };
    const { priceOf, catalogOverride } = ground.governing;
    const { env, folder, isCopy = false } = ground;
    const how = { events, priceOf, catalogOverride, env, folder, name, isLasting: !isCopy };
    const result = await collectResult(facts, how);
    if (prepared.own && !ground.keepsWorkspaces) ground.workspaces.remove(name);
    return result;
  });
}

async function advanceToEnd(
  session: TaskSession,
  context: DurableContext,
  { ground, unit }: { ground: TaskRunGround; unit: BatchUnit },
): Promise<void> {
  for (let number = 1; ; number++) {
    const state = (await context.step(`advance-${number}`, async ({ signal }) => {
      return (await session.advance(signal)) as JsonValue; // JSON already
    })) as unknown as Advance;
    if (state.type === "ended") return;
    if (state.type !== "asks") continue;
    const name = `permission-${number}`;
    ground.onQuestion?.(unit.id, name, state);
    const { approved } = await context.approval(name, { tool: state.tool, reason: state.reason });
    session.answer(state.requestId, approved);
  }
}
