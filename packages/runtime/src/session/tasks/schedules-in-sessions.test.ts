import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { createFileStore } from "../../journal/file-store.ts";
import { createScriptedProvider, type ScriptedReply } from "../../model/scripted.ts";
import type { AgentEvent } from "../../protocol/events.ts";
import { InteractiveSession } from "../interactive-session.ts";
import type { SessionOptions } from "../session-options.ts";

const top = mkdtempSync(join(tmpdir(), "outrider-schedules-"));
after(() => rmSync(top, { recursive: true, force: true }));
/** A schedule keeps no process alive. */
const alive = setInterval(() => {}, 1_000);
after(() => clearInterval(alive));
let folders = 0;
const newFolder = (): string => mkdtempSync(join(top, `${++folders}-`));
const call = (name: string, input: Record<string, unknown>): ScriptedReply => ({ calls: [{ name, input }] });
const done: ScriptedReply = { text: "Done." };

function open(replies: ScriptedReply[], options: Partial<SessionOptions> = {}) {
  const provider = createScriptedProvider(replies);
  const cwd = newFolder();
  const session = new InteractiveSession({ cwd, provider, schedules: true, allowedTools: ["Bash", "Monitor"], ...options });
  after(() => session.shutdown());
  const events: AgentEvent[] = [];
  const waiting = new Set<() => void>();
  void (async () => {
    for await (const event of session.events({ capacity: 10_000 })) {
      events.push(event);
      for (const look of waiting) look();
    }
  })().catch(() => {});
  const until = (test: (events: readonly AgentEvent[]) => boolean): Promise<void> =>
    new Promise((resolve) => {
      const look = (): void => {
        if (!test(events)) return;
        waiting.delete(look);
        resolve();
      };
      waiting.add(look);
      look();
    });
  return { session, provider, events, until, cwd };
}

const ends = (events: readonly AgentEvent[]): string[] =>
  events.flatMap((event) => (event.type === "turn.ended" ? [event.outcome.text] : []));
const results = (events: readonly AgentEvent[]): string[] =>
  events.flatMap((event) =>
    event.type === "tool.ended" ? [event.result.content.map((part) => (part.type === "text" ? part.text : "")).join("")] : [],
  );
const lastPrompt = (provider: ReturnType<typeof createScriptedProvider>): string =>
  JSON.stringify(provider.requests.at(-1)?.messages.at(-1));

