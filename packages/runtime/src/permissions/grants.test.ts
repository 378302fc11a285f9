import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, realpathSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import fc from "fast-check";
import { decide } from "./decide.ts";
import { createGrants, grantFor, grantSources, isTooWideToRemember } from "./grants.ts";
import type { Policy } from "./policy.ts";
import { type Action, parseRule, type Rule } from "./rules.ts";

const base = { root: "/repo", home: "/home/user" };
const policy: Policy = { mode: "default", allow: [], ask: [], deny: [], base, readable: [] };
const run = (resource: string, cwd?: string): Action => ({ tool: "Bash", kind: "run", resource, ...(cwd && { cwd }) });

async function effectOf(action: Action, more: Partial<Policy>): Promise<string> {
  return (await decide({ ...policy, ...more }, [action])).effect;
}

function granted(action: Action): Rule {
  return grantFor(action, base) ?? assert.fail("it can be remembered");
}

describe("grantFor", () => {
  const same: [name: string, asked: Action, other: Action, expected: string][] = [
    ["a command", run("rm -rf build"), run("rm -rf build"), "allow"],
    ["no longer command", run("rm -rf build"), run("rm -rf build src"), "ask"],
    ["no part of another command", run("rm -rf build"), run("cd /tmp && rm -rf build"), "ask"],
    ["no command in another folder", run("rm -rf build"), run("rm -rf build", "/repo/sub"), "ask"],
    ["no command at the root that was shown elsewhere", run("rm -rf build", "/repo/sub"), run("rm -rf build"), "ask"],
    ["a script, not its interpreter", run("python3 a.py"), run("python3 b.py"), "ask"],
    ["a star as a star", run("rm *.log"), run("rm important.log"), "ask"],
    ["a command that is not understood, as it is", run("eval $X"), run("eval $X"), "allow"],
    [
      "a file, with whichever tool",
      { tool: "Edit", kind: "edit", resource: "/repo/a.ts" },
      { tool: "Write", kind: "edit", resource: "/repo/a.ts" },
      "allow",
    ],
    [
      "no other file",
      { tool: "Edit", kind: "edit", resource: "/repo/a*.ts" },
      { tool: "Edit", kind: "edit", resource: "/repo/ab.ts" },
      "ask",
    ],
    [
      "a file with a star in its name",
      { tool: "Edit", kind: "edit", resource: "/repo/a*.ts" },
      { tool: "Edit", kind: "edit", resource: "/repo/a*.ts" },
      "allow",
    ],
    [
      "reading, not changing",
      { tool: "Read", kind: "look", resource: "/etc/hosts" },
      { tool: "Edit", kind: "edit", resource: "/etc/hosts" },
      "ask",
    ],
    [
      "a protected file, by its name",
      { tool: "Edit", kind: "edit", resource: "/repo/.vscode/tasks.json" },
      { tool: "Edit", kind: "edit", resource: "/repo/.vscode/tasks.json" },
      "allow",
    ],
    [
      "a domain, with other pages",
      { tool: "WebFetch", kind: "reach", resource: "https://a.example/x" },
      { tool: "WebFetch", kind: "reach", resource: "https://a.example/y" },
      "allow",
    ],
    [
      "no domain below it",
      { tool: "WebFetch", kind: "reach", resource: "https://a.example/x" },
      { tool: "WebFetch", kind: "reach", resource: "https://b.a.example/" },
      "ask",
    ],
    [
      "a search, not all searches",
      { tool: "WebSearch", kind: "reach", resource: "cats" },
      { tool: "WebSearch", kind: "reach", resource: "dogs" },
      "ask",
    ],
  ];
  for (const [name, asked, other, expected] of same)
    it(`covers ${name}`, async () => {
      assert.equal(await effectOf(asked, {}), "ask", "else there was nothing to remember");
      assert.equal(await effectOf(other, { allow: [granted(asked)] }), expected);
    });

  it("stays below deny rules, ask rules and plan mode", async () => {
    const action = run("npm test");
    const allow = [granted(action)];
    assert.equal(await effectOf(action, { allow }), "allow");
    assert.equal(await effectOf(action, { allow, deny: [parseRule("Bash(npm:*)")] }), "deny");
    assert.equal(await effectOf(action, { allow, ask: [parseRule("Bash(npm test)")] }), "ask");
    assert.equal(await effectOf(action, { allow, mode: "plan" }), "deny");
  });

  it("is for a folder only where it is for a command", () => {
    assert.deepEqual(granted(run("ls /")).exactly, run("ls /", "/repo"));
    const look: Action = { tool: "Read", kind: "look", resource: "/etc/hosts" };
    assert.deepEqual(granted(look).exactly, look);
  });

  it("has nothing to remember for a call that does not say what it is about", () => {
    assert.equal(grantFor({ tool: "mcp__a__b", kind: "note", resource: "" }, base), undefined);
  });

  it("allows no other command than the one that was shown, whatever the two are", async () => {
    const command = fc
      .array(fc.constantFrom("rm", "-rf", "a", "b*", "*", "\\*", "&&", ";", "'x y'", ":*", " ", "bash -c", "$(id)", "\n"), {
        minLength: 1,
        maxLength: 6,
      })
      .map((words) => words.join(" "));
    await fc.assert(
      fc.asyncProperty(command, command, async (shown, other) => {
        const rule = grantFor(run(shown), base);
        if (shown === other || !rule) return;
        const without = await effectOf(run(other), {});
        assert.equal(await effectOf(run(other), { allow: [rule] }), without);
      }),
      { numRuns: 500 },
    );
  });
});

