import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, describe, it } from "node:test";
import { listTrustRecords, readTrustRecord, removeTrustRecord, type TrustRecord, writeTrustRecord } from "./trust-store.ts";

const folder = mkdtempSync(join(tmpdir(), "outrider-trust-store-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const freshHome = (): string => mkdtempSync(join(folder, "home-"));

describe("records of trust", () => {
  it("are read as they were written, in a folder for the owner only, listed by place", async () => {
    const home = freshHome();
    mkdirSync(join(home, "trust"));
    chmodSync(join(home, "trust"), 0o755);
    for (const root of ["/é", "/b", "/d", "/c"]) await writeTrustRecord(home, record(root));
    const path = await writeTrustRecord(home, record("/a"));
    writeFileSync(join(home, "trust", "notes.txt"), JSON.stringify(record("/f")));
    writeFileSync(join(home, "trust", "broken.json"), "{");
    assert.deepEqual(readTrustRecord(home, "/a"), { version: 1, ...record("/a") });
    assert.deepEqual(
      listTrustRecords(home).map(({ root }) => root),
      ["/a", "/b", "/c", "/d", "/é"],
    );
    assert.equal(statSync(dirname(path)).mode & 0o777, 0o700);
  });

  const broken: [what: string, value: unknown][] = [
    ["null", null],
    ["a text", "record"],
    ["no fingerprint", { ...record("/a"), fingerprint: undefined }],
    ["a date that is a number", { ...record("/a"), at: 1 }],
    ["another place", record("/b")],
    ["no files", { ...record("/a"), files: undefined }],
    ["files that are a text", { ...record("/a"), files: "ab" }],
    ["a file that is a text", { ...record("/a"), files: [["x", "y"], "ab"] }],
    ["a file without a digest", { ...record("/a"), files: [["x"]] }],
    ["a file with too much", { ...record("/a"), files: [["x", "y", "z"]] }],
    ["a digest that is a number", { ...record("/a"), files: [["x", 1]] }],
  ];
  for (const [what, value] of broken)
    it(`trust nothing with ${what}`, async () => {
      const home = freshHome();
      const path = await writeTrustRecord(home, record("/a"));
      writeFileSync(path, JSON.stringify(value));
      assert.equal(readTrustRecord(home, "/a"), undefined);
      if (what !== "another place") assert.deepEqual(listTrustRecords(home), []);
    });

  it("say why they cannot be written, removed or listed, and leave nothing behind", async () => {
    const home = freshHome();
    writeFileSync(join(home, "trust"), "a file in the way");
    await assert.rejects(writeTrustRecord(home, record("/a")), {
      code: "storage-failed",
      message: /cannot be written: E[A-Z]+: /,
      hint: /OUTRIDER_HOME/,
    });
    assert.throws(() => listTrustRecords(home), { code: "storage-failed", message: /cannot be read: ENOTDIR: / });
    rmSync(join(home, "trust"));
    assert.deepEqual([listTrustRecords(home), await removeTrustRecord(home, "/a")], [[], false]);
    const path = await writeTrustRecord(home, record("/a"));
    rmSync(path);
    mkdirSync(path);
    await assert.rejects(writeTrustRecord(home, record("/a")), { code: "storage-failed" });
    await assert.rejects(removeTrustRecord(home, "/a"), { code: "storage-failed", message: /cannot be removed: / });
    assert.equal(readdirSync(dirname(path)).length, 1);
  });
});

function record(root: string): TrustRecord {
  return { root, fingerprint: "f", at: "2025-06-01T12:00:00.000Z", files: [["x", "y"]] };
}
