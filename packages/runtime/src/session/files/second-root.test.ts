import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { createCheckpoints } from "../../checkpoints/checkpoints.ts";
import type { ScriptedCall } from "../../model/scripted.ts";
import { defineTool, type Tool } from "../../tools/tool.ts";
import { cast, eventsOf, handsOut, openStage, reader } from "../../../../../test/support/subagent-stage.ts";
import type { SessionOptions } from "../session-options.ts";

let base: string;
let project: string;
let copy: string;

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "outrider-second-root-")));
  project = join(base, "project");
  copy = join(base, "copy");
  for (const folder of [project, copy]) {
    mkdirSync(folder);
    writeFileSync(join(folder, "n.txt"), `of ${folder}\n`);
    writeFileSync(join(folder, "secret.txt"), "hidden\n");
  }
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

/** A tool that has work done in another folder. */
function elsewhere(): Tool {
  return defineTool<object>({
    name: "Elsewhere",
    description: "Has work done in another folder",
    inputSchema: { type: "object" },
    concurrent: true,
    access: async () => ({ kind: "note", resources: [] }),
    async execute(_, { tasks, callId }) {
      const started = tasks?.start({ callId, agent: reader, description: "elsewhere", prompt: "go", root: copy });
      const end = await started?.ended;
      return { content: [{ type: "text", text: end?.outcome.type ?? "none" }] };
    },
  });
}

async function work(calls: ScriptedCall[], options: Partial<SessionOptions> = {}) {
  const provider = cast({ parent: handsOut({ name: "Elsewhere", input: {} }), child: handsOut(...calls) });
  const kept = (root = project) =>
    createCheckpoints({ directory: join(base, "checkpoints"), sessionId: root === project ? "main" : "copy", root });
  const { session, close } = openStage(project, provider, {
    tools: [elsewhere()],
    permissionMode: "acceptEdits",
    checkpoints: async (root) => kept(root),
    ...options,
  });
  const outcome = await session.submit("go");
  const events = await close();
  const results = eventsOf(events, "tool.ended").filter(({ taskId }) => taskId !== undefined);
  const checkpoints = async (root?: string) => (await kept(root).list()).map(({ fileCount }) => fileCount);
  return { outcome, statuses: results.map(({ status }) => status), text: JSON.stringify(results), checkpoints };
}

describe("work in another folder than the session's", () => {
  it("starts there: files and commands", async () => {
    const { text, statuses } = await work([
      { name: "Read", input: { file_path: "n.txt" } },
      { name: "Bash", input: { command: "pwd" } },
    ]);
    assert.deepEqual(statuses, ["ok", "ok"]);
    assert.match(text, new RegExp(`of ${copy}`));
    assert.doesNotMatch(text, new RegExp(project));
  });

  it("may change files there where no checkpoints are kept", async () => {
    const { statuses } = await work([{ name: "Write", input: { file_path: join(copy, "new.txt"), content: "x" } }], {
      checkpoints: undefined,
    });
    assert.deepEqual([statuses, existsSync(join(copy, "new.txt"))], [["ok"], true]);
  });

  it("may change files there and not in the session's own folder", async () => {
    const { statuses } = await work([
      { name: "Write", input: { file_path: join(copy, "new.txt"), content: "x" } },
      { name: "Write", input: { file_path: join(project, "new.txt"), content: "x" } },
    ]);
    assert.deepEqual([statuses, existsSync(join(copy, "new.txt"))], [["ok", "denied"], true]);
    assert.equal(existsSync(join(project, "new.txt")), false);
  });

  it("has what rules allow in the session's folder allowed there instead, and what they forbid forbidden in both", async () => {
    const calls: ScriptedCall[] = [project, copy].flatMap((folder) => [
      { name: "Read", input: { file_path: join(folder, "secret.txt") } },
      { name: "Write", input: { file_path: join(folder, "new.txt"), content: "x" } },
    ]);
    const { statuses } = await work(calls, {
      permissionMode: "default",
      permissions: {
        allow: [{ text: "Edit(./new.txt)", source: "settings" }],
        deny: [{ text: "Read(./secret.txt)", source: "settings" }],
      },
    });
    assert.deepEqual(statuses, ["denied", "denied", "denied", "ok"]);
    assert.deepEqual([existsSync(join(project, "new.txt")), existsSync(join(copy, "new.txt"))], [false, true]);
  });

  it("has checkpoints of its own, by which it is undone", async () => {
    const { checkpoints } = await work([{ name: "Write", input: { file_path: join(copy, "new.txt"), content: "x" } }]);
    assert.deepEqual([await checkpoints(), await checkpoints(copy)], [[], [1]]);
  });

  it("is refused in words where the folder is none", async () => {
    rmSync(copy, { recursive: true });
    const { outcome } = await work([]);
    assert.equal(outcome.type, "completed");
    assert.equal(existsSync(copy), false);
  });

  it("leaves the session where it was", async () => {
    await work([{ name: "Bash", input: { command: "echo changed > n.txt" } }], { allowedTools: ["Bash"] });
    assert.equal(readFileSync(join(project, "n.txt"), "utf8"), `of ${project}\n`);
    assert.equal(readFileSync(join(copy, "n.txt"), "utf8"), "changed\n");
  });
});