describe("the words of an answer", () => {
  it("name what it is about", () => {
    const textOf = (action: Action): string | undefined => grantFor(action, base)?.text;
    assert.equal(textOf({ tool: "WebSearch", kind: "reach", resource: "some words" }), "WebSearch(some words)");
    assert.equal(textOf({ tool: "WebFetch", kind: "reach", resource: "https://a.org/x" }), "WebFetch(domain:a.org)");
    assert.equal(textOf({ tool: "Skill", kind: "note", resource: "deploy" }), "Skill");
    assert.equal(textOf({ tool: "Skill", kind: "note", resource: "" }), undefined);
    assert.equal(grantFor(run("ls"), base)?.exactly?.cwd, "/repo");
    assert.equal(grantFor(run("ls", "/repo/sub"), base)?.exactly?.cwd, "/repo/sub");
  });
});

describe("isTooWideToRemember", () => {
  it("knows rules that allow running anything", () => {
    const wide = [
      "Bash",
      "Bash(*)",
      "Shell",
      "Bash(python:*)",
      "Bash(bash -c *)",
      "Bash(sudo:*)",
      "Bash(npx *)",
      "Bash(/usr/bin/env:*)",
      "Bash(* --x)",
      "Bash( bash:*)",
      "B*",
    ];
    for (const text of wide) assert.equal(isTooWideToRemember(parseRule(text)), true, text);
    for (const text of ["Bash(npm test:*)", "Bash(python a.py)", "Bash(python \\*)", "Edit", "WebFetch(domain:x)"])
      assert.equal(isTooWideToRemember(parseRule(text)), false, text);
  });
});

