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

  it("holds for the session and allows, where it says nothing else", () => {
    const { state: after, remember, notes } = apply({ type: "addRules", rules: ["WebSearch"] });
    assert.deepEqual([texts(after.allow), remember, notes], [["Edit", "WebSearch"], [], []]);
  });

  it("keeps one of two same rules, remembers no prohibition, and refuses no prohibition for its width", () => {
    const twice = apply({ type: "addRules", rules: ["WebSearch"] }, apply({ type: "addRules", rules: ["WebSearch"] }).state);
    assert.deepEqual(texts(twice.state.allow), ["Edit", "WebSearch"]);
    const both = apply({ type: "addRules", rules: ["Glob"] }, twice.state);
    assert.deepEqual(texts(both.state.allow), ["Edit", "WebSearch", "Glob"]);
    assert.deepEqual(texts(apply({ type: "addRules", rules: ["Edit"] }).state.allow), ["Edit", "Edit"]);
    const wide = apply({ type: "addRules", rules: ["Bash"], behavior: "deny", destination: "localSettings" });
    assert.deepEqual([texts(wide.state.deny), wide.remember, wide.notes], [["Bash(rm:*)", "Bash"], [], []]);
    assert.deepEqual(apply({ type: "removeRules", rules: ["Bash"], behavior: "allow" }).notes, []);
    const asked = apply({ type: "replaceRules", rules: ["Bash", "Edit"], behavior: "ask" });
    assert.deepEqual([texts(asked.state.ask), asked.notes], [["Bash", "Edit"], []]);
  });

  it("forgets what was remembered for the project as well, and says where what stays is written", () => {
    const remembered = { ...state, allow: [parseRule("WebSearch", grantSources.project), parseRule("Edit")] };
    const removed = apply({ type: "removeRules", rules: ["WebSearch", "Edit", "Read"] }, remembered);
    assert.deepEqual([texts(removed.state.allow), removed.notes], [["Edit"], ["Edit stays: it is written in the settings"]]);
    assert.deepEqual(texts(apply({ type: "replaceRules", rules: [] }, remembered).state.allow), ["Edit"]);
  });

  it("says what was expected of an update that does not fit", () => {
    const cases: [JsonValue, RegExp][] = [
      [null, /A permission update must be an object/],
      [[], /A permission update must be an object/],
      [{ type: "addRules", destination: "x" }, /wrong destination; expected session, localSettings/],
      [{ type: "addRules", behavior: "x", rules: [] }, /wrong behavior; expected allow, ask, deny/],
      [{ type: "addRules", rules: "Bash" }, /wrong rules; expected a list/],
      [{ type: "addRules", rules: [1] }, /A rule of a permission update must be an object/],
      [{ type: "addRules", rules: [{}] }, /wrong rules; expected objects with toolName/],
      [{ type: "addRules", rules: [{ toolName: "Bash", ruleContent: 1 }] }, /wrong ruleContent; expected a text/],
      [{ type: "setMode", mode: "x" }, /wrong mode; expected the name/],
      [{ type: "addDirectories", directories: ["a"] }, /wrong directories; expected absolute paths/],
      [{ type: "addDirectories", directories: [1] }, /wrong directories; expected absolute paths/],
      [{ type: "removeDirectories" }, /wrong directories; expected a list/],
      [{ type: "x" }, /wrong type; expected addRules/],
    ];
    for (const [update, message] of cases) assert.throws(() => apply(update), { code: "usage", message });
    const local = { type: "setMode", mode: "plan", destination: "userSettings" };
    assert.match(apply(local).notes[0] ?? "", /meant for userSettings holds for this session/);
    assert.deepEqual(apply({ type: "addDirectories", directories: ["/a", "/a"] }).state.directories, ["/a"]);
    assert.deepEqual(
      apply({ type: "removeDirectories", directories: ["/a"] }, { ...state, directories: ["/a", "/b"] }).state.directories,
      ["/b"],
    );
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
