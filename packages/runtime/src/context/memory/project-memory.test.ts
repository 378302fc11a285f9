import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { formatEntry, parseEntry } from "./memory-entry.ts";
import { MemoryPolicyEvaluator } from "./memory-policy.ts";
import { PendingMemoryStore } from "./pending-memory.ts";
import { ProjectMemoryStore } from "./project-memory.ts";

const top = mkdtempSync(join(tmpdir(), "outrider-memory-"));
after(() => rmSync(top, { recursive: true, force: true }));
const now = (): number => Date.UTC(2026, 10, 16, 12);
const project = (): string => mkdtempSync(join(top, "project-"));
const indexOf = (root: string): string => readFileSync(join(root, ".outrider/memory/MEMORY.md"), "utf8");

describe("the project's memory", () => {
  it("keeps an entry in the index and in the file of its topic", async () => {
    const root = project();
    const store = new ProjectMemoryStore({ root, now });
    const { entry, deduplicated, indexFull } = await store.append({
      type: "project",
      topic: "Build",
      text: "  Use\n make   all ",
    });
    assert.deepEqual(entry, { date: "2026-11-16", type: "project", topic: "build", text: "Use make all" });
    assert.deepEqual([deduplicated, indexFull], [false, false]);
    assert.equal(indexOf(root), "- [2026-11-16] (project/build) Use make all\n");
    assert.equal(store.show("BUILD"), "# build\n\n- [2026-11-16] (project/build) Use make all\n");
    assert.deepEqual([store.list(), store.topics()], [[entry], ["build"]]);
    assert.equal(store.show("other"), undefined);
  });

  it("says so where its folder cannot be made", async () => {
    const root = project();
    mkdirSync(join(root, ".outrider/memory"), { recursive: true });
    writeFileSync(join(root, ".outrider/memory/topics"), "");
    await assert.rejects(new ProjectMemoryStore({ root, now }).append({ type: "user", topic: "a", text: "b" }), {
      code: "storage-failed",
      message: /\.outrider\/memory cannot be used: /,
    });
  });

  it("says the same once, however it is written", async () => {
    const store = new ProjectMemoryStore({ root: project(), now });
    await store.append({ type: "project", topic: "build", text: "Use make all" });
    for (const text of ["use  MAKE all.", "Use make all!", "Use make all"])
      assert.equal((await store.append({ type: "user", topic: "build", text })).deduplicated, true, text);
    assert.equal((await store.append({ type: "user", topic: "test", text: "Use make all" })).deduplicated, false);
    assert.equal(store.list().length, 2);
  });

  it("goes on in a file that has no newline at its end, and leaves lines that are no entries alone", async () => {
    const root = project();
    mkdirSync(join(root, ".outrider/memory"), { recursive: true });
    writeFileSync(join(root, ".outrider/memory/MEMORY.md"), "# Ours\n- by hand");
    await new ProjectMemoryStore({ root, now }).append({ type: "user", topic: "a", text: "b" });
    assert.equal(indexOf(root), "# Ours\n- by hand\n- [2026-11-16] (user/a) b\n");
  });

  it("writes to the topic alone when the index has 200 lines or 25,600 bytes", async () => {
    const root = project();
    const store = new ProjectMemoryStore({ root, now });
    mkdirSync(join(root, ".outrider/memory"), { recursive: true });
    writeFileSync(join(root, ".outrider/memory/MEMORY.md"), "x\n".repeat(199));
    assert.equal((await store.append({ type: "user", topic: "a", text: "the 200th" })).indexFull, false);
    assert.equal((await store.append({ type: "user", topic: "a", text: "the 201st" })).indexFull, true);
    assert.doesNotMatch(indexOf(root), /201st/);
    assert.match(store.show("a") ?? "", /201st/);
    const line = "- [2026-11-16] (user/a) bytes\n".length;
    for (const [bytes, full] of [
      [25_600 - line, false],
      [25_601 - line, true],
    ] as const) {
      const other = project();
      mkdirSync(join(other, ".outrider/memory"), { recursive: true });
      writeFileSync(
        join(other, ".outrider/memory/MEMORY.md"),
        `${"é".repeat(Math.floor((bytes - 1) / 2))}${bytes % 2 ? "" : "x"}\n`,
      );
      assert.equal(
        (await new ProjectMemoryStore({ root: other, now }).append({ type: "user", topic: "a", text: "bytes" })).indexFull,
        full,
      );
    }
  });

  it("fills a topic up to 64 KiB", async () => {
    const root = project();
    mkdirSync(join(root, ".outrider/memory/topics"), { recursive: true });
    writeFileSync(join(root, ".outrider/memory/topics/a.md"), "x".repeat(64 * 1024 - 10));
    await assert.rejects(
      new ProjectMemoryStore({ root }).append({ type: "user", topic: "a", text: "one more" }),
      /topic a is full/,
    );
  });

  for (const topic of ["../x", "a/b", "a\\b", "CON", "nul.md", "x".repeat(300), "", ".", "..", ".hidden", "a.", "a b", "a..b"])
    it(`takes no topic ${JSON.stringify(topic.slice(0, 20))}`, async () => {
      const root = project();
      await assert.rejects(new ProjectMemoryStore({ root }).append({ type: "user", topic, text: "x" }), /is no topic/);
      assert.equal(existsSync(join(root, ".outrider")), false);
    });

  it("takes no other type, nothing empty and nothing long", async () => {
    const store = new ProjectMemoryStore({ root: project(), now });
    await assert.rejects(
      store.append({ type: "secret", topic: "a", text: "x" }),
      /is no type; there are user, feedback, project, reference/,
    );
    await assert.rejects(store.append({ type: "user", topic: "a", text: " \u200b " }), /nothing to remember/);
    await assert.rejects(store.append({ type: "user", topic: "a", text: "x".repeat(501) }), /may have 500 characters/);
    await store.append({ type: "user", topic: "a", text: "x".repeat(500) });
  });

  it("does not write through links out of the project", async () => {
    const outside = project();
    for (const link of [".outrider", ".outrider/memory", ".outrider/memory/topics"]) {
      const root = project();
      mkdirSync(join(root, link, ".."), { recursive: true });
      symlinkSync(outside, join(root, link));
      await assert.rejects(
        new ProjectMemoryStore({ root }).append({ type: "user", topic: "a", text: "x" }),
        /leads out of the project/,
        link,
      );
    }
    const root = project();
    mkdirSync(join(root, ".outrider/memory/topics"), { recursive: true });
    symlinkSync(join(outside, "target"), join(root, ".outrider/memory/topics/a.md"));
    await assert.rejects(new ProjectMemoryStore({ root }).append({ type: "user", topic: "a", text: "x" }), /it is a link/);
    assert.equal(existsSync(join(outside, "target")), false);
  });

  it("makes nothing where a link leads, and lists no names there", async () => {
    for (const link of [".outrider", ".outrider/memory"]) {
      const [root, elsewhere] = [project(), project()];
      mkdirSync(join(elsewhere, "kept"));
      if (link !== ".outrider") mkdirSync(join(root, ".outrider"));
      symlinkSync(elsewhere, join(root, link));
      const store = new ProjectMemoryStore({ root, now });
      await assert.rejects(store.append({ type: "user", topic: "a", text: "b" }), { code: "storage-failed" });
      assert.deepEqual([readdirSync(elsewhere), store.topics()], [["kept"], []], link);
    }
  });

  it("loses nothing when two processes write at once", async () => {
    const root = project();
    const entryPoint = join(process.cwd(), "packages/runtime/dist/commands.js");
    const write = (who: string): Promise<number | null> => {
      const script = `const { ProjectMemoryStore } = await import(${JSON.stringify(entryPoint)});
        const store = new ProjectMemoryStore({ root: ${JSON.stringify(root)} });
        for (let n = 0; n < 15; n++) await store.append({ type: "user", topic: "t" + (n % 3), text: "${who} " + n });`;
      const child = spawn(process.execPath, ["--input-type=module", "-e", script], { stdio: "inherit" });
      return new Promise((resolve) => child.on("close", resolve));
    };
    assert.deepEqual(await Promise.all([write("one"), write("two")]), [0, 0]);
    assert.equal(new ProjectMemoryStore({ root }).list().length, 30);
  });
});

