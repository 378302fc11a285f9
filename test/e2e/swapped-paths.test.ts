import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { detectSandbox } from "../../packages/runtime/src/workspace/detect-sandbox.ts";
import { model, run, tempFolder } from "./command.ts";

const found = await detectSandbox();
const needsBox = found.available ? {} : { skip: found.reason };

/** In the box, in the background: two names that change places all the time, one of them a link that leads outside. */
const swapper = (outside: string): string =>
  `mkdir race; ln -s ${outside} race2; touch ready; for ((i = 0; i < 20000; i++)); do mv race x; mv race2 race; mv x race2; done; sleep 60`;

const bash = (command: string, more: object = {}) => ({
  calls: [{ name: "Bash", input: { command, description: "run", ...more } }],
});

type Line = readonly [command: string, more?: object];
type Given = { readonly args: readonly string[]; readonly before: (outside: string) => readonly Line[] };

/** Where each line ran, one call each, and what the last ones left outside. */
async function placesOf(lines: readonly string[], { args, before }: Given, more: object = {}) {
  const folder = tempFolder("swapped");
  const [cwd, outside] = [join(folder, "work"), join(folder, "outside")];
  for (const path of [cwd, outside]) mkdirSync(path);
  execFileSync("git", ["init", "-q", cwd]);
  writeFileSync(join(cwd, "payload"), "payload\n");
  const marked = lines.map((line) => bash(`echo "place:$TMPDIR:"; ${line}`, more));
  const calls = [...before(outside).map(([command, input]) => bash(command, input)), ...marked];
  const { env, server } = await model([...calls, { text: "done" }, { text: "done" }], join(folder, "home"));
  const words = ["-p", "go", "--cwd", cwd, "--background-wait", "0", ...args];
  const ended = await run(words, { env: { ...env, TMPDIR: "/var/tmp" }, cwd });
  assert.equal(ended.code, 0, ended.stderr);
  const last = server.requests[calls.length]?.body as
    | { messages: { content: { type: string; content: unknown }[] }[] }
    | undefined;
  const results = (last?.messages ?? []).flatMap(({ content }) => (Array.isArray(content) ? content : []));
  const texts = results.flatMap(({ type, content }) => (type === "tool_result" ? [JSON.stringify(content)] : []));
  return { places: texts.slice(-lines.length).map(placeIn), outside: readdirSync(outside) };
}

function placeIn(text: string): string {
  if (/is still running and could change|outside the sandbox needs permission/.test(text)) return "asked";
  const [, folder] = /place:(\/.*?):/.exec(text) ?? [];
  return folder === undefined ? text : folder === "/tmp" ? "box" : "outside";
}

describe("a path that a program in the box may swap", needsBox, () => {
  const rules = ["--allowedTools", "Bash(git status:*),Bash(cp:*)"];
  const sandboxed = ["--permission-mode", "sandboxed", ...rules];
  const swapped: Given["before"] = (outside) => [
    [swapper(outside), { run_in_background: true }],
    ["until [ -e ready ]; do sleep 0.05; done"],
  ];
  const lines = ["cp payload race/post-commit", "echo x >> race/a; git status --short | head -1", "cat < payload; git status"];

  it("keeps a line that names one in the box, in mode sandboxed", async () => {
    const { places, outside } = await placesOf([...lines, ...lines], { args: sandboxed, before: swapped });
    assert.deepEqual({ places, outside }, { places: [...lines, ...lines].map(() => "box"), outside: [] });
  });

  it("needs permission where the line is to leave the box", async () => {
    const { places } = await placesOf(lines, { args: sandboxed, before: swapped }, { dangerouslyDisableSandbox: true });
    assert.deepEqual(places, ["asked", "asked", "asked"]);
  });

  it("needs permission in other modes", async () => {
    const before = (): Line[] => [["tail -f payload", { run_in_background: true }]];
    const args = ["--permission-mode", "acceptEdits", ...rules];
    assert.deepEqual((await placesOf(["cp payload copy"], { args, before })).places, ["asked"]);
  });

  it("does not matter to a line that names none, nor once the program has ended", async () => {
    const git = await placesOf(["git status --short | head -1"], { args: sandboxed, before: swapped });
    assert.deepEqual(git.places, ["outside"]);
    const alone = await placesOf(["cp payload copy"], { args: sandboxed, before: () => [["mkdir race"]] });
    assert.deepEqual(alone.places, ["outside"]);
  });
});
