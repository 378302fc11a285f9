import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { createFileStore } from "../../journal/file-store.ts";
import { createMemoryStore } from "../../journal/memory-store.ts";
import { createScriptedProvider } from "../../model/scripted.ts";
import type { AgentEvent } from "../../protocol/events.ts";
import { InteractiveSession } from "../interactive-session.ts";
import {
  formatCommandSessionReplayValidationReport,
  validateCommandSessionReplayLog,
  validateSessionReplayLogEntries,
} from "./replay-validation.ts";

const longText = "long ".repeat(20_000);

/** A session with two tool calls and a long answer, in a folder. */
async function recorded() {
  const folder = mkdtempSync(join(tmpdir(), "outrider-replay-"));
  after(() => rmSync(folder, { recursive: true, force: true }));
  const store = createFileStore(folder, { sync: "never" });
  const provider = createScriptedProvider([
    {
      calls: [
        { name: "Bash", input: { command: "echo one" } },
        { name: "Bash", input: { command: "false" } },
      ],
    },
    { text: longText },
  ]);
  const session = new InteractiveSession({
    cwd: folder,
    provider,
    sessionStore: store,
    sessionId: "s1",
    allowedTools: ["Bash"],
  });
  await session.submit("go");
  await session.shutdown();
  const lines = readFileSync(join(folder, "s1.jsonl"), "utf8").trim().split("\n");
  return {
    folder,
    store,
    events: await store.read("s1"),
    raw: lines.map((line): AgentEvent => JSON.parse(line)),
  };
}

function codesIn(events: readonly AgentEvent[]): string[] {
  return validateSessionReplayLogEntries(events).issues.map(({ code }) => code);
}

describe("what is in the way of a replay", () => {
  it("is nothing in a turn that asked no model, and every answer of one that has none on record", async () => {
    const { events } = await recorded();
    const silent = (modelCalls: number): AgentEvent[] =>
      events.flatMap((event) => (event.type === "turn.ended" ? [{ ...event, modelCalls }] : []));
    assert.deepEqual(validateSessionReplayLogEntries(silent(0)).issues, []);
    assert.match(
      validateSessionReplayLogEntries(silent(2)).issues[0]?.message ?? "",
      /asked 2 times, and 0 of its answers are on record/,
    );
  });

  it("is told in the order of the events", async () => {
    const { events } = await recorded();
    const open = events.filter(({ type }) => type !== "tool.ended");
    const broken = open.map((event) => (event.type === "turn.ended" ? { ...event, modelCalls: 9 } : event));
    const { ok, issues } = validateSessionReplayLogEntries(broken);
    const numbers = issues.map(({ seq }) => seq);
    assert.equal(ok, false);
    assert.deepEqual(issues.map(({ code }) => code).filter((code) => code === "TOOL_RESULT_MISSING").length, 2);
    assert.ok(issues.length > 2);
    assert.deepEqual(
      numbers,
      numbers.toSorted((one, other) => one - other),
    );
  });
});

/** The events with another message in the first answer. */
function withMessage(events: readonly AgentEvent[], message: unknown): AgentEvent[] {
  const index = events.findIndex(({ type }) => type === "message.ended");
  return events.map((event, at) => (at === index ? ({ ...event, message } as AgentEvent) : event));
}

