import assert from "node:assert/strict";
import { existsSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { createCheckpoints } from "../checkpoints/checkpoints.ts";
import { createScriptedProvider } from "../model/scripted.ts";
import { InteractiveSession } from "./interactive-session.ts";

const write = { text: "", calls: [{ name: "Write", input: { file_path: "a.txt", content: "new" } }] };
const bash = { text: "", calls: [{ name: "Bash", input: { command: "touch b.txt" } }] };

describe("a session that runs only what can be undone", () => {
  it("keeps a file before it changes it, and refuses commands", async () => {
    const cwd = realpathSync(mkdtempSync(join(tmpdir(), "outrider-reversible-")));
    const checkpoints = createCheckpoints({ directory: join(cwd, "..", `${cwd}-kept`), sessionId: "s", root: cwd });
    const session = new InteractiveSession({
      cwd,
      provider: createScriptedProvider([write, bash, { text: "done" }]),
      permissionMode: "bypassPermissions",
      reversibleExecution: { mode: "local-first" },
      checkpoints: async () => checkpoints,
    });
    const denied: string[] = [];
    const reading = (async () => {
      for await (const event of session.events())
        if (event.type === "tool.ended" && event.status === "denied") denied.push(event.name);
    })();
    try {
      assert.equal((await session.submit("go")).type, "completed");
      const [first] = await checkpoints.list();
      assert.ok(first, "a checkpoint of the turn");
      assert.deepEqual([existsSync(join(cwd, "a.txt")), existsSync(join(cwd, "b.txt"))], [true, false]);
      await checkpoints.rollbackThrough(first.id);
      assert.equal(existsSync(join(cwd, "a.txt")), false);
    } finally {
      await session.shutdown();
      await reading;
      rmSync(cwd, { recursive: true, force: true });
      rmSync(`${cwd}-kept`, { recursive: true, force: true });
    }
    assert.deepEqual(denied, ["Bash"]);
  });
});
