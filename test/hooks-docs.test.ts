import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { createScriptedProvider, type ScriptStep } from "../packages/runtime/src/model/scripted.ts";
import { InteractiveSession } from "../packages/runtime/src/session/interactive-session.ts";

const document = readFileSync(join(process.env["OUTRIDER_ROOT"] ?? process.cwd(), "docs/hooks.md"), "utf8");
const examples = [...document.matchAll(/```json\n(.*?)```/gs)].map(([, json = ""]) => JSON.parse(json) as { hooks?: object });
const folder = mkdtempSync(join(tmpdir(), "outrider-hooks-docs-"));
after(() => rmSync(folder, { recursive: true, force: true }));

/** Runs a prompt with the one example that has hooks for this event. */
async function run(event: string, replies: ScriptStep[], prompt = "go") {
  const found = examples.filter(({ hooks }) => hooks && event in hooks);
  assert.equal(found.length, 1, event);
  const provider = createScriptedProvider(replies);
  const hookSettings = { sources: [{ value: found[0]?.hooks, source: "docs/hooks.md", trusted: true }] };
  const session = new InteractiveSession({ cwd: folder, provider, permissionMode: "acceptEdits", hookSettings });
  const outcome = await session.submit(prompt);
  await session.shutdown();
  return { outcome, last: JSON.stringify(provider.requests.at(-1)?.messages), requests: provider.requests.length };
}

describe("the examples in docs/hooks.md", () => {
  it("guard .env files", async () => {
    writeFileSync(join(folder, ".env"), "KEY=1");
    writeFileSync(join(folder, "a.txt"), "plain text");
    const read = (file_path: string) => ({ name: "Read", input: { file_path } });
    const { last } = await run("PreToolUse", [{ calls: [read(".env"), read("a.txt")] }, { text: "Done." }]);
    assert.match(last, /Leave \.env files alone\./);
    assert.match(last, /plain text/);
    assert.doesNotMatch(last, /KEY=1/);
  });

  it("tell the branch", async () => {
    execFileSync("git", ["init", "-q", "-b", "topic"], { cwd: folder });
    assert.match((await run("SessionStart", [{ text: "Hi." }])).last, /The branch is topic/);
  });

  it("keep passwords out", async () => {
    const { outcome, requests } = await run("UserPromptSubmit", [], "my password is x");
    assert.deepEqual([outcome.type === "stopped" && outcome.reason, requests], ["No passwords in prompts, please.", 0]);
    assert.equal((await run("UserPromptSubmit", [{ text: "Hi." }], "hello")).outcome.type, "completed");
  });

  it("let the model stop when the checks pass", async () => {
    writeFileSync(join(folder, "check.sh"), "#!/bin/sh\necho 'a.txt is missing a line'\ngrep -q more a.txt\n", { mode: 0o755 });
    const edit = { name: "Write", input: { file_path: "b.txt", content: "more" } };
    const fixing: ScriptStep = () => {
      writeFileSync(join(folder, "a.txt"), "more");
      return { calls: [edit] };
    };
    const { outcome, last, requests } = await run("Stop", [{ text: "Done?" }, fixing, { text: "Done." }]);
    assert.deepEqual([outcome, requests], [{ type: "completed", text: "Done." }, 3]);
    assert.match(last, /a\.txt is missing a line/);
  });

  it("say what to do instead of asking", async () => {
    const bash = (command: string) => ({ name: "Bash", input: { command, description: "t" } });
    const { last } = await run("PermissionRequest", [
      { calls: [bash("cd . && npm publish"), bash("npm install x")] },
      { text: "Ok." },
    ]);
    assert.equal(last.match(/Releases are made by CI: push a tag\./g)?.length, 1);
  });
});
