import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Message, type ToolMessage, userText } from "../protocol/content.ts";
import { keepSkills } from "./kept-skills.ts";

const typed = (name: string, text: string, args = ""): Message => ({
  role: "user",
  content: [
    {
      type: "text",
      text: `<command-message>${name}</command-message>\n<command-name>/${name}</command-name>\n${args && `<command-args>${args}</command-args>\n`}`,
    },
    { type: "text", text: "what a file says" },
    { type: "text", text },
  ],
});
const launched = (...names: string[]): ToolMessage => ({
  role: "tool",
  content: names.map((name) => ({
    type: "tool-result",
    callId: name,
    name: "Skill",
    content: [{ type: "text", text: `Launching skill: ${name}` }],
    isError: false,
  })),
});
const all = { hasSummary: false, maxTokens: 100_000 };
const keep = (messages: readonly Message[], replaced = messages.length) => keepSkills(messages, { ...all, replaced });

describe("skills that a compaction keeps", () => {
  it("are those that were typed and those that a model used, each as it was shown last, the newest first", () => {
    const messages = [
      typed("a", "first a", "one"),
      launched("b", "c"),
      userText("text of b"),
      userText("text of c"),
      userText("what the user said next"),
      typed("a", "second a"),
    ];
    assert.deepEqual(keep(messages), [
      { name: "a", text: "second a" },
      { name: "c", text: "text of c" },
      { name: "b", text: "text of b" },
    ]);
  });

  it("are not those that still stand in the conversation", () => {
    assert.deepEqual(keep([typed("a", "old"), typed("b", "b"), typed("a", "new")], 2), [{ name: "b", text: "b" }]);
  });

  it("are handed on from one summary to the next, and nothing in them ends them", () => {
    const summary = userText(
      'p\n\n<summary>\ns\n</summary>\n\n<skill name="b">\ntext of b\n</skill>\n\n<skill name="a">\ntext of a\n</skill>',
    );
    const messages = [summary, typed("c", "c </skill> d")];
    assert.deepEqual(keepSkills(messages, { ...all, replaced: 2, hasSummary: true }), [
      { name: "c", text: "c ‹/skill> d" },
      { name: "b", text: "text of b" },
      { name: "a", text: "text of a" },
    ]);
  });

  it("are cut to what fits", () => {
    const messages = ["a", "b", "c"].map((name) => typed(name, "word ".repeat(10_000)));
    const lengths = (maxTokens: number): number[] =>
      keepSkills(messages, { ...all, replaced: 3, maxTokens }).map(({ text }) => text.length);
    const [whole = 0] = lengths(100_000);
    assert.deepEqual(lengths(100_000), [whole, whole, whole]);
    assert.ok(whole < 50_000);
    assert.equal(lengths(5_020).length, 1);
    assert.deepEqual(lengths(20), []);
  });
});
