import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { judge, root, rules } from "../../../../test/support/command-scene.ts";
import type { Policy } from "./policy.ts";
import type { Action } from "./rules.ts";

/** The verdict while a program lives in the box, and the one without. */
async function verdicts(command: string, rule: string, given: Partial<Policy> = {}, more: Partial<Action> = {}) {
  const policy = { allow: rules(rule), ...given };
  const [now, before] = await Promise.all([
    judge(command, { ...policy, mayPathsMove: () => true }, more),
    judge(command, { ...policy, mayPathsMove: () => false }, more),
  ]);
  return [now.effect, before.effect];
}

describe("a line that a rule takes outside while a program lives in the box", () => {
  const asked: [command: string, rule: string, more?: Partial<Action>][] = [
    ["echo x >> a.txt; made-up", "Bash(made-up:*)"],
    ["made-up < a.txt", "Bash(made-up)"],
    ["cp a.txt sub/b", "Bash(cp:*)"],
    ["cat a.txt; made-up", "Bash(made-up:*)"],
    ["grep -r x . ; made-up", "Bash(made-up:*)"],
    ["made-up a.txt", "Bash(made-up:*)"],
    ["made-up --to=a.txt", "Bash(made-up:*)"],
    ["timeout 5 made-up a.txt", "Bash(made-up:*)"],
    ["cd sub && made-up", "Bash(made-up:*)"],
    ["npm run build sub/b", "Bash(npm run:*)"],
    ["made-up", "Bash(made-up:*)", { cwd: `${root}/sub` }],
    ["made-up a.txt", "Bash"],
    ["cp a.txt sub/b", "Bash(*)"],
  ];
  for (const [command, rule, more] of asked)
    it(`is asked about where a path decided: ${command}${more?.cwd ? " in another folder" : ""}`, async () => {
      const given: Partial<Policy> = command.startsWith("echo") || command.startsWith("cp") ? { mode: "acceptEdits" } : {};
      assert.deepEqual(await verdicts(command, rule, given, more), ["ask", "allow"]);
    });

  const run: [command: string, rule: string, given?: Partial<Policy>, more?: Partial<Action>][] = [
    ["git status", "Bash(git status:*)"],
    ["ls; made-up", "Bash(made-up:*)"],
    ["seq 3; made-up", "Bash(made-up:*)"],
    ["git tag a/b", "Bash(git tag:*)"],
    ["git status --short | head -1", "Bash(git status:*)"],
    ["npm test", "Bash(npm test)"],
    ["npm run build", "Bash(npm run:*)"],
    ["made-up a.txt", "Bash(made-up a.txt)"],
    ["made-up a.txt; echo x", "Bash(made-up a.txt)"],
    ["made-up --flag -v", "Bash(made-up:*)"],
    ["made-up > /dev/null 2>&1", "Bash(made-up:*)"],
    ["made-up", "Bash"],
    ["git status", "Bash"],
    ["cat a.txt", "Read", { mode: "bypassPermissions" }],
    ["cat a.txt", "Read", { mode: "bypassPermissions", deny: rules("Bash(curl:*)", "WebFetch") }],
    ["made-up", "Read", { mode: "bypassPermissions", deny: rules("Read(./.env)") }],
    ["cat a.txt", "Read"],
    ["echo x > a.txt", "Read", { mode: "acceptEdits" }],
    ["made-up", "Bash(made-up:*)", { directories: ["/beside"] }, { cwd: "/beside" }],
  ];
  for (const [command, rule, given, more] of run)
    it(`runs where no path did, or in the box: ${command} by ${rule}`, async () =>
      assert.deepEqual(await verdicts(command, rule, given, more), ["allow", "allow"]));

  for (const text of ["Read(./.env)", "Edit(./b.txt)"])
    it(`is asked about where all is bypassed but ${text}`, async () => {
      assert.deepEqual(await verdicts("cat a.txt", "Read", { mode: "bypassPermissions", deny: rules(text) }), ["ask", "allow"]);
      assert.deepEqual(await verdicts("cp a.txt c.txt", "Read", { mode: "bypassPermissions", ask: rules(text) }), [
        "ask",
        "allow",
      ]);
    });

  it("says why, and denies where nobody is asked", async () => {
    const given = { allow: rules("Bash(cp:*)"), mayPathsMove: () => true };
    assert.match((await judge("cp a.txt b.txt", { ...given, mode: "acceptEdits" })).reason, /sandbox is still running and could/);
    const denied = await judge("made-up; cat a.txt", { ...given, allow: rules("Bash(made-up)"), mode: "dontAsk" });
    assert.equal(denied.effect, "deny");
  });

  it("runs in the box in the mode that has one for everything", async () => {
    const box = async () => ({ reaches: () => false, writable: [] });
    const given: Partial<Policy> = { allow: rules("Bash(cp:*)"), mode: "sandboxed", box, mayPathsMove: () => true };
    const { effect, by, reason } = await judge("cp a.txt b.txt", given);
    assert.deepEqual([effect, by, reason], ["allow", undefined, "The sandbox contains it"]);
    assert.equal((await judge("cp a.txt b.txt", given, { outside: true })).effect, "ask");
  });
});
