import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { build } from "esbuild";
import { type AuditQuery, type AuditRecord, createAuditLog, readAuditLog } from "./audit.ts";

function inFolder(body: (folder: string) => Promise<void>): () => Promise<void> {
  return async () => {
    const folder = mkdtempSync(join(tmpdir(), "outrider-audit-"));
    try {
      await body(folder);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  };
}

const entry = {
  callId: "c1",
  tool: "Bash",
  resource: "rm x",
  effect: "deny",
  by: "rule",
  reason: "no",
  rule: "Bash(rm:*)",
  source: "a:1",
} as const;

async function all(query: AuditQuery): Promise<AuditRecord[]> {
  const records: AuditRecord[] = [];
  for await (const record of readAuditLog(query)) records.push(record);
  return records;
}

/** A program that writes so many records: `writer.mjs DIRECTORY SESSION`. */
async function writerIn(folder: string, count: number): Promise<string> {
  const outfile = join(folder, "writer.mjs");
  const source = join(process.env["OUTRIDER_ROOT"] ?? process.cwd(), "packages/runtime/src/permissions/audit.ts");
  const contents = `import { createAuditLog } from ${JSON.stringify(source)};
    const [directory, sessionId] = process.argv.slice(2);
    const log = createAuditLog({ directory, sessionId, cwd: "/" });
    for (let i = 0; i < ${count}; i++) log.record({ callId: String(i), tool: "Bash", resource: sessionId.repeat(400), effect: "allow", by: "mode", reason: "x" });`;
  await build({
    stdin: { contents, resolveDir: folder },
    outfile,
    bundle: true,
    format: "esm",
    platform: "node",
    logLevel: "silent",
  });
  return outfile;
}

describe("the audit log", () => {
  it(
    "keeps one line per decision, by month, for the owner's eyes only",
    inFolder(async (folder) => {
      const directory = join(folder, "audit");
      let time = Date.parse("2025-05-31T23:59:59.999Z");
      const log = createAuditLog({ directory, sessionId: "s1", cwd: "/repo", now: () => time });
      log.record(entry);
      time += 1;
      log.record({ ...entry, effect: "allow" });
      createAuditLog({ directory, sessionId: "s2", cwd: "/repo", now: () => time }).record(entry);
      assert.deepEqual(readdirSync(directory), ["2025-05.jsonl", "2025-06.jsonl"]);
      assert.deepEqual(
        [statSync(directory).mode & 0o777, statSync(join(directory, "2025-05.jsonl")).mode & 0o777],
        [0o700, 0o600],
      );
      assert.equal(readFileSync(join(directory, "2025-06.jsonl"), "utf8").split("\n").length, 3);
      const [first] = await all({ directory });
      assert.deepEqual(first, { at: "2025-05-31T23:59:59.999Z", sessionId: "s1", cwd: "/repo", ...entry });
      const counts = await Promise.all([
        all({ directory }),
        all({ directory, sessionId: "s1" }),
        all({ directory, denied: true }),
        all({ directory, since: new Date("2025-06-01") }),
        all({ directory, since: new Date("2025-07-01") }),
        all({ directory: join(folder, "none") }),
      ]);
      assert.deepEqual(
        counts.map((records) => records.length),
        [3, 2, 2, 2, 0, 0],
      );
    }),
  );

  it(
    "drops months that ended too long ago with the first line of a new one, and nothing else",
    inFolder(async (directory) => {
      const old = ["2024-01.jsonl", "2024-05.jsonl", "2024-06.jsonl", "2025-05.jsonl", "notes.txt", "2024-01.jsonl.bak"];
      for (const name of old) writeFileSync(join(directory, name), "");
      const at = (moment: string, keepDays?: number): void =>
        createAuditLog({
          directory,
          sessionId: "s",
          cwd: "/",
          now: () => Date.parse(moment),
          ...(keepDays !== undefined && { keepDays }),
        }).record(entry);
      at("2025-05-31T23:00:00Z"); // a month that has begun already
      assert.deepEqual(readdirSync(directory), [...old].sort());
      at("2025-06-01T00:00:00Z");
      const kept = ["2024-01.jsonl.bak", "2024-06.jsonl", "2025-05.jsonl", "2025-06.jsonl", "notes.txt"];
      assert.deepEqual(readdirSync(directory), kept);
      at("2025-07-02T00:00:00Z", 31);
      assert.deepEqual(readdirSync(directory), ["2024-01.jsonl.bak", "2025-06.jsonl", "2025-07.jsonl", "notes.txt"]);
    }),
  );

  it(
    "keeps no file open",
    inFolder(async (directory) => {
      const log = createAuditLog({ directory, sessionId: "s", cwd: "/" });
      const open = (): number => readdirSync("/proc/self/fd").length;
      const before = open();
      for (let count = 0; count < 50; count++) log.record(entry);
      assert.ok(open() < before + 50);
    }),
  );

  it(
    "takes secrets out and shortens",
    inFolder(async (directory) => {
      const log = createAuditLog({ directory, sessionId: "s", cwd: "/", redact: (text) => text.replaceAll("hunter2", "…") });
      log.record({ ...entry, resource: `echo hunter2 ${"x".repeat(5_000)}`, reason: "hunter2", rule: "Bash(echo hunter2)" });
      const [name = ""] = readdirSync(directory);
      const text = readFileSync(join(directory, name), "utf8");
      assert.ok(!text.includes("hunter2") && text.length < 3_000);
      assert.match((await all({ directory }))[0]?.resource ?? "", /^echo … x+… \(50\d\d characters\)$/);
      log.record({ ...entry, resource: "x".repeat(1_000) });
      assert.equal((await all({ directory }))[1]?.resource, "x".repeat(1_000));
    }),
  );

  it(
    "says when it cannot be written, and lets nobody go on without a record",
    inFolder(async (folder) => {
      const directory = join(folder, "file");
      writeFileSync(directory, "");
      assert.throws(() => createAuditLog({ directory, sessionId: "s", cwd: "/" }).record(entry), {
        code: "storage-failed",
        message: /cannot be written: ENOTDIR/,
      });
      const told: string[] = [];
      createAuditLog({ directory, sessionId: "s", cwd: "/", onFailure: ({ code }) => told.push(code) }).record(entry);
      assert.deepEqual(told, ["storage-failed"]);
      await assert.rejects(all({ directory }), { code: "storage-failed", message: /cannot be read: ENOTDIR/ });
    }),
  );

  it(
    "reads past a line that is none, and says where",
    inFolder(async (directory) => {
      const log = createAuditLog({ directory, sessionId: "s", cwd: "/" });
      log.record(entry);
      const [name = ""] = readdirSync(directory);
      appendFileSync(join(directory, name), `{"at":"20\nnull\n${JSON.stringify({ ...entry, at: "2025-06-01" })}\n`);
      writeFileSync(join(directory, "1999-12.jsonl"), "nothing\n");
      log.record(entry);
      const read = async (since?: Date): Promise<[number, string[]]> => {
        const bad: string[] = [];
        let good = 0;
        for await (const _ of readAuditLog({ directory, ...(since && { since }) }, (place) => bad.push(place))) good++;
        return [good, bad];
      };
      const bad = [2, 3, 4].map((line) => `${join(directory, name)}:${line}`);
      assert.deepEqual(await read(), [2, [`${join(directory, "1999-12.jsonl")}:1`, ...bad]]);
      assert.deepEqual(await read(new Date("2000-01-01")), [2, bad]);
    }),
  );

  it(
    "lets nobody go on with half a record, and keeps the next one apart from it",
    inFolder(async (folder) => {
      const directory = join(folder, "audit");
      const program = await writerIn(folder, 2);
      const { stderr } = spawnSync("bash", ["-c", 'ulimit -f 1; exec "$@"', "", process.execPath, program, directory, "f"], {
        encoding: "utf8",
      });
      assert.match(stderr, /cannot be written: EFBIG/);
      const [name = ""] = readdirSync(directory);
      assert.equal(statSync(join(directory, name)).size, 1024);
      for (const sessionId of ["a", "b"]) createAuditLog({ directory, sessionId, cwd: "/" }).record(entry);
      const bad: string[] = [];
      const sessions: string[] = [];
      for await (const record of readAuditLog({ directory }, (place) => bad.push(place))) sessions.push(record.sessionId);
      assert.deepEqual([sessions, bad], [["f", "a", "b"], [`${join(directory, name)}:2`]]);
    }),
  );

  it(
    "mixes no lines of processes that write at once",
    inFolder(async (folder) => {
      const directory = join(folder, "audit");
      const program = await writerIn(folder, 300);
      const codes = await Promise.all(
        ["a", "b", "c"].map(
          (id) =>
            new Promise((resolve) => spawn(process.execPath, [program, directory, id], { stdio: "ignore" }).on("close", resolve)),
        ),
      );
      assert.deepEqual(codes, [0, 0, 0]);
      const records = await all({ directory });
      assert.equal(records.length, 900);
      assert.ok(records.every(({ sessionId, resource }) => resource === sessionId.repeat(400)));
    }),
  );
});
