import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { findField } from "./refused-field.ts";
import { withoutFields } from "./without-fields.ts";

describe("the field that a refusal names", () => {
  const claude = {
    model: "m",
    max_tokens: 5,
    messages: [],
    thinking: { type: "adaptive", display: "summarized" },
    output_config: { effort: "max", format: { type: "json_schema", schema: { properties: { temperature: {} } } } },
    temperature: 1,
  };
  const responses = { model: "m", input: [], reasoning: { effort: "max", summary: "auto" }, store: false };
  const gemini = { contents: [], generationConfig: { temperature: 1, thinkingConfig: { thinkingLevel: "LOW" } } };
  const rows: [said: string, body: object, field: string | undefined][] = [
    ["temperature: Extra inputs are not permitted", claude, "temperature"],
    ["`temperature` is deprecated for this model", claude, "temperature"],
    ["output_config.effort: Input should be 'low'", claude, "output_config.effort"],
    ["thinking.type: Input should be 'enabled'", claude, "thinking"],
    ["thinking.display: Extra inputs are not permitted", claude, "thinking.display"],
    ["This model does not support the effort parameter, 'effort' is not allowed", claude, "output_config.effort"],
    ["max_tokens: 5 > 4, which is the maximum", claude, undefined],
    ["model: m was not found", claude, undefined],
    ["messages: at least one message is required", claude, undefined],
    ["Your credit balance is too low", claude, undefined],
    ["reasoning.summary", responses, "reasoning.summary"],
    ["Unsupported value: 'reasoning.effort' does not support 'max' with this model.", responses, "reasoning.effort"],
    ["Unknown name \"temperature\" at 'generation_config': Cannot find field.", gemini, "generationConfig.temperature"],
    ["Thinking level LOW is not supported", gemini, "generationConfig.thinkingConfig.thinkingLevel"],
    ["Internal error", gemini, undefined],
    ["This model does not support the effort parameter.", claude, "output_config.effort"],
    [
      '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" instead.',
      { ...claude, thinking: { type: "enabled", budget_tokens: 1024 } },
      "thinking",
    ],
    ["output_config.format.schema: property 'x' needs a type", claude, "output_config.format"],
    ["Unrecognized request argument supplied: reasoning_effort", { reasoning_effort: "low" }, "reasoning_effort"],
    ["Unrecognized request argument supplied: stream_options", { stream_options: {} }, "stream_options"],
    ["Unknown parameter: store", responses, "store"],
    ["Reasoning effort is not available for this model", responses, "reasoning.effort"],
    [
      "Function tools with reasoning_effort are not supported for m in /v1/chat/completions. Please use /v1/responses instead.",
      { reasoning_effort: "low" },
      "reasoning_effort",
    ],
    [
      "Invalid value at generation_config.thinking_config.thinking_level: minimal",
      gemini,
      "generationConfig.thinkingConfig.thinkingLevel",
    ],
    ["thinkingLevel is not a valid field for this model", gemini, "generationConfig.thinkingConfig.thinkingLevel"],
    ["The reasoning in this conversation was made by another organization.", responses, undefined],
    ["Text content blocks must not be empty", { text: { format: {} } }, undefined],
  ];
  for (const [said, body, field] of rows)
    it(`${said} → ${field ?? "none"}`, () => assert.equal(findField([said], JSON.stringify(body)), field));

  it("is max_tokens where another field takes its place", () => {
    const said = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.";
    assert.equal(findField([said], JSON.stringify({ model: "m", max_tokens: 5 })), "max_tokens");
    assert.equal(findField(["max_tokens", said], JSON.stringify({ model: "m", max_tokens: 5 })), "max_tokens");
  });
});

describe("a body without a field", () => {
  it("keeps everything else, and no empty object", () => {
    const body = { a: 1, b: { c: 2, d: 3 }, e: { f: 4 } };
    assert.deepEqual(withoutFields(body, ["b.c", "e.f", "none.such"]), { a: 1, b: { d: 3 } });
    assert.deepEqual(withoutFields(body, ["b"]), { a: 1, e: { f: 4 } });
    assert.equal(withoutFields(body, []), body);
  });
});
