import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { createScriptedProvider } from "../model/scripted.ts";
import { textOf } from "../protocol/content.ts";
import { InteractiveSession } from "./interactive-session.ts";
import type { SessionOptions } from "./session-options.ts";

const top = realpathSync(mkdtempSync(join(tmpdir(), "outrider-place-")));
const cwd = join(top, "project");
mkdirSync(join(cwd, "app/src"), { recursive: true });
mkdirSync(join(cwd, "lib"));
mkdirSync(join(top, "beside"));
writeFileSync(join(cwd, "app/src/a.txt"), "in app\n");
writeFileSync(join(cwd, "lib/only.txt"), "in lib\n");
writeFileSync(join(top, "beside/b.txt"), "beside\n");
after(() => rmSync(top, { recursive: true, force: true }));

type Call = readonly [name: string, input: Record<string, unknown>];

/** What each call answered, one call a turn, and the paths that hooks were told of. */
async function answers(
  calls: readonly Call[],
  options: Partial<SessionOptions> = {},
): Promise<{ said: string[]; hooked: unknown[] }> {
  const hooked: unknown[] = [];
  const provider = createScriptedProvider([...calls.map(([name, input]) => ({ calls: [{ name, input }] })), { text: "ok" }]);
  const session = new InteractiveSession({
    ...{ cwd, provider, permissionMode: "bypassPermissions", overflowDirectory: join(top, "overflow") },
    hooks: {
      PreToolUse: [
        {
          hooks: [
            async ({ tool_input: input }) => {
              hooked.push(Object(input)["file_path"]);
              return {};
            },
          ],
        },
      ],
    },
    ...options,
  });
  await session.submit("go");
  await session.shutdown();
  const results = provider.requests.at(-1)?.messages.flatMap((message) => (message.role === "tool" ? message.content : [])) ?? [];
  return { said: results.map((part) => textOf(part.content)), hooked };
}

describe("one working directory", () => {
  it("tells hooks when a command has left another one behind, and only then", async () => {
    const moves: unknown[] = [];
    const hears = async ({ old_cwd: from, new_cwd: to }: Record<string, unknown>) => {
      moves.push([from, to]);
      return {};
    };
    await answers([...["cd app", "ls", "cd ..", `cd ${top}/beside`].map((command): Call => ["Bash", { command }])], {
      hooks: { CwdChanged: [{ hooks: [hears] }] },
    });
    assert.deepEqual(moves, [
      [cwd, join(cwd, "app")],
      [join(cwd, "app"), cwd],
    ]);
  });

  it("is where commands, paths, searches and patches start", async () => {
    const { said } = await answers([
      ["Bash", { command: "cd app" }],
      ["Read", { file_path: "src/a.txt" }],
      ["Glob", { pattern: "**/*.txt" }],
      ["Grep", { pattern: "in" }],
      ["Edit", { file_path: "src/a.txt", old_string: "in app", new_string: "changed" }],
      ["Write", { file_path: "src/new.txt", content: "x\n" }],
      ["Read", { file_path: "lib/only.txt" }],
      ["Bash", { command: "pwd" }],
    ]);
    assert.deepEqual(
      said.map((text) => text.split("\n").slice(0, 2)),
      [
        ["(no output)", `(The working directory is ${cwd}/app now.)`],
        ["     1\tin app"],
        ["src/a.txt"],
        ["src/a.txt"],
        ["Replaced 1 occurrence in src/a.txt. Now around line 1:", "     1\tchanged"],
        ["Created src/new.txt (1 line)."],
        ["     1\tin lib"], // named from where the session began, and only there
        [join(cwd, "app")],
      ],
    );
    assert.equal(readFileSync(join(cwd, "app/src/a.txt"), "utf8"), "changed\n");
  });

  it("is told to hooks by whole paths", async () => {
    const { hooked } = await answers([
      ["Bash", { command: "cd app/src" }],
      ["Read", { file_path: "a.txt" }],
    ]);
    assert.deepEqual(hooked, [undefined, join(cwd, "app/src/a.txt")]);
  });

  it("is also where patches start", async () => {
    await answers(
      [
        ["Bash", { command: "cd lib" }],
        ["apply_patch", { input: "*** Begin Patch\n*** Update File: only.txt\n-in lib\n+patched\n*** End Patch" }],
      ],
      { model: "gpt-5" },
    );
    assert.equal(readFileSync(join(cwd, "lib/only.txt"), "utf8"), "patched\n");
  });

  it("may be in another folder of the work, and nowhere else", async () => {
    const beside = join(top, "beside");
    const calls: Call[] = [
      ["Bash", { command: `cd ${beside}` }],
      ["Bash", { command: "pwd" }],
    ];
    const [, inside] = (await answers(calls, { permissions: { additionalDirectories: [beside] } })).said;
    const [moved, outside] = (await answers(calls)).said;
    assert.deepEqual([inside, outside], [beside, cwd]);
    assert.equal(moved, `(no output)\n(${beside} is outside of the project: the working directory is ${cwd}.)`);
  });
});
