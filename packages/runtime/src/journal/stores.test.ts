import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import type { AgentEvent } from "../protocol/events.ts";
import { sessionStoreConformance } from "../testing/store-conformance.ts";
import { createFileStore } from "./file-store.ts";
import { createMemoryStore } from "./memory-store.ts";
import type { SessionStore } from "./store.ts";

const root = mkdtempSync(join(tmpdir(), "outrider-stores-"));
after(() => rmSync(root, { recursive: true, force: true }));
const freshFolder = (): string => mkdtempSync(join(root, "s-"));

const stores: [string, () => Promise<SessionStore>][] = [
  ["memory store", async () => createMemoryStore()],
  ["file store", async () => createFileStore(freshFolder())],
  ["file store that always syncs", async () => createFileStore(freshFolder(), { sync: "always" })],
];

for (const [name, create] of stores) {
  describe(name, () => {
    for (const { name: fact, run } of sessionStoreConformance) it(fact, () => run(create));
  });
}

describe("file store on disk", () => {
  it("writes one JSON line per event, for the owner only", async () => {
    const folder = freshFolder();
    const writer = await createFileStore(folder).open("s1");
    await writer.append([warning(1), warning(2)]);
    const path = join(folder, "s1.jsonl");
    assert.deepEqual(
      readFileSync(path, "utf8")
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line)),
      [
        { ...warning(1), crc: "4bad6a7a" },
        { ...warning(2), crc: "8a10644e" },
      ],
    );
    assert.equal(statSync(path).mode & 0o777, 0o600);
    assert.equal(writer.location, path);
    await writer.close();
    assert.deepEqual(readdirSync(folder), ["s1.jsonl"]);
  });

  it("keeps a long text once, for the owner only, and leaves the log short", async () => {
    const folder = freshFolder();
    const store = createFileStore(folder);
    const message = "long ".repeat(100_000);
    for (const id of ["s1", "s2"]) {
      const writer = await store.open(id);
      await writer.append([
        { ...warning(1), message },
        { ...warning(2), message },
      ]);
      await writer.close();
    }
    const files = readdirSync(join(folder, "blobs"), { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    assert.equal(files.length, 1);
    const kept = join(folder, "blobs", files[0]?.name.slice(0, 2) ?? "", files[0]?.name ?? "");
    assert.deepEqual([readFileSync(kept, "utf8") === message, statSync(kept).mode & 0o777], [true, 0o600]);
    assert.ok(statSync(join(folder, "s1.jsonl")).size < 1000);
  });

  it("puts words in the place of a long text that is missing or damaged, and says so", async () => {
    const folder = freshFolder();
    const store = createFileStore(folder);
    const writer = await store.open("s1");
    await writer.append(["a", "b"].map((letter, index) => ({ ...warning(index + 1), message: letter.repeat(70_000) })));
    await writer.close();
    const names = readdirSync(join(folder, "blobs"), { recursive: true, encoding: "utf8" }).filter((name) => name.length > 10);
    const [missing = "", damaged = ""] = names.sort((one) =>
      readFileSync(join(folder, "blobs", one), "utf8")[0] === "a" ? -1 : 1,
    );
    rmSync(join(folder, "blobs", missing));
    writeFileSync(join(folder, "blobs", damaged), "c".repeat(70_000));
    const again = await store.open("s1");
    await again.close();
    assert.deepEqual(again.warnings, [
      `A text of 70000 bytes could not be put back: blobs/${missing} is missing`,
      `A text of 70000 bytes could not be put back: blobs/${damaged} is damaged`,
    ]);
    assert.deepEqual(
      [...again.events].map((event) => event.type === "warning.raised" && event.message),
      again.warnings.map((warning) => `[This text of${warning.slice("A text of".length)}]`),
    );
  });

  it("answers typed failures for a folder, a file in the way, and an unreadable place", async () => {
    const file = join(freshFolder(), "file");
    writeFileSync(file, "");
    await assert.rejects(createFileStore(join(file, "sessions")).open("s1"), { code: "storage-failed" });
    await assert.rejects(createFileStore(file).list(), { code: "storage-failed", message: /Cannot read .*ENOTDIR/ });
    assert.deepEqual(await createFileStore(join(freshFolder(), "nowhere")).list(), []);
    const folder = freshFolder();
    mkdirSync(join(folder, "s1.jsonl"));
    await assert.rejects(createFileStore(folder).open("s1"), { code: "storage-failed" });
    await assert.rejects(createFileStore(folder).read("s1"), { code: "storage-failed" });
    assert.deepEqual(await createFileStore(folder).list(), []);
    assert.deepEqual(readdirSync(folder), ["s1.jsonl"]);
  });

  it("says that a log cannot be made, and leaves its place free", async () => {
    const folder = freshFolder();
    symlinkSync("nowhere/else", join(folder, "s1.jsonl"));
    await assert.rejects(createFileStore(folder).open("s1"), { code: "storage-failed", message: /^Cannot open .*ENOENT/ });
    assert.deepEqual(readdirSync(folder), ["s1.jsonl"]);
  });

  it("does not open a damaged log whose end cannot be kept", async () => {
    const folder = freshFolder();
    const store = createFileStore(folder, { now: () => Date.UTC(2026, 0, 2) });
    await appendTo(store, [warning(1), warning(2)]);
    const path = join(folder, "s1.jsonl");
    writeFileSync(path, `${readFileSync(path, "utf8")}{"no": "event"}\n{"of": "ours"}\n`);
    const before = readFileSync(path);
    mkdirSync(`${path}.damaged-2026-01-02T00-00-00.000Z`);
    await assert.rejects(store.open("s1"), {
      code: "storage-failed",
      message: /^Cannot copy the damaged end of the journal to .*EISDIR/,
    });
    assert.deepEqual(readFileSync(path), before);
  });

  it("forks a long log whole", async () => {
    const folder = freshFolder();
    const store = createFileStore(folder);
    await appendTo(
      store,
      Array.from({ length: 2001 }, (_, index) => warning(index + 1)),
    );
    await store.fork("s1", "s2");
    const seqs = (await store.read("s2")).map(({ seq }) => seq);
    assert.deepEqual([seqs.length >= 2001, new Set(seqs).size], [true, seqs.length]);
    await store.fork("s1", "s3", { at: 1000 });
    assert.ok((await store.read("s3")).length < 1010);
  });

  it("takes an empty log for a session that does not exist yet", async () => {
    const folder = freshFolder();
    writeFileSync(join(folder, "s1.jsonl"), "");
    const store = createFileStore(folder);
    assert.deepEqual(await store.list(), []);
    const writer = await store.open("s1");
    assert.deepEqual([[...writer.events], writer.warnings], [[], []]);
    await writer.close();
  });

  it("refuses ids that would leave its folder", async () => {
    const store = createFileStore(freshFolder());
    for (const id of ["../x", "a/b", "", ".hidden", "a\0b", "x".repeat(10_000)]) {
      for (const attempt of [
        store.open(id),
        store.read(id),
        store.remove(id),
        store.rename(id, "x"),
        store.fork(id, "y"),
        store.fork("y", id),
      ])
        await assert.rejects(attempt, { code: "usage" });
    }
  });

  it("leaves a forked log as it was to the byte", async () => {
    const folder = freshFolder();
    const store = createFileStore(folder);
    const writer = await store.open("s1");
    await writer.append([warning(1), { ...warning(2), message: "x".repeat(100_000) }]);
    const before = readFileSync(join(folder, "s1.jsonl"));
    await store.fork("s1", "s2");
    assert.deepEqual(readFileSync(join(folder, "s1.jsonl")), before);
    await writer.close();
    assert.deepEqual(
      (await store.read("s2")).map(({ sessionId, ...rest }) => rest),
      (await store.read("s1")).map(({ sessionId, ...rest }) => rest),
    );
    assert.deepEqual(readdirSync(folder).sort(), ["blobs", "s1.jsonl", "s2.jsonl"]);
  });

  it("lists sessions without its index, with a broken one, and after logs have grown or changed", async () => {
    const folder = freshFolder();
    const store = createFileStore(folder);
    const sizes = async (): Promise<(number | undefined)[]> => [
      (await store.summaries())[0]?.bytes,
      statSync(join(folder, "s1.jsonl")).size,
    ];
    await appendTo(store, [warning(1)]);
    for (const change of [
      () => rmSync(join(folder, "index.json")),
      () => writeFileSync(join(folder, "index.json"), '{"version":1,"sessions":{"s1":7}}'),
      () => writeFileSync(join(folder, "index.json"), "{"),
    ]) {
      await store.summaries();
      change();
      const [listed, real] = await sizes();
      assert.equal(listed, real);
    }
    await appendTo(store, [warning(2), { type: "session.named", seq: 3, at: "", sessionId: "s1", name: "grown" }]);
    assert.equal((await store.summaries())[0]?.name, "grown");
    rmSync(join(folder, "s1.jsonl"));
    await appendTo(store, [
      warning(1),
      warning(2),
      warning(3),
      { ...warning(4), message: "another log of more bytes than before" },
    ]);
    assert.equal((await store.summaries())[0]?.name, undefined);
  });
});

async function appendTo(store: SessionStore, events: AgentEvent[]): Promise<void> {
  const writer = await store.open("s1");
  await writer.append(events);
  await writer.close();
}

function warning(seq: number): AgentEvent & { type: "warning.raised" } {
  return { type: "warning.raised", seq, at: "2026-01-01T00:00:00.000Z", sessionId: "s1", message: `event ${seq}` };
}
