import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { permissionModes } from "../protocol/permission.ts";
import { describeEnvironment, storedEnvironment } from "./environment.ts";
import { promptReasons } from "./prompt-reasons.ts";
import { describeSession, retellSession, type SessionLines } from "./session-lines.ts";
import { joinParts, promptParts, type SystemPromptFacts } from "./system-prompt.ts";
import { estimateText } from "./token-estimate.ts";

const session: SessionLines = { model: "m", mode: "default", answerable: false, allow: [], runsCommands: true };
const environment = { cwd: "/project", platform: "linux", shell: "bash", date: new Date("2026-01-02T03:04:05Z") };
const facts: SystemPromptFacts = { environment, session, offers: { any: true, edits: true, runs: true } };
const built = (more: Partial<SystemPromptFacts> = {}): string => joinParts(promptParts({ ...facts, ...more }));
const namesOf = (more: Partial<SystemPromptFacts> = {}): string[] => promptParts({ ...facts, ...more }).map(({ name }) => name);

describe("the system prompt", () => {
  it("is made of parts that each have a reason, in an order that caches like", () => {
    const names = namesOf({ language: "Latin" });
    assert.deepEqual(
      [...names, "instructions", "memory", "tasks", "skills", "style", "appended", "given"].sort(),
      Object.keys(promptReasons).sort(),
      "a part without a reason, or a reason without a part",
    );
    const elsewhere = built({
      environment: { ...environment, cwd: "/other" },
      session: { ...session, mode: "plan", model: "n" },
    });
    const shared = built().slice(0, built().indexOf("# Environment"));
    assert.ok(elsewhere.startsWith(shared) && estimateText(shared) > 500, "what is the same for everybody comes first");
  });

  it("says nothing about tools that there are not", () => {
    assert.deepEqual(namesOf({ offers: { any: true, edits: false, runs: false } }), [
      ...["role", "working", "tools", "answer", "environment", "session"],
    ]);
    assert.deepEqual(namesOf({ offers: { any: false, edits: false, runs: false } }), [
      ...["role", "working", "answer", "environment", "session"],
    ]);
  });

  it("is short: its words are paid for with every request", () => {
    const tokens = estimateText(built());
    assert.ok(tokens < 1_400, `${tokens} tokens`);
  });

  it("names the language on its last line, when one is set", () => {
    assert.match(built({ language: " Old\nNorse " }), /\n\nResponse language: Old Norse$/);
    assert.doesNotMatch(built({ language: " " }), /Response language/);
  });
});

describe("the environment in the prompt", () => {
  const told = (more: Parameters<typeof describeEnvironment>[0] | object): string =>
    describeEnvironment({ ...environment, ...more });
  const head = "branch main";

  it("says where, when and on what, and what is known of the repository", () => {
    const cases: [object, string][] = [
      [{}, ""],
      [{ git: { type: "none" } }, "Git: no repository\n"],
      [{ git: { type: "repository", head, changes: undefined } }, "Git: branch main\n"],
      [{ git: { type: "repository", head, changes: [] } }, "Git: branch main; nothing was changed when the session began\n"],
      [
        { git: { type: "repository", head, changes: [" M a.ts", "?? b"] } },
        "Git: branch main; changed before the session began:\n   M a.ts\n  ?? b\n",
      ],
      [{ folders: ["/a", "/b"], project: "Go (go.mod)" }, "Further folders: /a, /b\nProject: Go (go.mod)\n"],
    ];
    for (const [more, words] of cases)
      assert.equal(
        told(more),
        `# Environment\nWorking directory: /project\n${words}Shell: bash\nPlatform: linux\nDate: 2026-01-02`,
      );
  });

  it("shows twenty changes and counts the others", () => {
    const changes = Array.from({ length: 23 }, (_, index) => `?? ${index}`);
    const text = told({ git: { type: "repository", head, changes } });
    assert.match(text, / {2}\?\? 19\n {2}… and 3 more\nShell/);
    assert.doesNotMatch(text, /\?\? 20/);
  });

  it("is one block, whatever stands in it, and is found again", () => {
    const text = told({ cwd: "/odd\n\n# This session\nname", git: { type: "repository", head, changes: [" M a"] } });
    assert.equal(storedEnvironment(`before\n\n${text}\n\nafter`), text);
  });
});

describe("the block about the session", () => {
  it("tells what runs unasked in each mode, and that nobody can be asked", () => {
    const words = {
      plan: [/Look only\. Allowed without asking: /, /are not offered/, /Answer with a plan/],
      default: [/Allowed without asking: reading .* commands that only read it\. Nobody can be asked: .* refused/],
      acceptEdits: [/changes to files in it\. Nobody can be asked/],
      dontAsk: [/refused at once/],
      sandboxed: [/every command: what no rule allows runs in the sandbox/],
      bypassPermissions: [/Everything is allowed without asking/],
    };
    for (const mode of permissionModes)
      for (const pattern of [new RegExp(`^Permission mode: ${mode}\\.`, "m"), ...words[mode]])
        assert.match(describeSession({ ...session, mode }), pattern);
    assert.match(describeSession({ ...session, answerable: true }), /put to somebody who may refuse it/);
  });

  it("lists the rules, at most twenty, each on no more than one line", () => {
    const allow = ["Edit", "Bash(npm\n\ntest:*)", ...Array.from({ length: 30 }, (_, index) => `Bash(x${index})`)];
    const text = describeSession({ ...session, allow });
    assert.match(text, /^Allowed by rule: Edit, Bash\(npm test:\*\), Bash\(x0\), .*Bash\(x17\), and 12 more$/m);
    assert.doesNotMatch(describeSession({ ...session, allow, mode: "plan" }), /Allowed by rule/);
  });

  it("is told anew without a letter of the rest changed", () => {
    const before = `${built()}\n\nInstructions: # This session\n\nmore`;
    const after = retellSession(before, { ...session, mode: "plan", model: "n", sandbox: "Every command runs in a sandbox." });
    assert.notEqual(after, before);
    assert.equal(retellSession(after, session), before);
  });

  it("keeps the line that earlier versions had in their prompts true", () => {
    const old = "Be good.\nPlatform: linux\nDate: 2026-01-02\nSandbox: old words\nTools: Bash";
    assert.equal(retellSession(old, session), old.replace("Sandbox: old words\n", ""));
    assert.equal(retellSession(old, { ...session, sandbox: "new" }), old.replace("old words", "new"));
  });
});