describe("what a model plans", () => {
  it("comes in a turn of its own, and again", async () => {
    const { session, provider, events, until } = open([
      call("CronCreate", { cron: "every 1s", prompt: "look at the queue" }),
      done,
      { text: "First look." },
      { text: "Second look." },
      { text: "More." },
      { text: "More." },
      { text: "More." },
    ]);
    await session.submit("plan it");
    assert.match(results(events)[0] ?? "", /^Planned as scheduled_1; it comes next at \d{4}-/);
    await until((all) => ends(all).includes("Second look."));
    assert.match(lastPrompt(provider), /<task-id>scheduled_1<\/task-id>.*<status>due<\/status>.*was due at .*look at the queue/);
    const turn = events.findLast((event) => event.type === "turn.started");
    assert.deepEqual(turn?.tasks, ["scheduled_1"]);
    assert.equal(session.getBackgroundTask("scheduled_1")?.status, "sleeping");
    await session.cancelBackgroundTask("scheduled_1");
  });

  it("is listed and ended by name; what is no schedule is refused with what would be one", async () => {
    const { session, events } = open([
      call("CronList", {}),
      call("CronCreate", { cron: "0 9 * * 1-5", prompt: "stand up\nand more" }),
      call("CronCreate", { cron: "often", prompt: "x" }),
      call("CronCreate", { cron: "2020-01-01T00:00:00Z", prompt: "x", recurring: false }),
      call("CronList", {}),
      call("CronDelete", { id: "scheduled_9" }),
      call("CronDelete", { id: "scheduled_1" }),
      call("CronList", {}),
      done,
    ]);
    await session.submit("go");
    const [none, , wrong, past, listed, unknown, deleted, empty] = results(events);
    assert.equal(none, "Nothing is planned.");
    assert.match(wrong ?? "", /"often" is no schedule .*five fields of cron, or every 10m/);
    assert.match(past ?? "", /never comes: that time is over/);
    assert.match(listed ?? "", /^scheduled_1 \(0 9 \* \* 1-5\) comes next at \d{4}-.*: stand up$/);
    assert.match(unknown ?? "", /"scheduled_9" is not planned. There are: scheduled_1\./);
    assert.equal(deleted, "scheduled_1 does not come any more.");
    const told = events.flatMap((event) => (event.type === "tool.ended" && event.details?.told ? [event.details.told] : []));
    const [, made, jobs, gone] = told;
    const { nextFireAt, ...facts } = made ?? {};
    assert.equal(typeof nextFireAt, "number");
    assert.deepEqual(facts, { id: "scheduled_1", humanSchedule: "0 9 * * 1-5", recurring: true, durable: true });
    assert.deepEqual(jobs, { jobs: [{ ...made, cron: "0 9 * * 1-5", prompt: "stand up\nand more" }] });
    assert.deepEqual(gone, { id: "scheduled_1" });
    assert.equal(empty, "Nothing is planned.");
  });

  it("a wake-up comes once and the end waits for it; it can be taken back", async () => {
    const { session, events } = open([
      call("ScheduleWakeup", { delaySeconds: 3000, reason: "later" }),
      call("ScheduleWakeup", { stop: true }),
      call("ScheduleWakeup", {}),
      call("ScheduleWakeup", { delaySeconds: 1, reason: "the build" }),
      done,
      { text: "Awake." },
    ]);
    await session.submit("go");
    assert.deepEqual(await session.finishBackgroundTasks({ processMs: 0 }), { stopped: [] });
    assert.deepEqual(ends(events), ["Done.", "Awake."]);
    assert.match(results(events)[1] ?? "", /^Taken back: scheduled_1\.$/);
    assert.match(results(events)[2] ?? "", /delaySeconds says when: it is missing/);
    assert.equal(session.getBackgroundTask("scheduled_2")?.status, "completed");
  });

  it("is not offered where the session does not stay open, unless it is named", async () => {
    const { session, provider } = open([done], { schedules: false });
    await session.submit("go");
    assert.ok(!provider.requests[0]?.tools.some(({ name }) => name.startsWith("Cron")));
    const named = open([done], { schedules: false, builtinTools: ["CronList", "Read"] });
    await named.session.submit("go");
    assert.deepEqual(
      named.provider.requests[0]?.tools.map(({ name }) => name),
      ["Read", "CronList"],
    );
  });

  it("goes on when the session is opened again, and says what was missed", async () => {
    const sessionStore = createFileStore(join(newFolder(), "sessions"));
    let now = Date.parse("2026-03-01T00:00:30.000Z");
    const options = { sessionStore, now: () => now };
    const { session, events, until } = open([call("CronCreate", { cron: "*/5 * * * *", prompt: "look" }), done], options);
    await session.submit("plan it");
    await session.finishBackgroundTasks({ processMs: 0 });
    await until((all) => all.some((event) => event.type === "warning.raised"));
    const warned = events.find((event) => event.type === "warning.raised");
    assert.equal(warned?.message, "Schedules come only while the session is open: scheduled_1 (*/5 * * * *: look)");
    await session.shutdown();
    assert.ok(!events.some((event) => event.type === "background.ended"));

    now = Date.parse("2026-03-01T00:19:59.950Z");
    const later = open([{ text: "Looked." }], { ...options, resumeSessionId: session.id });
    await later.session.open();
    const task = later.session.getBackgroundTask("scheduled_1");
    assert.deepEqual([task?.status, task?.nextFireAt], ["sleeping", "2026-03-01T00:20:00.000Z"]);
    now = Date.parse("2026-03-01T00:20:00.000Z");
    await later.until((all) => ends(all).includes("Looked."));
    assert.match(lastPrompt(later.provider), /was due at 2026-03-01T00:20:00.000Z; it was missed 3 times before/);
  });

  it("for a moment comes once without being told so, and when the session is opened again if it was missed", async () => {
    const sessionStore = createFileStore(join(newFolder(), "sessions"));
    let now = Date.parse("2026-03-01T00:00:00.000Z");
    const options = { sessionStore, now: () => now };
    const { session, events } = open(
      [
        call("CronCreate", { cron: "2026-03-01T09:00:00Z", prompt: "good morning" }),
        call("ScheduleWakeup", { stop: true }),
        done,
      ],
      options,
    );
    await session.submit("plan it");
    assert.deepEqual(results(events), [
      "Planned as scheduled_1; it comes once at 2026-03-01T09:00:00.000Z.",
      "No wake-up was planned.",
    ]);
    await session.shutdown();

    now = Date.parse("2026-03-01T11:00:00.000Z");
    const later = open([{ text: "Good morning." }], { ...options, resumeSessionId: session.id });
    await later.session.open();
    await later.until((all) => ends(all).includes("Good morning."));
    assert.match(lastPrompt(later.provider), /was due at 2026-03-01T09:00:00.000Z.*good morning/);
    assert.equal(later.session.getBackgroundTask("scheduled_1")?.status, "completed");
  });

  it("has not come where the session was closed before the model was told", async () => {
    const sessionStore = createFileStore(join(newFolder(), "sessions"));
    let now = Date.parse("2026-03-01T00:00:00.000Z");
    const options = { sessionStore, now: () => now };
    const { session, until } = open([done], { ...options, wakes: false });
    await session.submit("hello");
    const spawner = session.createExecutionWorkspaceTaskSpawner({ kind: "transport" });
    const cronExpression = "2026-03-01T00:00:00.050Z";
    await spawner.spawn({ kind: "scheduled", label: "soon", cronExpression, agentInstruction: "tick" });
    now += 1_000;
    const isDue = (event: AgentEvent): boolean => event.type === "background.updated" && event.task.status === "running";
    await until((all) => all.some(isDue));
    await session.shutdown();
    const later = open([{ text: "Heard." }], { ...options, resumeSessionId: session.id });
    await later.session.open();
    await later.until((all) => ends(all).includes("Heard."));
    assert.match(lastPrompt(later.provider), /<status>due<.*tick/);
  });

  it("can be paused and resumed by a program", async () => {
    const { session } = open([]);
    const spawner = session.createExecutionWorkspaceTaskSpawner({ kind: "transport" });
    const { id } = await spawner.spawn({
      kind: "scheduled",
      label: "tick",
      cronExpression: "every 1h",
      agentInstruction: "tick",
    });
    await session.pauseBackgroundTask(id);
    assert.equal(session.getBackgroundTask(id)?.status, "paused");
    await session.resumeBackgroundTask(id);
    assert.equal(session.getBackgroundTask(id)?.status, "sleeping");
  });

  it("a program's schedule may run a command, whose end the model hears with what to do", async () => {
    let now = Date.parse("2026-03-01T00:00:00.000Z");
    const { session, until, events, provider } = open([{ text: "Heard." }], { now: () => now });
    const spawner = session.createExecutionWorkspaceTaskSpawner({ kind: "transport" });
    const at = "2026-03-01T00:00:00.100Z";
    const schedule = {
      kind: "scheduled",
      label: "check",
      cronExpression: at,
      recurring: false,
      command: "echo checked",
    } as const;
    await spawner.spawn(schedule);
    now += 1_000;
    await until((all) => ends(all).includes("Heard."));
    assert.match(lastPrompt(provider), /Background command \\"check\\" completed/);
    assert.ok(events.some((event) => event.type === "background.ended" && event.task.result?.output === "checked\n"));
  });
});

