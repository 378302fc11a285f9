import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
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
