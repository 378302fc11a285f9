import assert from "node:assert/strict";
import { resolve as resolvePath } from "node:path";
import { describe, it } from "node:test";
import { explainPermission, kindOf } from "./explain.ts";
import type { Policy } from "./policy.ts";

const root = "/repo/proj";
const policy: Policy = {
  mode: "default",
  allow: [],
  ask: [],
  deny: [],
  base: { root, home: undefined },
  readable: [],
  inertGit: async () => "/inert",
};
const explain = (call: string, mode: Policy["mode"] = "default") =>
  explainPermission(call, { ...policy, mode }, async (path) => resolvePath(root, path));

describe("an explanation", () => {
  it("tells the programs of a command, what it writes to, and what is not understood", async () => {
    const command = "touch b.txt && sort a.txt > c.txt 2>/dev/null; touch b.txt $x";
    const { programs, changes, doubt, effect } = await explain(`Bash(${command})`);
    assert.deepEqual(
      [effect, programs, changes, doubt],
      ["ask", ["touch b.txt", "sort a.txt", "touch b.txt …"], ["b.txt", "…", "c.txt"], undefined],
    );
    assert.deepEqual(await explain("Bash(git status)"), {
      effect: "allow",
      reason: "It only looks at the project",
      programs: ["git status"],
    });
    const changing: [string, string[]][] = [
      ["touch b.txt", ["b.txt"]],
      ["sort -o b.txt a.txt", ["b.txt"]],
      ["sort a.txt --output=b.txt", ["b.txt"]],
      ["ls | tee -p b.txt c.txt", ["b.txt", "c.txt"]],
      ["timeout 5 tee -a b.txt < a.txt", ["b.txt"]],
      ["sed -i s/a/b/ a.txt", ["a.txt"]],
      ["curl -o b.txt https://example.org", ["b.txt"]],
    ];
    for (const [command, changes] of changing) assert.deepEqual((await explain(`Bash(${command})`)).changes, changes, command);
    assert.match((await explain("Bash(echo 'a)")).doubt ?? "", /./);
  });

  it("tells about other calls by the file or the address", async () => {
    assert.deepEqual(await explain("Read(./a.ts)"), { effect: "allow", reason: "Reading in the project is allowed" });
    assert.equal(
      (await explain(" Edit(../a.ts) ", "acceptEdits")).reason,
      "Changing /repo/a.ts needs permission in mode acceptEdits",
    );
    assert.equal((await explain("WebFetch(https://example.org)")).rule, "WebFetch(domain:example.org)");
    assert.equal((await explain("TodoWrite")).effect, "allow");
    assert.equal((await explain("mcp__a__b")).effect, "ask");
  });

  it("needs a call of a known tool, about something", async () => {
    const wrong: [string, RegExp][] = [
      ["", /Not a call/],
      ["rm -rf x", /Not a call/],
      ["Wrte(./a)", /did you mean Write/],
      ["Bash", /Bash needs something to be about, like Bash/],
      ["Read()", /Read needs something/],
      ["WebFetch", /WebFetch needs something/],
    ];
    for (const [call, message] of wrong) await assert.rejects(explain(call), { code: "usage", message }, call);
  });

  it("knows what kinds of tools do", () => {
    const names = ["Bash", "Shell", "Glob", "NotebookEdit", "WebSearch", "mcp__a__b", "Task", "WriteX"];
    assert.deepEqual(names.map(kindOf), ["run", "run", "look", "edit", "reach", "reach", "note", "note"]);
  });
});
