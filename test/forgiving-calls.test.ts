import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import {
  createScriptedProvider,
  InteractiveSession,
  type InteractiveSessionOptions,
} from "../packages/runtime/src/exports/index.ts";

const root = realpathSync(mkdtempSync(join(tmpdir(), "outrider-forgiving-")));
after(() => rmSync(root, { recursive: true, force: true }));

type Call = { name: string; input?: Record<string, unknown>; malformedInput?: string };

/** What the model is told of each call, and what was announced of it. */
async function run(
  calls: Call[],
  options: Pick<InteractiveSessionOptions, "permissions" | "permissionMode"> = {},
): Promise<{ told: string[]; started: unknown[] }> {
  const provider = createScriptedProvider([...calls.map((call) => ({ calls: [call] })), { text: "done" }]);
  const session = new InteractiveSession({ cwd: root, provider, bare: true, ...options });
  const told: string[] = [];
  const started: unknown[] = [];
  const reading = (async () => {
    for await (const event of session.events({ types: ["tool.started", "tool.ended", "turn.ended"] })) {
      if (event.type === "tool.started") started.push(event.input);
      if (event.type === "tool.ended")
        told.push(event.result.content.map((part) => (part.type === "text" ? part.text : part.type)).join("\n"));
      if (event.type === "turn.ended") return;
    }
  })();
  await session.submit("go");
  await reading;
  await session.shutdown();
  return { told, started };
}

describe("a call that is nearly right", () => {
  it("is run as it was meant, and the model is told", async () => {
    writeFileSync(join(root, "a.txt"), "one\ntwo\nthree\n");
    const { told, started } = await run([
      { name: "read", input: { path: "a.txt", offset: "2", limit: 1 } },
      { name: "Read", input: { file_path: "a.txt", offset: 0, limit: null } },
    ]);
    assert.deepEqual(started, [
      { file_path: "a.txt", offset: 2, limit: 1 },
      { file_path: "a.txt", offset: 1 },
    ]);
    assert.deepEqual(told, [
      "     2\ttwo\n[Lines 2 to 2 of 3 are shown. Go on with offset 3.]\n" +
        '[Input: "path" was taken for "file_path". "offset" came as text and was taken as a number.]',
      '     1\tone\n     2\ttwo\n     3\tthree\n[Input: "offset" was 0; 1 is the least, and was used.]',
    ]);
  });

  it("is judged as it is run: another spelling goes around no rule", async () => {
    writeFileSync(join(root, "secret.txt"), "hidden\n");
    const { told } = await run(
      [
        { name: "READ", input: { path: "secret.txt" } },
        { name: "bash", input: { cmd: "echo changed > secret.txt" } },
      ],
      {
        permissions: {
          deny: [
            { text: "Read(./secret.txt)", source: "test" },
            { text: "Bash", source: "test" },
          ],
        },
      },
    );
    assert.match(told[0] ?? "", /^Not permitted: /);
    assert.match(told[1] ?? "", /^(Not permitted: |There is no tool named bash)/);
    assert.equal(readFileSync(join(root, "secret.txt"), "utf8"), "hidden\n");
  });

  it("is found by the names that some models give to tools", async () => {
    writeFileSync(join(root, "a.txt"), "one\n");
    const names = ["functions.Read", "Read ", "default_api.read"];
    const { told } = await run(names.map((name) => ({ name, input: { file_path: "a.txt" } })));
    assert.equal(told.length, 3);
    assert.match(told[0] ?? "", /^ +1\tone/);
    for (const said of told) assert.doesNotMatch(said, /There is no tool/);
  });

  it("changes a file by a list of changes alone", async () => {
    writeFileSync(join(root, "b.txt"), "one\ntwo\n");
    const edits = [
      { old_string: "one", new_string: "1" },
      { old_string: "two", new_string: "2" },
    ];
    await run(
      [
        { name: "Read", input: { file_path: "b.txt" } },
        { name: "Edit", input: { file_path: "b.txt", edits } },
      ],
      { permissionMode: "acceptEdits" },
    );
    assert.equal(readFileSync(join(root, "b.txt"), "utf8"), "1\n2\n");
  });

  it("is read again where its input came as text inside of text, and refused where that is broken", async () => {
    writeFileSync(join(root, "a.txt"), "one\n");
    const { told, started } = await run([
      { name: "Read", malformedInput: JSON.stringify(JSON.stringify({ file_path: "a.txt" })) },
      { name: "Read", malformedInput: '{"file_path": "a.t' },
    ]);
    assert.deepEqual(started, [{ file_path: "a.txt" }]);
    assert.match(told[0] ?? "", /^ +1\tone/);
    assert.match(told[1] ?? "", /not valid JSON|could not be read|JSON/);
  });

  it("is refused for what is wrong alone, not for what would have been understood", async () => {
    const { told } = await run([
      { name: "Grep", input: { pattern: "a", output_mode: "everything", "-C": "1" } },
      { name: "Write", input: { path: "c.txt", body: "x" } },
    ]);
    assert.deepEqual(told, [
      'Invalid input for Grep: "output_mode" must be one of "content", "files_with_matches" or "count", not the string "everything".',
      'Invalid input for Write: "content" is required but missing. "body" is not a known property; the known ones are "file_path" and "content".',
    ]);
  });

  it("is refused with what to send where it could mean two things", async () => {
    const { told, started } = await run([
      { name: "Bash", input: { command: "ls", env: { HOME: "/" } } },
      { name: "Read", input: { path: "a.txt", filePath: "b.txt" } },
    ]);
    assert.deepEqual(started, []);
    assert.match(told[0] ?? "", /^Invalid input for Bash: "env" is not a known property/);
    assert.match(told[1] ?? "", /^Invalid input for Read: "file_path" is required but missing/);
  });
});
