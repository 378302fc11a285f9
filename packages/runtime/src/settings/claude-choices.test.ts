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
    assert.deepEqual(claudeChoices(layers, { trusted: true }), {
      ...{ model: "claude-sonnet-5", fallbackModel: "haiku", effort: "high" },
    });
    assert.deepEqual(claudeChoices(layers, { trusted: false }), { model: "opus", fallbackModel: "haiku", effort: "low" });
  });

  it("is nothing where it is no name, and no warning", async () => {
    const odd = [layer("user", "claude", { model: 7, fallbackModel: [], effortLevel: "huge" })];
    const { settings, warnings } = await resolveLayers(odd, { trusted: true });
    assert.deepEqual(settings.claude, { model: undefined, fallbackModel: undefined, effort: undefined });
    assert.deepEqual(warnings, []);
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
