import assert from "node:assert/strict";
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import fc from "fast-check";
import type { AgentEvent } from "../protocol/events.ts";
import { toLine } from "../util/jsonl.ts";
import { createFileStore } from "./file-store.ts";
import { readJournalFile } from "./mend.ts";
import { sealLines } from "./seal-lines.ts";

const folder = mkdtempSync(join(tmpdir(), "outrider-recover-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const path = join(folder, "s1.jsonl");
const store = createFileStore(folder, { sync: "never", now: () => Date.UTC(2026, 0, 2) });

const events = [started(1, 2), ...[2, 5, 6, 7].map(warning)];
const oldEvents = [started(1, 1), ...events.slice(1)];
const whole = sealLines(
  events.map((event) => JSON.stringify(event)),
  0,
).bytes;
const lines = whole.toString().split(/(?<=\n)/);
const kept = "s1.jsonl.damaged-2026-01-02T00-00-00.000Z";

describe("opening a log", () => {
  it("cut at any byte gives the events that are whole, and goes on after them", async () => {
    for (let cut = 0; cut <= whole.length; cut++) {
      const { found, warnings } = await openAfter(whole.subarray(0, cut));
      // An event that lacks nothing but its line end is whole.
      const expected = lines.filter((_, index) => lines.slice(0, index + 1).join("").length - 1 <= cut).length;
      assert.deepEqual(found, events.slice(0, expected));
      const ends = [0, ...lines.map((_, index) => lines.slice(0, index + 1).join("").length)];
      const clean = ends.includes(cut) || ends.includes(cut + 1);
      assert.equal(warnings.length, clean ? 0 : 1, `${cut}`);
    }
    assert.deepEqual(readdirSync(folder), ["s1.jsonl"]); // what a cut-off write leaves is not worth keeping
  });

  it("with any byte changed gives a prefix, keeps what it drops, and goes on", async () => {
    for (let at = 0; at < whole.length; at += 3) {
      const damaged = Buffer.from(whole);
      damaged[at] = (damaged[at] ?? 0) ^ (1 << (at % 8));
      const { found, dropped } = await openAfter(damaged);
      const line = whole.subarray(0, at).toString().split("\n").length - 1;
      // A damaged LF joins two lines into none; one that was not the line's own is a line end too many.
      assert.ok(found.length >= line - 1 && found.length <= line + 1, `byte ${at}: ${found.length} events`);
      assert.deepEqual(found, events.slice(0, found.length));
      if (dropped) assert.ok(damaged.subarray(-dropped.length).equals(dropped));
    }
  });

  it("passes over garbage between lines when nothing was lost with it", async () => {
    for (const garbage of [
      "not json\n",
      "\0\0\0\0\n",
      `${lines[0]}`,
      "{}\n[]\n",
      '{"seq":3,"type":"x","sessionId":"s1"}\n',
      `${"x".repeat(3_000_000)}\n`,
    ]) {
      const { found, warnings } = await openAfter([lines[0], lines[1], garbage, ...lines.slice(2)].join(""));
      assert.deepEqual(found, events);
      assert.deepEqual(warnings, [
        `Passed over ${garbage.length} damaged bytes at line 3 of the journal; no event was lost with them`,
      ]);
    }
  });

  it("names three places with garbage, and counts the others", async () => {
    const { found, warnings } = await openAfter(lines.map((line) => `x\n${line}`).join(""));
    assert.deepEqual(found, events);
    assert.deepEqual([warnings.length, warnings.at(-1)], [4, `The same at ${lines.length - 3} more places of the journal`]);
  });

  it("takes no other bytes in front for a byte order mark", async () => {
    for (const bytes of [
      [0xef, 0xbb, 0x61],
      [0xef, 0x61, 0xbf],
      [0x61, 0xbb, 0xbf],
    ]) {
      const { found } = await openAfter(Buffer.concat([Buffer.from(bytes), whole]));
      assert.deepEqual(found, []);
    }
  });

  it("keeps an end beside the log that no write of ours has begun, also without a line end", async () => {
    for (const text of ["garbage", `${whole}garbage`]) {
      const { found, warnings, dropped } = await openAfter(text);
      assert.deepEqual([found, dropped?.toString()], [text === "garbage" ? [] : events, "garbage"]);
      assert.equal(warnings.at(-1)?.includes(kept), true);
    }
  });

  it("leaves no file open", async () => {
    if (process.platform !== "linux") return;
    writeFileSync(path, whole);
    const files = (): number => readdirSync("/proc/self/fd").length;
    const before = files();
    for (let times = 0; times < 20; times++) await createFileStore(folder, { sync: "never" }).read("s1");
    await createFileStore(folder).summaries?.();
    assert.ok(files() < before + 10);
  });

  it("passes over a line that is too long to be held", async () => {
    for (const name of readdirSync(folder)) rmSync(join(folder, name));
    const hole = 130 * 2 ** 20;
    writeFileSync(path, lines.slice(0, 2).join(""));
    truncateSync(path, statSync(path).size + hole); // takes no room on the disk
    appendFileSync(path, `\n${lines.slice(2).join("")}`);
    const { events: found, warnings } = await readJournalFile(path);
    assert.deepEqual([found, warnings.length], [events, 1]);
  });

  it("ends at a line that is missing, doubled with a change, or out of place, and keeps the rest beside the log", async () => {
    const [first, second, third, ...rest] = lines;
    for (const [text, whole] of [
      [[first, third, ...rest], 1],
      [[first, third, second, ...rest], 2],
      [[second, first, third, ...rest], 1],
      [[first, second?.replace("event 2", "event 9"), third, ...rest], 1],
    ] as const) {
      const { found, warnings, dropped } = await openAfter(text.join(""));
      assert.deepEqual(found, whole === 1 ? events.slice(0, 1) : events.slice(0, 2));
      assert.equal(warnings.at(-1)?.includes(kept), true);
      assert.ok(text.join("").endsWith(dropped?.toString() ?? "?"));
    }
  });

  it("does not mind a byte order mark, CRLF, blank lines and a lost last line end", async () => {
    const text = whole.toString();
    for (const changed of [
      `\ufeff${text}`,
      text.replaceAll("\n", "\r\n"),
      text.replaceAll("\n", "\n\n"),
      text.trimEnd(),
      `${text}  `,
    ]) {
      const { found, warnings } = await openAfter(changed);
      assert.deepEqual([found, warnings], [events, []]);
    }
  });

  it("reads logs of version 1, goes on with checksums, and then wants them", async () => {
    const old = oldEvents.map(toLine);
    assert.deepEqual((await openAfter(old.join(""))).found, oldEvents);
    const grown = [...old, sealLines([JSON.stringify(warning(8))], 0).bytes.toString()];
    assert.deepEqual((await openAfter(grown.join(""))).found, [...oldEvents, warning(8)]);
    assert.deepEqual((await openAfter([...grown, toLine(warning(9))].join(""))).found, [...oldEvents, warning(8)]);
  });

  it("of version 1 passes over repetitions, and over garbage only where the numbers show no hole", async () => {
    const [one, two, five, six, seven] = oldEvents.map(toLine);
    const repeated = await openAfter([one, two, one, two, five, six, seven].join(""));
    assert.deepEqual(
      [repeated.found, repeated.warnings],
      [oldEvents, ["Passed over 2 lines of the journal that repeat earlier ones"]],
    );
    assert.deepEqual((await openAfter([one, "garbage\n", two, five, six, seven].join(""))).found, oldEvents);
    const unnumbered = '{"seq":"3","at":"","sessionId":"s1","type":"warning.raised","message":"none of ours"}\n';
    assert.deepEqual((await openAfter([one, two, unnumbered, five].join(""))).found, oldEvents.slice(0, 2));
    assert.deepEqual((await openAfter([one, two, "garbage\n", five, six].join(""))).found, oldEvents.slice(0, 2));
    assert.deepEqual((await openAfter([one, six, two, five, seven].join(""))).found, [started(1, 1), warning(6), warning(7)]);
  });

  it("does not take a line of version 2 that has lost its checksum for version 1", async () => {
    assert.deepEqual((await openAfter(events.map(toLine).join(""))).found, []);
    assert.deepEqual((await openAfter(whole.toString().replaceAll("crc", "cbc"))).found, []);
  });

  it("says so in a typed way when somebody has sealed a line that is no JSON", async () => {
    const forged = '{"seq":2,"at":"","sessionId":"s1","type":"warning.raised",oops}';
    for (const name of readdirSync(folder)) rmSync(join(folder, name));
    writeFileSync(path, sealLines([JSON.stringify(started(1, 2)), forged], 0).bytes);
    await assert.rejects(store.read("s1"), { code: "storage-failed", message: /right checksum/ });
  });

  it("refuses a format it does not know, and leaves the file alone", async () => {
    const future = sealLines([JSON.stringify({ ...warning(1), type: "session.started", journalVersion: 99 })], 0).bytes;
    writeFileSync(path, future);
    await assert.rejects(store.open("s1"), { code: "storage-failed", message: /format 99/ });
    assert.deepEqual(readFileSync(path), future);
  });

  it("never throws and never makes events up, whatever is done to the file", async () => {
    const change = fc.oneof(
      fc.record({ kind: fc.constant("flip" as const), at: fc.nat(), bit: fc.nat(7) }),
      fc.record({ kind: fc.constant("cut" as const), at: fc.nat(), length: fc.nat(300) }),
      fc.record({ kind: fc.constant("insert" as const), at: fc.nat(), bytes: fc.uint8Array({ maxLength: 40 }) }),
      fc.record({ kind: fc.constant("swap" as const), one: fc.nat(), other: fc.nat() }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 3 }), async (changes) => {
        let bytes = Buffer.from(whole);
        for (const one of changes) bytes = damage(bytes, one);
        const { found } = await openAfter(bytes);
        assert.deepEqual(found, events.slice(0, found.length));
      }),
      { numRuns: 200 },
    );
  });
});

