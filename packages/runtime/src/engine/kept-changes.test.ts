import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import type { EventBody } from "../protocol/events.ts";
import { createLocalWorkspace } from "../workspace/local.ts";
import { type ChangeKeeper, type Kept, keepingChanges } from "./kept-changes.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "outrider-kept-")));
after(() => rmSync(folder, { recursive: true, force: true }));
const workspace = createLocalWorkspace({ root: folder, env: {}, overflowDirectory: join(folder, "overflow") });

function keeping(kept: Kept | Error) {
  const events: EventBody[] = [];
  const seen: unknown[] = [];
  const keeper: ChangeKeeper = {
    async protect(path, content, write) {
      seen.push([path, content, existsSync(path) ? readFileSync(path, "utf8") : undefined]);
      if (kept instanceof Error) throw kept;
      return await write(kept);
    },
    noteUncovered: async () => {},
  };
  return { files: keepingChanges(workspace, { keeper, emit: (event) => events.push(event) }), events, seen };
}

describe("files that are changed", () => {
  it("are kept before they are written or removed, by their real names", async () => {
    const path = join(folder, "a.txt");
    writeFileSync(path, "before");
    const { files, events, seen } = keeping({ covered: true, checkpointId: "k1" });
    await files.writeFile("a.txt", "after");
    assert.equal(readFileSync(path, "utf8"), "after");
    await files.removeFile("a.txt");
    assert.equal(existsSync(path), false);
    assert.deepEqual(seen, [
      [path, "after", "before"],
      [path, undefined, "after"],
    ]);
    assert.deepEqual(events, []);
  });

  it("are changed all the same where they cannot be covered, and that is told", async () => {
    const path = join(folder, "b.txt");
    const { files, events } = keeping({ covered: false, checkpointId: "k2" });
    await files.writeFile("b.txt", "x");
    assert.equal(readFileSync(path, "utf8"), "x");
    assert.deepEqual(events, [{ type: "checkpoint.skipped", checkpointId: "k2", path, reason: "unreadable" }]);
  });

  it("stay as they are where keeping them fails", async () => {
    const { files } = keeping(new Error("no space"));
    await assert.rejects(files.writeFile("c.txt", "x"), /no space/);
    assert.equal(existsSync(join(folder, "c.txt")), false);
  });

  it("are read as before", async () => {
    writeFileSync(join(folder, "d.txt"), "text");
    const { files, seen } = keeping({ covered: true, checkpointId: "k3" });
    assert.equal(Buffer.from(await files.readFile("d.txt")).toString(), "text");
    assert.deepEqual(seen, []);
  });
});
