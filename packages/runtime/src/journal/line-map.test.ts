import assert from "node:assert/strict";
import { copyFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import type { AgentEvent, EventBody } from "../protocol/events.ts";
import { noUsage, type ToolResultPart, userText } from "../protocol/content.ts";
import { createFileStore } from "./file-store.ts";
import { followConversation } from "./kept-conversation.ts";
import type { StoredEvents } from "./store.ts";
import { Transcript } from "./transcript.ts";

const folder = mkdtempSync(join(tmpdir(), "outrider-line-map-"));
after(() => rmSync(folder, { recursive: true, force: true }));
let folders = 0;

/** Turns of one call each: seven lines a turn. */
function* turns(count: number, from = 0): Generator<EventBody & { taskId?: string }> {
  for (let turn = from; turn < from + count; turn++) {
    const callId = `call-${turn}`;
    const call = { type: "tool-call", callId, name: "Read", input: { file: `ä${turn}` } } as const;
    const result: ToolResultPart = {
      type: "tool-result",
      callId,
      name: "Read",
      content: [text(`line ${turn}\n`)],
      isError: false,
    };
    yield { type: "turn.started", input: userText(`prompt ${turn}`) };
    yield answer([call]);
    yield { type: "tool.started", callId, name: "Read", input: call.input };
    yield { type: "warning.raised", message: "of a subagent", taskId: "task" };
    yield { type: "tool.ended", callId, name: "Read", status: "ok", result, durationMs: 1 };
    yield answer([text(`answer ${turn}`)]);
    yield { type: "context.updated", usedTokens: turn, maxTokens: 1000 };
  }
}

const text = (words: string) => ({ type: "text", text: words }) as const;

function answer(content: EventBody<"message.ended">["message"]["content"]): EventBody<"message.ended"> {
  const message = { role: "assistant", content, model: { provider: "p", id: "m" }, finish: "stop", usage: noUsage } as const;
  return { type: "message.ended", messageId: "m", message, durationMs: 1, requestedModel: "m" };
}

async function write(directory: string, bodies: Iterable<EventBody & { taskId?: string }>, id = "s"): Promise<void> {
  const journal = await createFileStore(directory, { sync: "never" }).open(id);
  let seq = journal.events.lastSeq;
  const events = [...bodies].map(({ taskId, type, ...fields }): AgentEvent => {
    const envelope = { seq: ++seq, at: "2026-01-01T00:00:00.000Z", sessionId: id, turnId: `turn-${seq}` };
    return { ...envelope, ...(taskId && { taskId }), type, ...fields } as AgentEvent;
  });
  await journal.append(events);
  await journal.close();
}

const mapped = (directory: string): boolean => existsSync(join(directory, "s.lines"));

function newFolder(): string {
  return mkdtempSync(join(folder, `${folders++}-`));
}

/** All that a session takes from a journal that it opens. */
async function look(directory: string, id = "s") {
  const store = createFileStore(directory, { sync: "never", now: () => 0 });
  const journal = await store.open(id);
  const transcript = new Transcript();
  const { turnIds, compactions, count } = followConversation(journal.events, transcript);
  const { open: _, ...state } = transcript.state; // it also knows when calls began that have ended, where it was kept before
  const seen = {
    ...{ state, turnIds, compactions, count, events: [...journal.events], warnings: journal.warnings },
    ...{ conversation: [...journal.events.conversation()], lastSeq: journal.events.lastSeq },
  };
  await journal.close();
  return { ...seen, isKept: hasKept(journal.events) };
}

const hasKept = (events: StoredEvents): boolean => events.kept?.() !== undefined;

/** The same without its map. */
async function lookWithout(directory: string) {
  const bare = newFolder();
  copyFileSync(join(directory, "s.jsonl"), join(bare, "s.jsonl"));
  return await look(bare);
}

/** As it is, whatever its map says; the files are put back. */
async function sameAsWithout(directory: string, message: string): Promise<boolean> {
  const own = newFolder();
  for (const name of ["s.jsonl", "s.lines"]) copyFileSync(join(directory, name), join(own, name));
  const { isKept, ...withMap } = await look(own);
  const { isKept: _, ...bare } = await lookWithout(directory);
  assert.deepEqual(withMap, bare, message);
  return isKept;
}

describe("the map of a log", () => {
  it("is written when a log has grown by a thousand lines, and for no shorter one", async () => {
    const directory = newFolder();
    await write(directory, turns(100));
    assert.equal(mapped(directory), false);
    await write(directory, turns(50, 100));
    assert.equal(mapped(directory), true, "lines that others wrote count");
    const before = readFileSync(join(directory, "s.lines"));
    await write(directory, turns(10, 150));
    assert.deepEqual(readFileSync(join(directory, "s.lines")), before);
    assert.equal(await sameAsWithout(directory, "with lines behind it"), true);
    await write(directory, turns(200, 160));
    assert.notDeepEqual(readFileSync(join(directory, "s.lines")), before);
    assert.equal(await sameAsWithout(directory, "mapped from its own map"), true);
  });

  it("says of a call that is open at its end what the log says", async () => {
    const directory = newFolder();
    const [, asked, started, , ended] = turns(1, 500);
    assert.ok(asked && started && ended);
    await write(directory, [...turns(200), asked, started]);
    assert.equal(await sameAsWithout(directory, "open"), true);
    await write(directory, [ended]);
    assert.equal(await sameAsWithout(directory, "ended"), true);
    const { messages } = (await look(directory)).state;
    assert.deepEqual(messages.at(-1), { role: "tool", content: [ended.type === "tool.ended" && ended.result] });
  });

  it("is not believed where the log or the map was changed, wherever that is", async () => {
    const directory = newFolder();
    await write(directory, turns(150));
    await write(directory, turns(3, 150));
    const log = readFileSync(join(directory, "s.jsonl"));
    const map = readFileSync(join(directory, "s.lines"));
    let believed = 0;
    for (let round = 0; round < 60; round++) {
      const name = round % 2 ? "s.jsonl" : "s.lines";
      const bytes = Buffer.from(round % 2 ? log : map);
      const place = Math.floor((bytes.length * (round * 37 + 11)) / (60 * 37)) % bytes.length;
      bytes[place] = (bytes[place] ?? 0) ^ (1 << (round % 8));
      writeFileSync(join(directory, "s.jsonl"), log);
      writeFileSync(join(directory, "s.lines"), map);
      writeFileSync(join(directory, name), bytes);
      if (await sameAsWithout(directory, `${name} at ${place}`)) believed++;
    }
    assert.ok(believed <= 2, "only what is changed behind the mapped lines");
  });

  it("is not believed for a log that is shorter, or another one", async () => {
    const directory = newFolder();
    await write(directory, turns(150));
    const whole = readFileSync(join(directory, "s.jsonl"));
    for (const length of [whole.length - 1, whole.length - 200, 5_000, 0]) {
      writeFileSync(join(directory, "s.jsonl"), whole);
      truncateSync(join(directory, "s.jsonl"), length);
      assert.equal(await sameAsWithout(directory, `${length} bytes`), false);
    }
    const other = newFolder();
    await write(other, turns(160, 7));
    copyFileSync(join(directory, "s.lines"), join(other, "s.lines"));
    assert.equal(await sameAsWithout(other, "of another log"), false);
  });

  it("is no longer believed for what is changed while the session is open", async () => {
    const directory = newFolder();
    const path = join(directory, "s.jsonl");
    await write(directory, turns(2_000));
    const journal = await createFileStore(directory, { sync: "never" }).open("s");
    const log = readFileSync(path);
    const [first] = journal.events.of("turn.started");
    assert.equal(first?.seq, 1);
    log[log.length - 1_000] = (log[log.length - 1_000] ?? 0) ^ 1;
    writeFileSync(path, log);
    assert.throws(() => [...journal.events], { code: "storage-failed" });
    await journal.close();
  });

  it("goes with the session, is no session, and serves a copy of it", async () => {
    const directory = newFolder();
    await write(directory, turns(150));
    const store = createFileStore(directory, { sync: "never" });
    assert.deepEqual(await store.list(), ["s"]);
    const source = await look(directory);
    await store.fork("s", "copy");
    const journal = await store.open("copy");
    assert.equal(hasKept(journal.events), true);
    const transcript = new Transcript();
    followConversation(journal.events, transcript);
    assert.deepEqual(transcript.state.messages, source.state.messages);
    await journal.close();
    await store.fork("s", "early", { at: 70 });
    const early = await store.open("early");
    assert.equal(hasKept(early.events), false, "the map tells of more than was copied");
    await early.close();
    for (const id of ["s", "copy", "early"]) await store.remove(id);
    assert.deepEqual(readdirSync(directory), []);
  });

  it("keeps no conversation that went back, or that has texts in files of their own", async () => {
    const back = newFolder();
    await write(back, [...turns(150), { type: "session.rewound", to: 100 }]);
    assert.equal(await sameAsWithout(back, "went back"), false);
    const long = newFolder();
    await write(long, [...turns(150), { type: "turn.started", input: userText("x".repeat(70_000)) }]);
    assert.equal((await look(long)).isKept, false);
    assert.equal((await look(long)).state.messages.length, 601);
  });

  it("finds every long text of a long log, wherever in it they stand", async () => {
    const directory = newFolder();
    const long = (letter: string): EventBody => ({ type: "turn.started", input: userText(letter.repeat(70_000)) });
    await write(directory, [long("a"), ...turns(400), long("b"), ...turns(400, 400), long("c")]);
    assert.equal(mapped(directory), true);
    const prompts = (await look(directory)).events.flatMap((event) =>
      event.type === "turn.started" ? [event.input.content] : [],
    );
    assert.deepEqual(
      [0, 401, 802].map((place) => prompts[place]),
      ["a", "b", "c"].map((letter) => [text(letter.repeat(70_000))]),
    );
  });
});
