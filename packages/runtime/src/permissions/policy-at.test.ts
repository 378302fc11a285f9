import assert from "node:assert/strict";
import { it } from "node:test";
import { policyOf } from "../../../../test/support/command-scene.ts";
import { decide } from "./decide.ts";
import { policyAt } from "./policy-at.ts";
import { type Action, parseRule } from "./rules.ts";

it("in another root rules allow what they did in the first one, and forbid in both", async () => {
  const run = (resource: string, cwd?: string): Action => ({ tool: "Bash", kind: "run", resource, ...(cwd && { cwd }) });
  const edit = (resource: string): Action => ({ tool: "Edit", kind: "edit", resource });
  const policy = policyOf({
    allow: [parseRule("Edit(//repo/src/**)"), parseRule("Edit(//elsewhere/**)"), { ...parseRule("Bash"), exactly: run("make") }],
    deny: [parseRule("Edit(//repo/src/secret)")],
  });
  const effects = async (at: typeof policy): Promise<string[]> => {
    const actions = ["/repo/src/a", "/second/src/a", "/elsewhere/a", "/repo/src/secret", "/second/src/secret"].map(edit);
    const judged = [...actions, run("make"), run("make", "/repo"), run("make", "/second")].map((action) =>
      decide(at, [action], async (path) => path),
    );
    return (await Promise.all(judged)).map(({ effect }) => effect);
  };
  assert.deepEqual(await effects(policy), ["allow", "ask", "allow", "deny", "ask", "allow", "allow", "ask"]);
  assert.deepEqual(await effects(policyAt(policy, "/second")), ["ask", "allow", "allow", "deny", "deny", "ask", "allow", "ask"]);
});
