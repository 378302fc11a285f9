import assert from "node:assert/strict";
import { mkdtemp, readFile, realpath, rm, symlink, unlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { createLocalWorkspace } from "../workspace/local.ts";
import { forApprovedFiles } from "./approved-files.ts";

describe("forApprovedFiles", () => {
  it("writes what was approved, and refuses a link that was put in its place", async () => {
    const folder = await realpath(await mkdtemp(join(tmpdir(), "outrider-approved-")));
    const workspace = createLocalWorkspace({ root: folder, env: {}, overflowDirectory: join(folder, "overflow") });
    try {
      const path = join(folder, "a.txt");
      const approved = forApprovedFiles(workspace, [await workspace.resolve("a.txt")]);
      await approved.writeFile("a.txt", "one");
      assert.equal(Buffer.from(await approved.readFile("a.txt")).toString(), "one");

      await writeFile(join(folder, "profile"), "untouched");
      await unlink(path);
      await symlink("profile", path);
      await assert.rejects(approved.writeFile("a.txt", "two"), {
        code: "usage",
        message: /not the file permission was given for/,
      });
      await assert.rejects(approved.writeFile("b.txt", "two"), { code: "usage" });
      assert.equal(await readFile(join(folder, "profile"), "utf8"), "untouched");
    } finally {
      await workspace.close();
      await rm(folder, { recursive: true });
    }
  });
});
