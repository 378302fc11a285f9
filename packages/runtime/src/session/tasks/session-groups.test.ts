import assert from "node:assert/strict";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { createFileStore } from "../../journal/file-store.ts";
import { createScriptedProvider } from "../../model/scripted.ts";
import type { BackgroundJobGroupEvent } from "../../protocol/job-group.ts";
import type { BackgroundTaskRunner } from "../../tasks/background/task-contract.ts";
import { eventually } from "../../../../../test/support/subagent-stage.ts";
import { InteractiveSession } from "../interactive-session.ts";
import type { SessionOptions } from "../session-options.ts";

const top = mkdtempSync(join(tmpdir(), "outrider-groups-"));
after(() => rmSync(top, { recursive: true, force: true }));
let folders = 0;
const newFolder = (): string => mkdtempSync(join(top, `${++folders}-`));

/** A runner whose tasks end when the test says so. */
function handRunner() {
  const ends = new Map<string, (exitCode: number) => void>();
  const answers: string[] = [];
  const runner: BackgroundTaskRunner = {
    kind: "process",
    start: ({ taskId, request, emit }: { taskId: string; request: { command: string }; emit: (event: never) => void }) => {
      const result = new Promise<never>((resolve) => {
        ends.set(taskId, (exitCode) => resolve({ taskId, kind: "process", output: `${taskId} said`, exitCode } as never));
      });
      const questions = { ask: ["r1"], "ask twice": ["r1", "r2"] }[request.command] ?? [];
      for (const requestId of questions)
        queueMicrotask(() =>
          emit({
            type: "background_task_permission_request",
            requestId,
            toolName: "Deploy",
            toolArgs: { to: "production" },
          } as never),
        );
      return {
        result,
        cancel: async () => ends.get(taskId)?.(1),
        answerPermission: (requestId: string, isAllowed: boolean) => {
          answers.push(`${requestId} ${isAllowed}`);
          emit({ type: "background_task_permission_resolved", requestId, allowed: isAllowed } as never);
        },
      };
    },
  } as unknown as BackgroundTaskRunner;
  return { runner, answers, end: (taskId: string, exitCode = 0) => ends.get(taskId)?.(exitCode) };
}

function open(options: Partial<SessionOptions> = {}) {
  const provider = createScriptedProvider([{ text: "One." }, { text: "Two." }, { text: "Three." }, { text: "Four." }]);
  const session = new InteractiveSession({ cwd: newFolder(), provider, wakes: false, ...options });
  after(() => session.shutdown());
  return { session, provider };
}

const isRunning = { kind: "process", label: "work", command: "work" } as const;

