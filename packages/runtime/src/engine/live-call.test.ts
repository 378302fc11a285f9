import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { type JsonObject, type JsonValue, noUsage } from "../protocol/content.ts";
import { createRedactor } from "../util/redact.ts";
import { boundCalls, changeInput, type LiveCall } from "./live-call.ts";

const token = "correct-horse-battery";
const other = ["ghp", "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"].join("_");
const another = ["ghp", "Z1y2X3w4V5u6T7s8R9q0P1o2N3m4L5k6J7i8"].join("_");
const redactor = createRedactor({ env: { SERVICE_TOKEN: token } });

const callWith = (input: JsonValue) => ({ type: "tool-call", callId: "c", name: "Write", input }) as LiveCall; // as if a model had just made it
const answered = async (input: JsonValue, answer: JsonObject) => {
  const changed = await changeInput(callWith(input), answer, redactor);
  return typeof changed === "string" ? changed : changed.input;
};

describe("calls of an answer", () => {
  it("have no input without a bottom: a part of it is kept as a broken one, and all else stays", () => {
    const deep: JsonValue = JSON.parse(`${"[".repeat(600)}${"]".repeat(600)}`);
    const content = [
      { type: "text", text: "words" },
      { type: "tool-call", callId: "a", name: "Write", input: { fine: true } },
      { type: "tool-call", callId: "b", name: "Write", input: { x: "y".repeat(3_000), deep } },
    ] as const;
    const message = {
      role: "assistant",
      model: { provider: "p", id: "m" },
      finish: "tool-calls",
      usage: { ...noUsage },
    } as const;
    const [words, fine, cut] = boundCalls({ ...message, content: [...content] }).content;
    assert.deepEqual([words, fine], [content[0], content[1]]);
    assert.ok(cut?.type === "tool-call");
    assert.deepEqual([cut.input, cut.malformedInput], [{}, `(shortened) {"x":"${"y".repeat(1_982)}`]);
    const whole = { ...message, content: [content[0], content[1]] };
    assert.equal(boundCalls(whole), whole);
  });
});

describe("the input of an answer", () => {
  const cases: Record<string, { given: JsonObject; answer: JsonObject; becomes: JsonObject | RegExp }> = {
    "the real input": { given: { a: token }, answer: { a: token }, becomes: { a: token } },
    "the masked input": { given: { a: `x ${token}` }, answer: { a: "x [redacted:SERVICE_TOKEN]" }, becomes: { a: `x ${token}` } },
    "a masked text that was edited": {
      given: { content: `A=${token}\n`, file_path: "f" },
      answer: { content: "# new\nA=[redacted:SERVICE_TOKEN]\n", file_path: "g" },
      becomes: { content: `# new\nA=${token}\n`, file_path: "g" },
    },
    "a mask in another place, and in a name": {
      given: { content: `A=${token}\n` },
      answer: { list: [{ "[redacted:SERVICE_TOKEN]": "[redacted:SERVICE_TOKEN]" }] },
      becomes: { list: [{ [token]: token }] },
    },
    "two secrets behind masks that look alike, unchanged": {
      given: { content: `${other} ${another}` },
      answer: { content: "[redacted:github-token] [redacted:github-token]" },
      becomes: { content: `${other} ${another}` },
    },
    "two secrets behind masks that look alike, edited": {
      given: { content: `${other} ${another}` },
      answer: { content: "[redacted:github-token]" },
      becomes: /stands for more than one text/,
    },
    "a mask that hides nothing of this call": {
      given: { content: token },
      answer: { content: "[redacted:OTHER] is what we write" },
      becomes: { content: "[redacted:OTHER] is what we write" },
    },
    "a mask where the model wrote that very mask": {
      given: { content: "documents [redacted:SERVICE_TOKEN]" },
      answer: { content: "documents [redacted:SERVICE_TOKEN]" },
      becomes: { content: "documents [redacted:SERVICE_TOKEN]" },
    },
    "a mask that is both written and hidden, edited": {
      given: { content: `[redacted:SERVICE_TOKEN] is ${token}` },
      answer: { content: "# [redacted:SERVICE_TOKEN] is [redacted:SERVICE_TOKEN]" },
      becomes: /stands for more than one text/,
    },
    "the real input, with a mask written in it": {
      given: { content: `[redacted:SERVICE_TOKEN] is ${token}` },
      answer: { content: `[redacted:SERVICE_TOKEN] is ${token}` },
      becomes: { content: `[redacted:SERVICE_TOKEN] is ${token}` },
    },
    "a mask that hides another one, edited": {
      given: { content: `Cookie: sid=${token}-1234567` },
      answer: { content: "# Cookie: [redacted:cookie]" },
      becomes: { content: `# Cookie: sid=${token}-1234567` },
    },
    "another input without masks": { given: { content: token }, answer: { content: "nothing" }, becomes: { content: "nothing" } },
  };
  for (const [what, { given, answer, becomes }] of Object.entries(cases))
    it(`may be ${what}`, async () => {
      const input = await answered(given, answer);
      if (becomes instanceof RegExp) assert.match(String(input), becomes);
      else assert.deepEqual(input, becomes);
    });

  it("is the real input, whatever it holds, when the masked one is sent back", async () => {
    const words = fc.constantFrom(
      token,
      other,
      another,
      "KEY=abc123def456",
      "plain",
      "\n",
      '"',
      `https://u:pa55word9@h`,
      "[redacted:x]",
    );
    const text = fc.array(words, { maxLength: 6 }).map((list) => list.join(" "));
    const objectOf = (value: fc.Arbitrary<JsonValue>) =>
      fc.dictionary(fc.constantFrom("a", "b", "content"), value, { noNullPrototype: true });
    const { tree } = fc.letrec<{ tree: JsonValue }>((tie) => ({
      tree: fc.oneof({ maxDepth: 3 }, text, fc.integer(), fc.array(tie("tree"), { maxLength: 3 }), objectOf(tie("tree"))),
    }));
    await fc.assert(
      fc.asyncProperty(objectOf(tree), async (input) => {
        assert.deepEqual(await answered(input, redactor.value(input)), input);
      }),
    );
  });
});