describe("validateSessionReplayLogEntries", () => {
  it("finds nothing in a whole session, nor in one that was stopped by its limit or failed", async () => {
    const { events } = await recorded();
    assert.deepEqual(validateSessionReplayLogEntries(events), { ok: true, issues: [] });
    for (const options of [{ maxTurns: 1 }, {}]) {
      const provider = createScriptedProvider([
        { calls: [{ name: "Glob", input: { pattern: "*" } }] },
        { fail: { code: "provider-bad-request", message: "no" } },
      ]);
      const store = createMemoryStore();
      const session = new InteractiveSession({ cwd: tmpdir(), provider, sessionStore: store, ...options });
      const outcome = await session.submit("go");
      await session.shutdown();
      assert.notEqual(outcome.type, "completed");
      assert.deepEqual(codesIn(await store.read(session.id)), []);
    }
  });

  it("misses answers that a turn counts", async () => {
    const { events } = await recorded();
    const lost = events.filter((event) => event.type !== "message.ended" || event.message.finish === "tool-calls");
    const turn = events.find(({ type }) => type === "turn.ended");
    assert.deepEqual(validateSessionReplayLogEntries(lost).issues, [
      {
        code: "PROVIDER_RESPONSE_RAW_MISSING",
        message: "The model was asked 2 times, and 1 of its answers is on record",
        seq: turn?.seq,
        turnId: turn?.turnId,
      },
    ]);
  });

  it("counts the answers of a subagent for the subagent, also when its turn is over", () => {
    const envelope = { at: "", sessionId: "s" };
    const answer = { type: "message.ended", ...envelope, message: { content: [] } };
    const end = { ...envelope, modelCalls: 1, outcome: { type: "completed", text: "" } };
    const told = [
      { ...answer, seq: 1, turnId: "t1", taskId: "k1" },
      { ...end, type: "turn.ended", seq: 2, turnId: "t1" },
      { ...end, type: "task.ended", seq: 3, taskId: "k1" },
    ] as unknown as AgentEvent[];
    assert.deepEqual(
      validateSessionReplayLogEntries(told).issues.map(({ code, seq }) => [code, seq]),
      [["PROVIDER_RESPONSE_RAW_MISSING", 2]],
    );
  });

  it("misses what an answer said, and what only its provider understands", async () => {
    const { events } = await recorded();
    const opaque = (part: object): unknown => ({ content: [{ type: "opaque", ...part }] });
    assert.deepEqual(
      [undefined, {}, opaque({}), opaque({ dialect: "x" }), opaque({ dialect: "x", value: null })].map((message) =>
        codesIn(withMessage(events, message)),
      ),
      [
        ["PROVIDER_RESPONSE_NORMALIZED_MISSING"],
        ["PROVIDER_RESPONSE_NORMALIZED_MISSING"],
        ["PROVIDER_NATIVE_RAW_PAYLOAD_MISSING"],
        ["PROVIDER_NATIVE_RAW_PAYLOAD_MISSING"],
        [],
      ],
    );
  });

  it("misses the result of a tool that was started", async () => {
    const { events } = await recorded();
    const ended = events.filter((event) => event.type === "tool.ended");
    const started = events.find((event) => event.type === "tool.started" && event.callId === ended[1]?.callId);
    assert.deepEqual(validateSessionReplayLogEntries(events.filter((event) => event !== ended[1])).issues, [
      {
        code: "TOOL_RESULT_MISSING",
        message: "Bash was started, and its result is not on record",
        seq: started?.seq,
        turnId: started?.turnId,
        callId: ended[1]?.callId,
      },
    ]);
  });

  it("tells a text that was not put back, one that is lost, and a reference that names none", async () => {
    const { events, raw, folder, store } = await recorded();
    // Twice: the answer, and the outcome of the turn that repeats it.
    assert.deepEqual(codesIn(raw), ["UNRESOLVED_REPLAY_PAYLOAD", "UNRESOLVED_REPLAY_PAYLOAD"]);
    rmSync(join(folder, "blobs"), { recursive: true });
    const { entryCount, validation } = await validateCommandSessionReplayLog({ store, sessionId: "s1" });
    assert.deepEqual(
      [entryCount, validation.issues.map(({ code }) => code)],
      [events.length, ["UNRESOLVED_REPLAY_PAYLOAD", "UNRESOLVED_REPLAY_PAYLOAD"]],
    );
    assert.match(validation.issues[0]?.message ?? "", /^This text of 100000 bytes could not be put back: blobs\/\S+ is missing$/);
    const broken = JSON.parse(JSON.stringify(raw).replaceAll(/"sha256":"[0-9a-f]{60}/g, '"sha256":"'));
    assert.deepEqual(codesIn(broken), ["PAYLOAD_REFERENCE_INVALID", "PAYLOAD_REFERENCE_INVALID"]);
  });
});

describe("formatCommandSessionReplayValidationReport", () => {
  it("says in a headline whether the session can be replayed, and what is in the way", async () => {
    const { store, events } = await recorded();
    const logFile = "s1.jsonl";
    const good = await validateCommandSessionReplayLog({ store, sessionId: "s1", logFile });
    const issue = { code: "TOOL_RESULT_MISSING", message: "it is missing", seq: 7 } as const;
    assert.deepEqual(
      [good, { entryCount: 9, validation: { ok: false, issues: [issue] } }].map(formatCommandSessionReplayValidationReport),
      [
        `The session can be replayed\nJournal: s1.jsonl\nEvents: ${events.length}`,
        "The session cannot be replayed as it was: 1 issue\nEvents: 9\n  event 7: TOOL_RESULT_MISSING: it is missing",
      ],
    );
  });
});