describe("groups of a session", () => {
  it("are over when their tasks have ended, are told, and can be summed up", async () => {
    const { runner, end } = handRunner();
    const { session } = open({ backgroundTaskRunners: [runner] });
    const told: BackgroundJobGroupEvent[] = [];
    session.on("background_job_group_event", (event) => told.push(event));
    const spawner = session.createExecutionWorkspaceTaskSpawner({ kind: "transport", label: "a test" });
    const one = await spawner.spawn(isRunning);
    const other = await spawner.spawn({ ...isRunning, label: "more" });
    const group = await session.createBackgroundJobGroup({ waitPolicy: "wait_all", taskIds: [one.id, other.id], label: "both" });
    assert.deepEqual([group.id, group.status, group.parentSessionId], ["group_1", "running", session.id]);
    end(one.id);
    end(other.id, 3);
    const over = await session.waitBackgroundJobGroup(group.id);
    assert.deepEqual(session.summarizeBackgroundJobGroup(over), {
      ...{ groupId: "group_1", status: "completed", total: 2, completed: 1, failed: 1, cancelled: 0, pending: 0 },
      lines: ["[completed] work process_1: process_1 said", "[failed] more process_2: The command failed with exit code 3"],
    });
    assert.deepEqual(
      told.map(({ type }) => type),
      ["background_job_group_created", "background_job_group_updated", "background_job_group_completed"],
    );
    assert.deepEqual(session.getBackgroundJobGroup("group_1"), over);
    assert.deepEqual(session.listBackgroundJobGroups(), [over]);
    await assert.rejects(session.waitBackgroundJobGroup("group_7"), /Unknown background job group: group_7/);
  });

  it("that nobody else ends are ended by hand", async () => {
    const { session } = open();
    const group = await session.createBackgroundJobGroup({ waitPolicy: "manual", taskIds: [] });
    assert.equal(session.getBackgroundJobGroup(group.id)?.status, "running");
    assert.equal((await session.completeBackgroundJobGroup(group.id)).status, "completed");
  });

  it("of a process that is gone end when the session is opened again, and names are not given twice", async () => {
    const folder = newFolder();
    const { runner } = handRunner();
    const sessionStore = createFileStore(join(folder, "sessions"));
    const { session } = open({ sessionStore, backgroundTaskRunners: [runner] });
    const task = await session.createExecutionWorkspaceTaskSpawner({ kind: "system" }).spawn(isRunning);
    await session.createBackgroundJobGroup({ waitPolicy: "wait_all", taskIds: [task.id] });
    await session.createBackgroundJobGroup({ waitPolicy: "manual", taskIds: [] });
    await session.setName("kept"); // all of it is on record
    const copy = createFileStore(join(folder, "copy"));
    const filter = (path: string): boolean => !path.endsWith(".lock");
    cpSync(join(folder, "sessions"), join(folder, "copy"), { recursive: true, filter }); // as a kill would leave it
    const { session: later } = open({ sessionStore: copy, resumeSessionId: session.id });
    await later.open();
    const [ended, byHand] = later.listBackgroundJobGroups();
    assert.deepEqual([ended?.id, ended?.status, byHand?.id, byHand?.status], ["group_1", "completed", "group_2", "running"]);
    assert.deepEqual(later.summarizeBackgroundJobGroup(ended ?? assert.fail()).failed, 1);
    assert.equal((await later.createBackgroundJobGroup({ waitPolicy: "detached", taskIds: [] })).id, "group_3");
  });
});

describe("what goes on in a session", () => {
  it("is the conversation first, then tasks and groups, with whom they are for", async () => {
    const { runner, end } = handRunner();
    const { session } = open({ backgroundTaskRunners: [runner] });
    const snapshots: number[] = [];
    session.on("execution_workspace_event", ({ entries }) => snapshots.push(entries.length));
    await session.submit("hello");
    const task = await session.createExecutionWorkspaceTaskSpawner({ kind: "skill", skillId: "deploy" }).spawn(isRunning);
    await session.createBackgroundJobGroup({ waitPolicy: "wait_any", taskIds: [task.id] });
    const { entries } = session.getExecutionWorkspaceSnapshot();
    assert.deepEqual(
      entries.map(({ id, kind, status, origin }) => [id, kind, status, origin.kind]),
      [
        ["main", "main_thread", "idle", "user_prompt"],
        ["group:group_1", "background_group", "running", "system"],
        ["task:process_1", "background_task", "running", "skill"],
      ].toSorted(([one = ""], [other = ""]) => (one === "main" ? -1 : other === "main" ? 1 : entryOrder(entries, one, other))),
    );
    assert.equal(entries[0]?.preview, "One.");
    assert.equal(session.getExecutionWorkspaceEntry("task:process_1")?.origin.skillId, "deploy");
    assert.deepEqual(
      session.listExecutionWorkspaceEntries({ kind: "background_task" }).map(({ sourceId }) => sourceId),
      ["process_1"],
    );
    end(task.id);
    await session.waitBackgroundJobGroup("group_1");
    assert.ok(snapshots.length >= 4 && snapshots.at(-1) === 3, String(snapshots));
  });

  it("can be looked at: messages, output, how it ended, and the sum of a group", async () => {
    const { session, provider } = open();
    await session.submit("hello");
    const spawner = session.createExecutionWorkspaceTaskSpawner({ kind: "transport" });
    const task = await spawner.spawn({ kind: "process", label: "count", command: "seq 100; exit 2" });
    await session.createBackgroundJobGroup({ waitPolicy: "wait_all", taskIds: [task.id] });
    await session.waitBackgroundJobGroup("group_1");
    const main = await session.readExecutionWorkspaceDetail("main");
    assert.deepEqual(
      main.records.filter(({ kind }) => kind === "message").map(({ text }) => text),
      ["hello", "One."],
    );
    const first = await session.readExecutionWorkspaceDetail(`task:${task.id}`);
    assert.deepEqual(
      [first.records.length, first.records[0]?.kind, first.records[79]?.text],
      [80, "process_output", "[stdout] 80"],
    );
    const rest = await session.readExecutionWorkspaceDetail(`task:${task.id}`, first.nextCursor);
    assert.deepEqual(
      [rest.records[0]?.text, rest.records.at(-1)?.kind, rest.records.at(-1)?.text, rest.nextCursor],
      ["[stdout] 81", "error", "The command failed with exit code 2", undefined],
    );
    const group = await session.readExecutionWorkspaceDetail("group:group_1");
    assert.match(group.records[0]?.text ?? "", /^\[failed\] count process_1: The command failed/);
    await assert.rejects(session.readExecutionWorkspaceDetail("task:none"), /Unknown execution workspace entry: task:none/);
    assert.equal(provider.requests.length, 1);
  });
});