describe("a model that waits for something", () => {
  it("is woken by a line that a program prints, while that goes on", async () => {
    const command = "echo noise; echo ERROR one; while [ ! -e go ]; do sleep 0.05; done";
    const { session, provider, until, cwd } = open([
      call("Monitor", { description: "errors", command, pattern: "ERROR" }),
      done,
      { text: "An error." },
      { text: "It ended." },
    ]);
    await session.submit("watch");
    await until((all) => ends(all).includes("An error."));
    assert.match(lastPrompt(provider), /<status>running<\/status>.*<event>\\nERROR one\\n<\/event>/);
    writeFileSync(join(cwd, "go"), "");
    await until((all) => ends(all).includes("It ended."));
  });

  it("is woken by the change of a file, also one that was not there", async () => {
    const { session, provider, until, cwd } = open([
      call("Monitor", { description: "result", path: "result.txt" }),
      done,
      { text: "It changed." },
      done,
    ]);
    await session.submit("watch");
    writeFileSync(join(cwd, "other.txt"), "x");
    writeFileSync(join(cwd, "result.txt"), "x");
    await until((all) => ends(all).includes("It changed."));
    assert.match(lastPrompt(provider), /changed: .*result\.txt/);
    assert.ok(!lastPrompt(provider).includes("other.txt"));
    await session.cancelBackgroundTask("process_1");
  });

  for (const [what, input, expected] of [
    ["neither", { description: "x" }, /Give either a command or a path to watch/],
    ["both", { description: "x", command: "true", path: "y" }, /Give either a command or a path to watch/],
    ["a folder that is not there", { description: "x", path: "no/such/file" }, /It cannot be watched: There is no folder/],
  ] as const)
    it(`is told when it names ${what}`, async () => {
      const { session, events } = open([call("Monitor", input), done]);
      await session.submit("watch");
      assert.match(results(events)[0] ?? "", expected);
    });
});
