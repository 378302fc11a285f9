import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { whyNoSandbox } from "../support/sandbox-place.ts";
import { lines, model, run, tempFolder } from "./command.ts";

const skip = await whyNoSandbox();

type Call = { readonly name: string; readonly input: object };

/** A project whose own hook, or that of a flag, runs a script in it; the model does the given calls. */
async function play(calls: readonly Call[], { flags, isOfFlag = false }: { flags: string[]; isOfFlag?: boolean }) {
  const home = tempFolder("scripts-of-hooks");
  const project = join(home, "project");
  const script = join(project, "tools/deep/h.sh");
  mkdirSync(join(project, ".claude"), { recursive: true });
  mkdirSync(join(project, "tools/deep"), { recursive: true });
  writeFileSync(script, "#!/bin/sh\necho ok\n");
  chmodSync(script, 0o755);
  const hooks = { PostToolUse: [{ hooks: [{ type: "command", command: "./tools/deep/h.sh >&2 || exit 2" }] }] };
  if (!isOfFlag) writeFileSync(join(project, ".claude/settings.json"), JSON.stringify({ hooks }));
  const { env, server } = await model([...calls.map((call) => ({ calls: [call] })), { text: "done" }], home);
  const own = isOfFlag ? ["--settings", JSON.stringify({ hooks })] : ["--trust-project"];
  const ended = await run(["-p", "x", "--output-format", "stream-json", "--verbose", ...own, ...flags], {
    cwd: project,
    env: { ...env, HOME: home },
  });
  assert.equal(ended.code, 0, ended.stderr);
  const said = JSON.stringify(lines(ended.stdout).filter(({ type }) => type === "user"));
  return { said, requests: server.requests.length, ran: existsSync(join(project, "ran")), text: readFileSync(script, "utf8") };
}

const evil = "touch ran";
const untouched = "#!/bin/sh\necho ok\n";

describe("scripts of the project that hooks run", () => {
  for (const isOfFlag of [false, true]) {
    it(`are not the model's to edit: ${isOfFlag ? "a hook of the user's" : "a hook of a trusted project"}`, async () => {
      const calls = [
        { name: "Read", input: { file_path: "tools/deep/h.sh" } },
        { name: "Edit", input: { file_path: "tools/deep/h.sh", old_string: "echo ok", new_string: evil } },
        { name: "Write", input: { file_path: "tools/deep/other.txt", content: "x" } },
      ];
      const { said, ran, text } = await play(calls, { flags: ["--permission-mode", "acceptEdits"], isOfFlag });
      assert.match(said, /hooks or servers of this session run it/);
      assert.match(said, /Created tools\/deep\/other\.txt/);
      assert.deepEqual({ ran, text }, { ran: false, text: untouched });
    });
  }

  it("may be edited where a rule is written for them", async () => {
    const calls = [
      { name: "Read", input: { file_path: "tools/deep/h.sh" } },
      { name: "Edit", input: { file_path: "tools/deep/h.sh", old_string: "echo ok", new_string: "echo two" } },
    ];
    const { text } = await play(calls, { flags: ["--allowedTools", "Edit(./tools/deep/h.sh)"] });
    assert.equal(text, "#!/bin/sh\necho two\n");
  });

  it("cannot be changed, replaced or moved away in the sandbox", { skip }, async () => {
    const commands = [
      `echo '${evil}' > tools/deep/h.sh`,
      `mv tools t2; mkdir -p tools/deep; echo '${evil}' > tools/deep/h.sh`,
      "mv tools/deep d2; rm -rf tools; ln -s /tmp tools",
      "echo hi > tools/deep/new.txt && cat tools/deep/new.txt",
    ];
    const calls = commands.map((command) => ({ name: "Bash", input: { command } }));
    const { said, ran, text } = await play(calls, { flags: ["--permission-mode", "sandboxed"] });
    assert.match(said, /Read-only file system/);
    assert.match(said, /"hi/);
    assert.deepEqual({ ran, text }, { ran: false, text: untouched });
  });
});
