import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import type { Hooks } from "../hooks/hook.ts";
import { PermissionGate } from "../permissions/gate.ts";
import { parseRule } from "../permissions/rules.ts";
import type { JsonValue } from "../protocol/content.ts";
import { RuntimeError } from "../protocol/errors.ts";
import type { EventBody } from "../protocol/events.ts";
import { createToolMemory } from "../tools/tool.ts";
import { createRedactor } from "../util/redact.ts";
import { createLocalWorkspace } from "../workspace/local.ts";
import type { AuditEntry } from "./deps.ts";
import { type JudgeDeps, judgeCall } from "./judge-call.ts";
import { bash, bashCall, callbackHooks } from "../../../../test/support/bash-calls.ts";

const folder = mkdtempSync(join(tmpdir(), "outrider-judge-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const workspace = createLocalWorkspace({ root: folder, env: {}, overflowDirectory: join(folder, "overflow") });

type Setup = { allow?: string[]; ask?: string[]; deny?: string[]; hooks?: Hooks; answerable?: boolean };

function depsWith(setup: Setup) {
  const events: EventBody[] = [];
  const audited: AuditEntry[] = [];
  const remembered: unknown[] = [];
  const rules = (texts: string[] = []) => texts.map((text) => parseRule(text, "settings.json"));
  const gate = new PermissionGate();
  const deps: JudgeDeps = {
    tools: new Map([["Bash", bash]]),
    workspace,
    memory: createToolMemory(),
    policy: () => ({
      mode: "default",
      allow: rules(setup.allow),
      ask: rules(setup.ask),
      deny: rules(setup.deny),
      base: { root: folder, home: undefined },
      readable: [],
    }),
    gate,
    answerable: setup.answerable ?? false,
    redactor: createRedactor({ env: { SERVICE_TOKEN: "correct-horse-battery" } }),
    emit: (event) => events.push(event),
    signal: new AbortController().signal,
    newId: () => "r1",
    halt: () => {},
    audit: (entry) => audited.push(entry),
    remember: async (actions, scope) => {
      remembered.push({ actions, scope });
      if (scope === "project") throw new RuntimeError("config", "there is no place for it");
      return [];
    },
    hooks: setup.hooks,
  };
  return { deps, events, audited, remembered, gate };
}

const hooksOf = (value: unknown): Hooks => callbackHooks(value, workspace);
const allow = () => ({ hookSpecificOutput: { permissionDecision: "allow" } });

describe("the verdict on a call", () => {
  it("is given to the audit where it is told, with what the call is about and the rule's source", async () => {
    const { deps, events, audited } = depsWith({ deny: ["Bash(rm:*)"] });
    await judgeCall(deps, bashCall("rm -rf x"), bash);
    const verdict = {
      callId: "c1",
      tool: "Bash",
      effect: "deny" as const,
      by: "rule" as const,
      reason: "The rule Bash(rm:*) forbids it",
      rule: "Bash(rm:*)",
      source: "settings.json",
    };
    assert.deepEqual(audited, [{ ...verdict, resource: "rm -rf x" }]);
    assert.deepEqual(events, [{ type: "permission.decided", ...verdict }]);
  });

  it("that rests on a remembered answer says so", async () => {
    const { deps, audited } = depsWith({});
    const exactly = { tool: "Bash", kind: "run", resource: "npm install", cwd: folder } as const;
    const rule = { ...parseRule("Bash(npm install)", "an answer given in this session"), exactly };
    await judgeCall({ ...deps, policy: () => ({ ...deps.policy(), allow: [rule] }) }, bashCall("npm install"), bash);
    assert.deepEqual(
      audited.map(({ effect, by, source }) => [effect, by, source]),
      [["allow", "grant", "an answer given in this session"]],
    );
  });

  it("of a hook does not answer an ask rule", async () => {
    const { deps, audited } = depsWith({
      ask: ["Bash(npm publish:*)"],
      hooks: hooksOf({ PreToolUse: [{ hooks: [allow] }] }),
    });
    const judged = [await judgeCall(deps, bashCall("npm publish"), bash), await judgeCall(deps, bashCall("npm install"), bash)];
    assert.deepEqual(
      judged.map(({ type }) => type),
      ["refused", "allowed"],
    );
    assert.deepEqual(
      audited.map(({ effect, by }) => [effect, by]),
      [
        ["deny", "policy"],
        ["allow", "hook"],
      ],
    );
  });

  it("of a PermissionRequest hook does, as a person's would", async () => {
    const seen: unknown[] = [];
    const answer = (input: Record<string, unknown>) => {
      seen.push(input["permission_suggestions"]);
      return { hookSpecificOutput: { decision: { behavior: "allow" } } };
    };
    let asked = 0;
    const before = () => {
      asked++;
      return {};
    };
    const { deps } = depsWith({
      ask: ["Bash(npm publish:*)"],
      hooks: hooksOf({
        PreToolUse: [{ hooks: [{ type: "callback", callback: before, guard: true }] }],
        PermissionRequest: [{ hooks: [answer] }],
      }),
    });
    assert.equal((await judgeCall(deps, bashCall("npm publish"), bash)).type, "allowed");
    assert.equal(asked, 1); // again only about an input that was changed
    assert.deepEqual(seen, [
      [
        {
          type: "addRules",
          rules: [{ toolName: "Bash", ruleContent: "npm publish" }],
          behavior: "allow",
          destination: "session",
        },
      ],
    ]);
  });

  it("is a no when an answer makes an input of the call that no longer fits, or has no bottom", async () => {
    let deep: JsonValue = "x";
    for (let level = 0; level < 600; level++) deep = [deep];
    for (const [updatedInput, reason] of [
      [{ command: 7 }, /no longer fits: .*command/],
      [{ command: "npm ci", more: deep }, /nested more than 500 levels deep/],
    ] as const) {
      const { deps, gate, audited } = depsWith({ answerable: true });
      const judging = judgeCall(deps, bashCall("npm install"), bash);
      await eventually(() => {
        if (!gate.question("r1")) return false;
        gate.answer("r1", { decision: "allow", updatedInput });
        return true;
      });
      assert.equal((await judging).type, "refused");
      assert.match(audited[0]?.reason ?? "", reason);
    }
  });

  it("is a no when an answer makes a call of it that a rule forbids", async () => {
    const { deps, gate, audited } = depsWith({ answerable: true, deny: ["Bash(git push:*)"] });
    const judging = judgeCall(deps, bashCall("npm install"), bash);
    await eventually(() => {
      if (!gate.question("r1")) return false;
      gate.answer("r1", { decision: "allow", updatedInput: { command: "git push" } });
      return true;
    });
    assert.equal((await judging).type, "refused");
    assert.deepEqual(
      audited.map(({ effect, rule }) => [effect, rule]),
      [["deny", "Bash(git push:*)"]],
    );
  });

  it("is a no when an answer makes a call of it that could not be undone", async () => {
    const { deps, gate, audited } = depsWith({ answerable: true });
    const irreversible: JudgeDeps["irreversible"] = ({ input }) =>
      JSON.stringify(input).includes("push") ? ({ message: "it cannot be undone" } as never) : undefined; // only its words count here
    const judging = judgeCall({ ...deps, irreversible }, bashCall("npm install"), bash);
    await eventually(() => {
      if (!gate.question("r1")) return false;
      gate.answer("r1", { decision: "allow", updatedInput: { command: "git push" } });
      return true;
    });
    const judged = await judging;
    assert.equal(judged.type === "refused" && judged.text, "Not run: it cannot be undone");
    assert.deepEqual(
      audited.map(({ effect, by }) => [effect, by]),
      [["deny", "policy"]],
    );
  });

  it("with nobody there is a no that names the rule which would allow it, and so does the question", async () => {
    const { deps, events } = depsWith({});
    const judged = await judgeCall(deps, bashCall("npm install"), bash);
    assert.match(
      judged.type === "refused" ? judged.text : "",
      /nobody is here to give it\. A rule that would allow it: Bash\(npm install\)$/,
    );
    const question = events.find((event) => event.type === "permission.requested");
    assert.equal(question?.rule, "Bash(npm install)");
    const asked = depsWith({ ask: ["Bash"] });
    await judgeCall(asked.deps, bashCall("npm install"), bash);
    assert.deepEqual(
      asked.events.map(({ type }) => type),
      ["permission.requested", "permission.resolved", "permission.decided"],
    );
  });

  it("that is to be remembered is handed on with exactly what was shown, and holds although it cannot be kept", async () => {
    const { deps, gate, remembered, events } = depsWith({ answerable: true });
    const judging = judgeCall(deps, bashCall("npm install"), bash);
    await eventually(() => {
      try {
        gate.answer("r1", { decision: "allow", remember: "project" });
        return true;
      } catch {
        return false;
      }
    });
    assert.equal((await judging).type, "allowed");
    assert.deepEqual(remembered, [{ actions: [{ tool: "Bash", kind: "run", resource: "npm install" }], scope: "project" }]);
    assert.match(JSON.stringify(events), /not remembered: there is no place for it/);
  });
});

async function eventually(check: () => boolean): Promise<void> {
  for (let tries = 0; tries < 1000; tries++) {
    if (check()) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error("never happened");
}