describe("a line of memory", () => {
  it("is read as it was written", () => {
    const entry = { date: "2026-01-02", type: "feedback", topic: "style", text: "short (very) - lines" } as const;
    assert.deepEqual(parseEntry(formatEntry(entry)), entry);
    for (const line of [
      "",
      "- text",
      "- [2026-01-02] (other/x) y",
      "- [today] (user/x) y",
      "- [2026-01-02] (user/x/y) z",
      "- [2026-01-02] (user/x) ",
    ])
      assert.equal(parseEntry(line), undefined, line);
  });
});

describe("what is never remembered", () => {
  const policy = new MemoryPolicyEvaluator();
  const refused = [
    `the key is sk-ant-${"api03-"}${"aB3".repeat(30)}`,
    `use ghp_${"aB3dE6gH9jK2".repeat(3)}`,
    "password: hunter2",
    "The token is abc",
    "my PIN is 1234",
    "-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----",
    "card 4111 1111 1111 1111",
    "card 5555-5555-5555-4444",
    "ssn 078-05-1120",
  ];
  for (const text of refused) it(`${text.slice(0, 24)}…`, () => assert.equal(policy.evaluate(text).allowed, false));
  for (const text of [
    "The token bucket has 5 slots",
    "Order 4111 1111 1111 1112",
    "0000000000000000",
    "Keys are in 1Password, never in files",
  ])
    it(`but this is: ${text}`, () => assert.deepEqual(policy.evaluate(text), { allowed: true }));
});

