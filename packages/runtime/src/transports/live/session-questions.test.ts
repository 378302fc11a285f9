import assert from "node:assert/strict";
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { hookEventNames } from "../../hooks/event-names.ts";
import type { JsonObject } from "../../protocol/content.ts";
import { type HostOptions, LiveHost } from "../../../../../test/support/live-host.ts";

let cwd = "";
let live: LiveHost;

beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), "outrider-questions-"));
});

afterEach(async () => {
  await live.close();
  rmSync(cwd, { recursive: true, force: true });
});

async function ask(subtype: string, more: JsonObject = {}): Promise<JsonObject> {
  const id = `${subtype}-${live.frames.length}`;
  live.request(id, { subtype, ...more });
  const answer = await live.reply(id);
  return (answer["response"] ?? answer) as JsonObject;
}

function start(options: Partial<HostOptions> = {}): void {
  live = new LiveHost({ cwd, replies: [], ...options });
}

describe("what a host may ask to know", () => {
  it("the models, the version and the styles, as the program describes itself", async () => {
    const described = { models: [{ value: "m" }], claude_code_version: "1.2.3", available_output_styles: ["plain"] };
    start({ live: { describe: async () => described } });
    assert.deepEqual(await ask("list_models"), { models: [{ value: "m" }] });
    assert.deepEqual(await ask("get_binary_version"), { version: "1.2.3", buildTime: null });
    assert.deepEqual(await ask("reload_output_styles"), { available_output_styles: ["plain"] });
  });

  it("nothing, where the program says nothing about itself", async () => {
    start({ live: { describe: async () => ({}) } });
    assert.deepEqual(await ask("list_models"), { models: [] });
    assert.deepEqual(await ask("get_binary_version"), { version: "", buildTime: null });
    assert.deepEqual(await ask("reload_output_styles"), { available_output_styles: [] });
  });

  it("what the session has taken so far, turn by turn, with the prices that are known", async () => {
    const usage = { inputTokens: 1_000, outputTokens: 100 };
    const models = [{ provider: "scripted", model: "scripted", price: { input: 2_000, output: 10_000 } }];
    const reply = { text: "done", usage, delayMs: 20 };
    start({ replies: [reply, reply], live: { catalogOverride: { models } } });
    const sums = { total_cost_usd: 0, total_duration_ms: 0, total_api_duration_ms: 0 };
    for (let turn = 1; turn <= 2; turn++) {
      live.say("go");
      const { duration_ms: wall, duration_api_ms: api } = await live.result(turn);
      assert.ok(Number(api) > 0 && Number(wall) > 0);
      sums.total_cost_usd += 3;
      sums.total_duration_ms += Number(wall);
      sums.total_api_duration_ms += Number(api);
      const session = (await ask("get_usage"))["session"] as Record<keyof typeof sums, number>;
      const { total_cost_usd, total_duration_ms, total_api_duration_ms } = session;
      assert.deepEqual({ total_cost_usd, total_duration_ms, total_api_duration_ms }, sums);
    }
    const text = String((await ask("get_session_cost"))["text"]);
    assert.match(text, /^Total cost: {12}\$6\.0000\nTotal duration \(API\): {2}\d+\.\ds\nTotal duration \(wall\): \d+\.\ds\n/);
    assert.match(text, /\nscripted: 2000 input, 200 output, 0 from the cache \(\$6\.0000\)$/);
  });

  it("that a price is not known", async () => {
    start({ replies: [{ text: "one", usage: { inputTokens: 5 } }] });
    live.say("go");
    await live.result();
    assert.equal(((await ask("get_usage"))["session"] as JsonObject)["total_cost_usd"], null);
    const text = String((await ask("get_session_cost"))["text"]);
    assert.match(text, /^Total cost: {12}at least \$0\.0000 \(a price is not known\)\n[\s\S]*\(price not known\)$/);
  });

  it("the hooks that run, in the order of a session's life, with nothing hidden in their words", async () => {
    const file = `${cwd}/.claude/settings.json`;
    const command = { type: "command", command: "check\n\u202eme", if: "Bash(rm:*)", timeout: 5 };
    const value = {
      Stop: [{ hooks: [{ type: "prompt", prompt: "Done?", once: true }] }],
      PreToolUse: [{ matcher: "Bash", hooks: [command] }],
    };
    start({
      session: {
        hookSettings: { sources: [{ value, source: file, trusted: true }] },
        hooks: { Stop: [{ hooks: [() => ({})] }] },
      },
      live: { settings: () => ({ effective: { disableAllHooks: true } }) },
    });
    const { events, hooks, eventCatalog, policy } = await ask("get_hooks_listing");
    assert.deepEqual(
      (events as JsonObject[]).map(({ name, supportsMatcher, hookCount }) => [name, supportsMatcher, hookCount]),
      [
        ["PreToolUse", true, 1],
        ["Stop", false, 2],
      ],
    );
    const shown = (text: string): JsonObject => ({ displayText: text, commandText: text });
    const settings = { source: "projectSettings", sourceLabel: file };
    assert.deepEqual(hooks, [
      {
        ...{ event: "PreToolUse", matcher: "Bash", ...settings, type: "command", contentLabel: "Command", timeout: 5 },
        ...{ ...shown("check\\n\\u{202e}me"), condition: "Bash(rm:*)" },
      },
      {
        ...{ event: "Stop", matcher: "", ...settings, type: "prompt", contentLabel: "Prompt", timeout: 30 },
        ...{ ...shown("Done?"), runsOnce: true },
      },
      {
        ...{ event: "Stop", matcher: "", source: "sessionHook", sourceLabel: "options", type: "callback" },
        ...{ ...shown("a function of the host"), contentLabel: "Function", timeout: 60 },
      },
    ]);
    assert.deepEqual(new Set((eventCatalog as JsonObject[]).map(({ name }) => name)), new Set(hookEventNames));
    assert.deepEqual(policy, {
      ...{ disabledByPolicy: false, managedOnly: false, pluginOnly: false, allDisabled: true, policyHookCount: 0 },
    });
  });

  it("no hooks where there are none", async () => {
    start();
    const { events, hooks } = await ask("get_hooks_listing");
    assert.deepEqual([events, hooks], [[], []]);
  });

  it("files whose path has the letters, of those that may be read", async () => {
    for (const name of ["alpha.txt", "beta.txt", "secret-alpha.txt"]) writeFileSync(join(cwd, name), "");
    start({ session: { disallowedTools: ["Read(secret*)"] } });
    const { suggestions, cwd: root } = await ask("file_suggestions", { query: "alp" });
    assert.deepEqual([suggestions, root], [[{ path: "alpha.txt" }], realpathSync(cwd)]);
    assert.equal((await ask("file_suggestions", { query: 7 }))["error"], "query must be a string");
  });

  it("where each rule comes from, and who may change it", async () => {
    const sources: readonly (readonly [source: string, told: string, editability: string])[] = [
      ["--managed-settings x", "policySettings", "readonly"],
      ["--settings x", "flagSettings", "readonly"],
      [`${cwd}/.claude/settings.local.json:1`, "localSettings", "persistent"],
      [`${cwd}/.claude/settings.json:1`, "projectSettings", "persistent"],
      ["/elsewhere/.claude/settings.json:1", "userSettings", "persistent"],
      ["somebody", "session", "session"],
    ];
    start({
      session: {
        ...{ allowedTools: ["Read"], disallowedTools: ["Bash(rm:*)"] },
        permissions: { root: cwd, ask: sources.map(([source], at) => ({ text: `Bash(x${at}:*)`, source })) },
      },
    });
    const { state } = (await ask("list_permission_rules")) as { state: JsonObject };
    const rules = state["rules"] as JsonObject[];
    assert.deepEqual(
      rules.map(({ behavior, rule, source, editability }) => [behavior, rule, source, editability]),
      [
        ["allow", "Read", "cliArg", "session"],
        ...sources.map(([, told, editability], at) => ["ask", `Bash(x${at}:*)`, told, editability]),
        ["deny", "Bash(rm:*)", "cliArg", "session"],
      ],
    );
    assert.deepEqual([state["originalCwd"], state["managedOnly"]], [cwd, false]);
  });

  it("that there is no such task, and that no plugins could be loaded again", async () => {
    start();
    for (const task of ["none", 7])
      assert.equal((await ask("get_task_output", { task_id: task }))["error"], `There is no task ${task}`);
    assert.match(String((await ask("reload_plugins"))["error"]), /no plugins here that could be loaded again/);
    assert.deepEqual(await ask("reload_skills"), { skills: [] });
  });
});