function entryOrder(entries: readonly { id: string }[], one: string, other: string): number {
  return entries.findIndex(({ id }) => id === one) - entries.findIndex(({ id }) => id === other);
}

describe("a task that asks for permission", () => {
  for (const decision of ["allow", "deny"] as const)
    it(`waits, and hears ${decision}`, async () => {
      const { runner, answers, end } = handRunner();
      const { session } = open({ backgroundTaskRunners: [runner], answersPermissions: true });
      const asked = new Promise<string>((resolve) => {
        session.on("permission_request", ({ requestId, taskId, toolName, input }) => {
          assert.deepEqual([taskId, toolName, input], ["process_1", "Deploy", { to: "production" }]);
          assert.equal(session.getBackgroundTask("process_1")?.status, "waiting_permission");
          resolve(requestId);
        });
      });
      const task = await session.createExecutionWorkspaceTaskSpawner({ kind: "system" }).spawn({ ...isRunning, command: "ask" });
      session.answerPermission(await asked, decision);
      const running = new Promise<void>((resolve) => {
        session.on("background_task_event", (event) => "task" in event && event.task.status === "running" && resolve());
      });
      await running;
      assert.deepEqual(answers, [`r1 ${decision === "allow"}`]);
      end(task.id);
    });

  it("may ask several things at once; nobody needs to answer what is left of a task that has ended", async () => {
    const { runner, answers } = handRunner();
    const { session } = open({ backgroundTaskRunners: [runner], answersPermissions: true });
    const asked: { requestId: string; signal: AbortSignal | undefined }[] = [];
    const both = new Promise<void>((resolve) => {
      session.on("permission_request", ({ requestId, taskId }) => {
        asked.push({ requestId, signal: session.signalBeside({ requestId, taskId: taskId ?? "" }) });
        if (asked.length === 2) resolve();
      });
    });
    const spawner = session.createExecutionWorkspaceTaskSpawner({ kind: "system" });
    const task = await spawner.spawn({ ...isRunning, command: "ask twice" });
    await both;
    const [first, second] = asked;
    session.answerPermission(first?.requestId ?? "", "allow");
    await eventually(() => answers.length > 0);
    assert.deepEqual([session.getBackgroundTask(task.id)?.status, answers], ["waiting_permission", ["r1 true"]]);
    await session.cancelBackgroundTask(task.id);
    assert.equal(second?.signal?.aborted, true);
    assert.throws(() => session.answerPermission(second?.requestId ?? "", "allow"));
  });

  it("is refused where nobody is there to answer", async () => {
    const { runner, answers } = handRunner();
    const { session } = open({ backgroundTaskRunners: [runner] });
    const running = new Promise<void>((resolve) => {
      session.on(
        "background_task_event",
        (event) => event.type === "background_task_updated" && event.task.status === "running" && resolve(),
      );
    });
    await session.createExecutionWorkspaceTaskSpawner({ kind: "system" }).spawn({ ...isRunning, command: "ask" });
    await running;
    assert.deepEqual(answers, ["r1 false"]);
  });
});