describe("what waits for a person", () => {
  it("waits once, and is taken once", async () => {
    const pending = new PendingMemoryStore({ root: project(), now });
    const first = await pending.add({ type: "user", topic: "a", text: "Tabs" });
    assert.equal((await pending.add({ type: "user", topic: "a", text: "tabs." })).id, first.id);
    assert.deepEqual(pending.list(), [{ id: first.id, at: "2026-11-16T12:00:00.000Z", type: "user", topic: "a", text: "Tabs" }]);
    assert.equal(await pending.take("other"), undefined);
    assert.deepEqual([await pending.take(first.id), await pending.take(first.id), pending.list()], [first, undefined, []]);
  });

  it("takes a hundred", async () => {
    const root = project();
    const pending = new PendingMemoryStore({ root, now });
    mkdirSync(join(root, ".outrider/memory"), { recursive: true });
    const records = Array.from({ length: 100 }, (_, n) => ({ id: `${n}`, at: "now", type: "user", topic: "a", text: `x${n}` }));
    writeFileSync(join(root, ".outrider/memory/pending.json"), JSON.stringify({ version: 1, records }));
    await assert.rejects(pending.add({ type: "user", topic: "a", text: "more" }), /100 entries wait already/);
  });

  it("leaves out of a file what is no record", () => {
    for (const [text, count] of [
      ["{", 0],
      ["[]", 0],
      [JSON.stringify({ records: [1, { id: "a" }, { id: "a", at: "b", type: "user", topic: "../x", text: "y" }] }), 0],
      [JSON.stringify({ records: [{ id: "a", at: "b", type: "user", topic: "x", text: "y" }] }), 1],
    ] as const) {
      const root = project();
      mkdirSync(join(root, ".outrider/memory"), { recursive: true });
      writeFileSync(join(root, ".outrider/memory/pending.json"), text);
      assert.equal(new PendingMemoryStore({ root }).list().length, count, text);
    }
  });
});
