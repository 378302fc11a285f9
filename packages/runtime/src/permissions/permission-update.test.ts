import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import type { JsonValue } from "../protocol/content.ts";
import { RuntimeError } from "../protocol/errors.ts";
import { grantSources } from "./grants.ts";
import { applyPermissionUpdate, type PolicyState, parsePermissionUpdate } from "./permission-update.ts";
import { parseRule } from "./rules.ts";

const state: PolicyState = {
  mode: "default",
  allow: [parseRule("Edit", "settings.json:3")],
  ask: [],
  deny: [parseRule("Bash(rm:*)", "settings.json:5")],
  readable: ["/tmp/overflow"],
  directories: [],
  mayBypass: false,
};

function apply(update: JsonValue, from: PolicyState = state) {
  return applyPermissionUpdate(from, parsePermissionUpdate(update));
}

const texts = (rules: readonly { readonly text: string }[]): string[] => rules.map(({ text }) => text);
const npmTest = { toolName: "Bash", ruleContent: "npm test:*" };

describe("applyPermissionUpdate", () => {
  it("adds rules for the session", () => {
    const {
      state: after,
      remember,
      notes,
    } = apply({ type: "addRules", rules: [npmTest], behavior: "allow", destination: "session" });
    assert.deepEqual(after.allow.at(-1), parseRule("Bash(npm test:*)", grantSources.session));
    assert.deepEqual([after.allow.length, remember, notes], [2, [], []]);
  });

  it("hands back for the project what was meant for local settings", () => {
    const { state: after, remember } = apply({
      type: "addRules",
      rules: [npmTest],
      behavior: "allow",
      destination: "localSettings",
    });
    assert.deepEqual([after.allow.length, texts(remember)], [2, ["Bash(npm test:*)"]]);
  });

  it("writes no settings, and says so", () => {
    for (const destination of ["projectSettings", "userSettings"]) {
      const { state: after, remember, notes } = apply({ type: "addRules", rules: [npmTest], behavior: "allow", destination });
      assert.deepEqual([after.allow.length, remember.length, notes.length], [2, 0, 1]);
    }
  });

  it("adds no rule that would allow running anything", () => {
    const rules = [{ toolName: "Bash", ruleContent: "python:*" }, { toolName: "Bash" }, npmTest];
    const { state: after, remember, notes } = apply({ type: "addRules", rules, behavior: "allow", destination: "localSettings" });
    assert.deepEqual(
      [texts(after.allow), texts(remember), notes.length],
      [["Edit", "Bash(npm test:*)"], ["Bash(npm test:*)"], 2],
    );
  });

  it("removes and replaces only what answers added", () => {
    const { state: added } = apply({ type: "addRules", rules: [npmTest], behavior: "allow", destination: "session" });
    const removed = apply({ type: "removeRules", rules: [npmTest, { toolName: "Edit" }], behavior: "allow" }, added);
    assert.deepEqual([texts(removed.state.allow), removed.notes], [["Edit"], ["Edit stays: it is written in settings.json:3"]]);
    const replaced = apply({ type: "replaceRules", rules: [{ toolName: "WebSearch" }], behavior: "allow" }, added);
    assert.deepEqual(texts(replaced.state.allow), ["Edit", "WebSearch"]);
    const denied = apply({ type: "replaceRules", rules: [], behavior: "deny" });
    assert.deepEqual(texts(denied.state.deny), ["Bash(rm:*)"]);
  });

  it("sets modes, but not the one that needs its own flag", () => {
    assert.equal(apply({ type: "setMode", mode: "acceptEdits", destination: "session" }).state.mode, "acceptEdits");
    const bypass = { type: "setMode", mode: "bypassPermissions", destination: "session" };
    const { state: after, notes } = apply(bypass);
    assert.deepEqual([after.mode, notes.length], ["default", 1]);
    assert.equal(apply(bypass, { ...state, mayBypass: true }).state.mode, "bypassPermissions");
  });

  it("adds and removes directories", () => {
    const { state: after } = apply({ type: "addDirectories", directories: ["/data"], destination: "session" });
    assert.deepEqual(after.directories, ["/data"]);
    assert.deepEqual(apply({ type: "removeDirectories", directories: ["/data"] }, after).state.directories, []);
  });

  it("never loses a rule that was written down, and never throws anything but a usage error", () => {
    const update = fc.oneof(
      fc.json().map((text) => JSON.parse(text) as JsonValue),
      fc.record({
        type: fc.constantFrom("addRules", "replaceRules", "removeRules", "setMode", "addDirectories", "removeDirectories", "x"),
        behavior: fc.constantFrom("allow", "deny", "ask", "x"),
        destination: fc.constantFrom("session", "localSettings", "userSettings", "x"),
        mode: fc.constantFrom("plan", "bypassPermissions", "x"),
        rules: fc.array(fc.record({ toolName: fc.constantFrom("Bash", "Edit", "", "("), ruleContent: fc.string() })),
        directories: fc.array(fc.constantFrom("/a", "relative")),
      }),
    );
    fc.assert(
      fc.property(update, (value) => {
        try {
          const { state: after } = apply(value as JsonValue);
          assert.ok(after.deny.includes(state.deny[0] ?? assert.fail()) && after.allow.includes(state.allow[0] ?? assert.fail()));
        } catch (error) {
          assert.ok(error instanceof RuntimeError && error.code === "usage", String(error));
        }
      }),
      { numRuns: 1000 },
    );
  });
});
