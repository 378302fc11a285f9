import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { replaceFile, replaceFileSync, replaceFileWith } from "./replace-file.ts";

const folder = mkdtempSync(join(tmpdir(), "outrider-replace-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const at = (name: string): string => join(folder, name);

for (const [name, replace] of [
  ["replaceFile", replaceFile],
  ["replaceFileSync", async (...args: Parameters<typeof replaceFile>) => replaceFileSync(...args)],
] as const) {
  describe(name, () => {
    it("leaves the new file and nothing beside it, for the user alone unless somebody says otherwise", async () => {
      const path = at(`${name}.json`);
      await replace(path, "one");
      assert.equal(statSync(path).mode & 0o777, 0o600);
      await replace(path, new TextEncoder().encode("two"), { mode: 0o644, isLasting: true });
      assert.deepEqual([readFileSync(path, "utf8"), statSync(path).mode & 0o777], ["two", 0o644]);
      assert.deepEqual(
        readdirSync(folder).filter((one) => one.endsWith(".tmp")),
        [],
      );
    });

    it("leaves the old file alone when it fails", async () => {
      const path = at(`${name}-folder`);
      await replace(path, "old");
      await assert.rejects(replace(join(path, "below"), "new"), { code: "ENOTDIR" });
      await assert.rejects(replace(at("no/such/folder/x"), "new"), { code: "ENOENT" });
      assert.equal(readFileSync(path, "utf8"), "old");
    });

    it("takes the place of a link, and leaves what it led to", async () => {
      writeFileSync(at(`${name}-target`), "target");
      symlinkSync(at(`${name}-target`), at(`${name}-link`));
      await replace(at(`${name}-link`), "own");
      assert.deepEqual([readFileSync(at(`${name}-link`), "utf8"), readFileSync(at(`${name}-target`), "utf8")], ["own", "target"]);
    });

    it("can write a file whose name leaves no room for more", async () => {
      const path = at(`${name}${"é".repeat(110)}`);
      await replace(path, "long");
      assert.equal(readFileSync(path, "utf8"), "long");
    });

    it("never shows half a file", async () => {
      const path = at(`${name}-race`);
      const texts = ["a", "b"].map((letter) => letter.repeat(300_000));
      await replace(path, texts[0] ?? "");
      const writing = Promise.all(texts.map((text) => replace(path, text)));
      for (let round = 0; round < 20; round++) assert.ok(texts.includes(readFileSync(path, "utf8")));
      await writing;
    });
  });
}

describe("replaceFileWith", () => {
  it("takes away what was begun when the writing fails", async () => {
    const write = async (temporary: string): Promise<never> => {
      writeFileSync(temporary, "half");
      throw new Error("no more");
    };
    await assert.rejects(replaceFileWith(at("never"), write), /no more/);
    assert.deepEqual(
      readdirSync(folder).filter((one) => one.startsWith("never")),
      [],
    );
  });
});
