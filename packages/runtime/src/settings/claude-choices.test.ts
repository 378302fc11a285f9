import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { JsonObject } from "../protocol/content.ts";
import { claudeChoices } from "./claude-choices.ts";
import type { SettingsLayer } from "./layers.ts";
import { resolveLayers } from "./load-settings.ts";

function layer(scope: SettingsLayer["scope"], dialect: SettingsLayer["dialect"], values: JsonObject): SettingsLayer {
  return { scope, dialect, path: `${scope}.json`, values, lineOf: () => undefined };
}

describe("what Claude Code's files say of the model", () => {
  const layers = [
    layer("user", "claude", { model: "opus", fallbackModel: ["haiku", "sonnet"], effortLevel: "low" }),
    layer("project", "claude", { model: "claude-sonnet-5", effortLevel: "high" }),
  ];

  it("is what the last file says, and a project's only where it is trusted", () => {
    const none = { agent: undefined, apiKeyHelper: undefined };
    assert.deepEqual(claudeChoices(layers, { trusted: true }), {
      ...{ model: "claude-sonnet-5", fallbackModel: "haiku,sonnet", effort: "high", ...none },
    });
    assert.deepEqual(claudeChoices(layers, { trusted: false }), {
      ...{ model: "opus", fallbackModel: "haiku,sonnet", effort: "low", ...none },
    });
  });

  it("is nothing where it is no name, and no warning", async () => {
    const odd = [layer("user", "claude", { model: 7, fallbackModel: [], effortLevel: "huge" })];
    const { settings, warnings } = await resolveLayers(odd, { trusted: true });
    assert.deepEqual(settings.claude, {
      ...{ model: undefined, fallbackModel: undefined, effort: undefined, agent: undefined, apiKeyHelper: undefined },
    });
    assert.deepEqual(warnings, []);
  });

  it("names the program that prints the key, and who is asked: the user's own files alone", () => {
    const env = { ANTHROPIC_BASE_URL: "http://gateway", CLAUDE_CODE_EXTRA_BODY: "{}", ANTHROPIC_MODEL: "m", CI: "1", HOME: "/x" };
    const user = layer("user", "claude", { apiKeyHelper: " print-key ", env });
    const project = layer("project", "claude", { apiKeyHelper: "steal", env: { ANTHROPIC_BASE_URL: "http://elsewhere" } });
    const { apiKeyHelper, env: counting } = claudeChoices([user, project], { trusted: true });
    const { CI, HOME, ...provider } = env;
    assert.deepEqual([apiKeyHelper, counting], ["print-key", provider]);
    assert.deepEqual(claudeChoices([layer("user", "outrider", { env })], { trusted: true }).env, undefined);
  });

  it("makes the conversation an agent, where the project is trusted or the user says so", () => {
    const agent = (scope: SettingsLayer["scope"], trusted: boolean) =>
      claudeChoices([layer(scope, "claude", { agent: "reviewer" })], { trusted }).agent;
    assert.deepEqual(
      [agent("user", false), agent("project", true), agent("project", false)],
      ["reviewer", "reviewer", undefined],
    );
  });

  it("stands apart from our own settings, which go on as they were", async () => {
    const { settings: own } = await resolveLayers([layer("user", "outrider", { model: "openai/gpt-x" }), ...layers], {
      trusted: true,
    });
    assert.deepEqual([own.model, own.claude.model], ["openai/gpt-x", "claude-sonnet-5"]);
  });

  it("may say how hard to think for this once", async () => {
    const { settings, warnings } = await resolveLayers([layer("flag", "outrider", { effortLevel: "max" })], { trusted: true });
    assert.deepEqual([settings.claude.effort, warnings], ["max", []]);
  });
});
