import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import type { JsonObject } from "../../protocol/content.ts";
import { LiveHost } from "../../../../../test/support/live-host.ts";

let cwd = "";
let live: LiveHost;

beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), "outrider-flag-settings-"));
  live = new LiveHost({
    ...{ cwd, replies: [{ text: "one" }, { text: "two" }] },
    live: { resolveModel: async (name) => (name === "small" ? "the-small-one" : name) },
  });
});

afterEach(async () => {
  await live.close();
  rmSync(cwd, { recursive: true, force: true });
});

let requests = 0;
async function ask(request: JsonObject): Promise<JsonObject> {
  const id = `r${++requests}`;
  live.request(id, request);
  return await live.reply(id);
}

/** The error, or undefined where it was done. */
async function apply(settings: JsonObject): Promise<unknown> {
  return (await ask({ subtype: "apply_flag_settings", settings }))["error"];
}

async function applied(): Promise<unknown> {
  return ((await ask({ subtype: "get_settings" }))["response"] as JsonObject)["applied"];
}

/** The rules that hold, and the folders that belong to the work. */
async function state(): Promise<unknown> {
  const answer = (await ask({ subtype: "list_permission_rules" }))["response"] as { state: JsonObject };
  const { rules, workspaceDirectories } = answer.state as { rules: JsonObject[]; workspaceDirectories: JsonObject[] };
  return [rules.map(({ behavior, rule }) => `${behavior} ${rule}`), workspaceDirectories.map(({ path }) => path)];
}

describe("settings that a host changes while the session lives", () => {
  it("model and effort are set, and taken back with null or the word default", async () => {
    assert.equal(await apply({ model: "small", effortLevel: "high" }), undefined);
    assert.deepEqual(await applied(), { model: "the-small-one", effort: "high" });
    assert.equal(await apply({ model: "default", effortLevel: null }), undefined);
    assert.deepEqual(await applied(), { model: "scripted", effort: null });
    await apply({ model: "small" });
    await apply({ model: null });
    assert.deepEqual(await applied(), { model: "scripted", effort: null });
  });

  it("rules, folders and the mode hold until the next request that names permissions", async () => {
    const permissions = { allow: ["Bash(ls (a|b):*)", "Read"], deny: "Write", additionalDirectories: [cwd], defaultMode: "plan" };
    assert.equal(await apply({ permissions }), undefined);
    assert.deepEqual(await state(), [["allow Bash(ls (a|b):*)", "allow Read", "deny Write"], [cwd]]);
    assert.equal(await apply({ permissions: { ask: ["Edit"] } }), undefined);
    assert.deepEqual(await state(), [["ask Edit"], []]);
    assert.equal(await apply({ permissions: null }), undefined);
    assert.deepEqual(await state(), [[], []]);
    live.say("hello");
    await live.result();
    const init = live.frames.find(({ subtype }) => subtype === "init");
    assert.equal(init?.["permissionMode"], "plan");
  });

  it("nothing of a request is done when one of its settings cannot be changed", async () => {
    const refused: readonly (readonly [JsonObject, RegExp])[] = [
      [{ effortLevel: "enormous" }, /^The setting "effortLevel" cannot be changed.*model, effortLevel and permissions can$/],
      [{ effortLevel: "toString" }, /^The setting "effortLevel" cannot be changed/],
      [{ model: 7 }, /^The setting "model" cannot be changed/],
      [{ permissions: [] }, /^The setting "permissions" cannot be changed/],
      [{ hooks: {} }, /^The setting "hooks" cannot be changed/],
      [{ permissions: { disableBypass: true } }, /^permissions\.disableBypass cannot be changed/],
      [{ permissions: { defaultMode: "reckless" } }, /^There is no permission mode reckless/],
      [{ permissions: { allow: ["Read"], additionalDirectories: 7 } }, /./],
    ];
    for (const [settings, said] of refused)
      assert.match(String(await apply({ ...settings, ...(!("model" in settings) && { model: "other" }) })), said);
    assert.deepEqual(await applied(), { model: "scripted", effort: null });
    assert.deepEqual(await state(), [[], []]);
  });
});