describe("createGrants", () => {
  function inFolder(body: (folder: string) => void): () => void {
    return () => {
      const folder = realpathSync(mkdtempSync(join(tmpdir(), "outrider-grants-")));
      try {
        body(folder);
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    };
  }

  const rule = granted(run("npm publish"));

  it(
    "keeps answers for the project in the user's own folder, and those of the session nowhere",
    inFolder((folder) => {
      const place = { root: "/repo", directory: join(folder, "grants"), now: () => 0 };
      const grants = createGrants(place);
      grants.remember(granted(run("ls /")), "session");
      assert.deepEqual(readdirSync(folder), []);
      grants.remember(rule, "project");
      assert.equal(grants.rules().length, 2);
      const [name = ""] = readdirSync(place.directory);
      assert.equal(statSync(join(place.directory, name)).mode & 0o777, 0o600);
      assert.deepEqual(createGrants(place).rules(), [{ ...rule, source: grantSources.project }]);
      assert.deepEqual(createGrants({ ...place, root: "/other" }).rules(), []);
      assert.equal(grants.forget(), true);
      assert.equal(grants.forget(), false);
      assert.deepEqual(createGrants(place).rules(), []);
      assert.equal(grants.rules().length, 1, "the session goes on");
    }),
  );

  it(
    "loses no answer when several runs remember",
    inFolder((directory) => {
      const runs = Array.from({ length: 5 }, () => createGrants({ root: "/repo", directory }));
      for (const [index, grants] of runs.entries()) grants.remember(granted(run(`do ${index}`)), "project");
      assert.equal(createGrants({ root: "/repo", directory }).rules().length, 5);
    }),
  );

  it(
    "takes nothing from lines that are broken, speak of another project or allow everything",
    inFolder((directory) => {
      const grants = createGrants({ root: "/repo", directory });
      grants.remember(rule, "project");
      const [name = ""] = readdirSync(directory);
      const lines = [
        "{",
        "null",
        '{"root":"/other","rule":"Edit"}',
        '{"root":"/repo","rule":"Bash(*)"}',
        '{"root":"/repo","rule":"Bash(python:*)"}',
        '{"root":"/repo","rule":"Bash(x)","exactly":{"tool":"Bash"}}',
        '{"root":"/repo","rule":"Bash(x)","exactly":null}',
        '{"root":"/repo","rule":"Bash(x)","exactly":"x"}',
        ...[
          { tool: 1, kind: "run", resource: "x" },
          { tool: "Bash", kind: "x", resource: "x" },
          { tool: "Bash", kind: "run", resource: "" },
          { tool: "Bash", kind: "run", resource: 1 },
          { tool: "Bash", kind: "run", resource: "x", cwd: 1 },
          { tool: "Bash", kind: "run", resource: "x", shell: 1 },
        ].map((exactly) => JSON.stringify({ root: "/repo", rule: "Bash(x)", exactly })),
        '{"root":"/repo","rule":1}',
        '{"root":"/repo","rule":"("}',
        '{"root":"/repo","rule":"Edit(./a.ts)"}',
      ];
      writeFileSync(join(directory, name), `${lines.join("\n")}\n`);
      assert.deepEqual(
        createGrants({ root: "/repo", directory })
          .rules()
          .map(({ text }) => text),
        ["Edit(./a.ts)"],
      );
    }),
  );

  it(
    "neither reads nor writes answers inside the project",
    inFolder((directory) => {
      const elsewhere = createGrants({ root: join(directory, "deep"), directory: join(directory, "grants") });
      elsewhere.remember(rule, "project");
      const inside = createGrants({ root: directory, directory: join(directory, "grants") });
      assert.throws(() => inside.remember(rule, "project"), { code: "config" });
      assert.deepEqual(inside.rules(), []);
    }),
  );

  it(
    "keeps every kind of answer, and those of a home that is a project",
    inFolder((home) => {
      const place = { root: home, home, directory: join(home, "grants") };
      const kinds = ["look", "edit", "run", "reach", "note"] as const;
      for (const kind of kinds)
        createGrants(place).remember(granted({ tool: "Bash", kind, resource: "/x", cwd: "/", shell: "sh" }), "project");
      assert.deepEqual(
        createGrants(place)
          .rules()
          .map(({ exactly }) => exactly?.kind),
        kinds,
      );
      assert.equal(statSync(place.directory).mode & 0o777, 0o700);
    }),
  );

  it(
    "says when an answer cannot be kept, and keeps it in no list then",
    inFolder((folder) => {
      writeFileSync(join(folder, "file"), "");
      const grants = createGrants({ root: "/repo", directory: join(folder, "file") });
      assert.throws(() => grants.remember(rule, "project"), { code: "storage-failed" });
      assert.deepEqual(grants.rules(), []);
      const nowhere = createGrants({ root: "/repo" });
      assert.throws(() => nowhere.remember(rule, "project"), { code: "config" });
      assert.equal(nowhere.forget(), false);
    }),
  );

  it("remembers nothing that would allow running anything", () => {
    assert.throws(() => createGrants({ root: "/repo" }).remember(parseRule("Bash(node:*)"), "session"), { code: "usage" });
  });
});