type Change =
  | { kind: "flip"; at: number; bit: number }
  | { kind: "cut"; at: number; length: number }
  | { kind: "insert"; at: number; bytes: Uint8Array }
  | { kind: "swap"; one: number; other: number };

function damage(bytes: Buffer, change: Change): Buffer<ArrayBuffer> {
  const copy = Buffer.from(bytes);
  if (change.kind === "swap") {
    const parts = copy.toString("latin1").split(/(?<=\n)/);
    const [one, other] = [change.one % parts.length, change.other % parts.length];
    [parts[one], parts[other]] = [parts[other] ?? "", parts[one] ?? ""];
    return Buffer.from(parts.join(""), "latin1");
  }
  const at = change.at % (copy.length + 1);
  if (change.kind === "insert") return Buffer.concat([copy.subarray(0, at), change.bytes, copy.subarray(at)]);
  if (change.kind === "cut") return Buffer.concat([copy.subarray(0, at), copy.subarray(at + change.length)]);
  if (at < copy.length) copy[at] = (copy[at] ?? 0) ^ (1 << change.bit);
  return copy;
}

/** Opens, appends, opens again: what was found the first time must be there with the new event after it. */
async function openAfter(
  content: string | Buffer,
): Promise<{ found: readonly AgentEvent[]; warnings: readonly string[]; dropped: Buffer | undefined }> {
  for (const name of readdirSync(folder)) rmSync(join(folder, name));
  writeFileSync(path, content);
  assert.deepEqual(readFileSync(path), Buffer.from(content));
  const read = await store.read("s1");
  assert.equal(statSync(path).size, Buffer.from(content).length); // reading mends nothing
  const writer = await store.open("s1");
  assert.deepEqual([...writer.events], read);
  const next = warning((read.at(-1)?.seq ?? 0) + 1);
  await writer.append([next]);
  await writer.close();
  assert.deepEqual(await store.read("s1"), [...read, next]);
  const dropped = readdirSync(folder).includes(kept) ? readFileSync(join(folder, kept)) : undefined;
  return { found: read, warnings: writer.warnings, dropped };
}

function started(seq: number, journalVersion: number): AgentEvent {
  return { ...warning(seq), type: "session.started", journalVersion } as AgentEvent; // of what else it has, nothing is read here
}

function warning(seq: number): AgentEvent {
  return { type: "warning.raised", seq, at: "2026-01-01T00:00:00.000Z", sessionId: "s1", message: `event ${seq}` };
}
