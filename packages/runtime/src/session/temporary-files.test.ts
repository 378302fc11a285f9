import assert from "node:assert/strict";
import { existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { createScriptedProvider } from "../model/scripted.ts";
import { textOf } from "../protocol/content.ts";
import { bashTool } from "../tools/builtin/bash.ts";
import { makeOwnFolder } from "../workspace/own-folder.ts";
import { InteractiveSession } from "./interactive-session.ts";

const top = realpathSync(mkdtempSync(join(tmpdir(), "outrider-temporary-")));
const cwd = join(top, "project");
const machine = join(top, "tmp");
for (const folder of [cwd, machine]) mkdirSync(folder);
after(() => rmSync(top, { recursive: true, force: true }));

const env = { PATH: process.env["PATH"] ?? "", HOME: top, TMPDIR: machine };

/** What the calls answered, one a turn, in a session that may run these commands. */
async function answers(
  id: string,
  calls: readonly (readonly [name: string, input: Record<string, unknown>])[],
): Promise<string[]> {
  const provider = createScriptedProvider([...calls.map(([name, input]) => ({ calls: [{ name, input }] })), { text: "ok" }]);
  const session = new InteractiveSession({
    cwd,
    provider,
    env,
    newId: () => id,
    allowedTools: ["Bash(npm test *)", "Bash(mktemp)"],
  });
  await session.submit("go");
  const results = provider.requests.at(-1)?.messages.flatMap((message) => (message.role === "tool" ? message.content : [])) ?? [];
  await session.shutdown();
  return results.map((part) => textOf(part.content));
}

describe("temporary files of commands", () => {
  it("lie in a folder of the session that the description names, may be read, and are gone with it", async () => {
    assert.match(bashTool.description, /\$TMPDIR, a folder of this session/);
    const [made = ""] = await answers("11111111-1111-4111-8111-111111111111", [["Bash", { command: "mktemp" }]]);
    const folder = made.slice(0, made.lastIndexOf("/"));
    assert.match(folder, /\/tmp\/outrider-tmp-[0-9a-f]{16}$/);
    assert.ok(!existsSync(folder));
    const [again = "", read = ""] = await answers("11111111-1111-4111-8111-111111111111", [
      ["Bash", { command: "mktemp" }],
      ["Read", { file_path: folder }],
    ]);
    assert.equal(again.slice(0, again.lastIndexOf("/")), folder);
    assert.match(read, /tmp\./);
    assert.deepEqual(readdirSync(machine), []);
  });

  it("leave a folder of that name alone that somebody else has made", async () => {
    const id = "22222222-2222-4222-8222-222222222222";
    const [first = ""] = await answers(id, [["Bash", { command: "mktemp" }]]);
    const folder = first.slice(0, first.lastIndexOf("/"));
    symlinkSync(cwd, folder);
    const [made = ""] = await answers(id, [["Bash", { command: "mktemp" }]]);
    assert.equal(made.slice(0, made.lastIndexOf("/")), machine);
    assert.ok(lstatSync(folder).isSymbolicLink());
    rmSync(folder);
    rmSync(made.trim());
  });

  it("are not put into a folder that somebody else has made there", () => {
    symlinkSync(cwd, join(top, "link"));
    assert.equal(makeOwnFolder(join(top, "link")), undefined);
    assert.equal(makeOwnFolder(join(top, "missing/below")), undefined);
    mkdirSync(join(top, "open"), { mode: 0o700 });
    assert.equal(makeOwnFolder(join(top, "open")), join(top, "open"));
  });
});
