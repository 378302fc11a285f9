import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { createLocalWorkspace } from "./local.ts";

const top = mkdtempSync(join(tmpdir(), "outrider-git-places-"));
after(() => rmSync(top, { recursive: true, force: true }));

describe("a workspace at another root", () => {
  it("has all variables but those that name this root's repository", async () => {
    const other = join(top, "other");
    mkdirSync(other);
    const env = { PATH: process.env["PATH"] ?? "", GIT_DIR: "/x", GIT_INDEX_FILE: "/y", GIT_AUTHOR_NAME: "Ann", KEPT: "1" };
    const here = createLocalWorkspace({ root: top, env, overflowDirectory: top });
    const print = async (workspace: typeof here | Awaited<ReturnType<typeof here.at>>): Promise<string[]> => {
      let text = "";
      const args = ["-c", 'echo "$GIT_DIR|$GIT_INDEX_FILE|$GIT_AUTHOR_NAME|$KEPT"'];
      const onOutput = ({ bytes }: { readonly bytes: Uint8Array }): void => {
        text += Buffer.from(bytes).toString("utf8");
      };
      const { signal } = new AbortController();
      await workspace.run({ file: "sh", args, signal, timeoutMs: 10_000, onOutput });
      return text.trim().split("|");
    };
    assert.deepEqual(await print(here), ["/x", "/y", "Ann", "1"]);
    assert.deepEqual(await print(await here.at(other)), ["", "", "Ann", "1"]);
    await here.close();
  });
});
