import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { InlineMarkup, type MarkupPiece } from "./inline-markup.ts";

const tools = [{ name: "Read", description: "", inputSchema: { type: "object", properties: { path: { type: "string" } } } }];

describe("InlineMarkup", () => {
  const call: MarkupPiece = { type: "call", name: "Read", input: { path: "a" } };
  const cases: [what: string, text: string, pieces: MarkupPiece[]][] = [
    ["plain text", "a <b> c\nd", [said("a <b> c\nd")]],
    ["reasoning, then text", "<think>hm</think>yes", [thought("hm"), said("yes")]],
    ["white space around reasoning as nobody's", "\n<think>\n\nhm \n x\n\n</think>\n\n yes", [thought("hm \n x"), said("yes")]],
    ["empty reasoning as none", "<think>\n\n</think>\n\nyes", [said("yes")]],
    ["reasoning that never ends", "<think>hm, </thi", [thought("hm, </thi")]],
    ["tags of other families", "[THINK]a[/THINK]<|channel>thought\nb<channel|>c", [thought("ab"), said("c")]],
    ["reasoning between lines of text", "a\n<thinking>b</thinking>\nc", [said("a\n"), thought("b"), said("c")]],
    ["a tag inside a line as text", "use <think>x and `<tool_call>`", [said("use <think>x and `<tool_call>`")]],
    ["a tag inside a code fence as text", "a\n```xml\n<think>b</think>\n```\nc", [said("a\n```xml\n<think>b</think>\n```\nc")]],
    ["a tag after a code fence", "```\nx\n```\n<think>b</think>c", [said("```\nx\n```\n"), thought("b"), said("c")]],
    ["something that only begins like a tag", "<thin air\n[TH", [said("<thin air\n[TH")]],
    ["reasoning without its opening tag", "hm\nso</think>\nyes", [said("hm\nso"), { type: "was-reasoning" }, said("yes")]],
    ["a closing tag that is quoted as text", "the `</think>` tag", [said("the `</think>` tag")]],
    ["only the first lonely closing tag", "a</think>b</think>", [said("a"), { type: "was-reasoning" }, said("b</think>")]],
    ["a call between tags", '<tool_call>{"name":"Read","arguments":{"path":"a"}}</tool_call>\n', [call]],
    ["a call after text", 'So:\n\n<tool_call>\n{"name":"Read","arguments":{"path":"a"}}\n</tool_call>', [said("So:\n\n"), call]],
    ["a call in a fence", '```tool_code\nRead(path="a")\n```\nDone', [call, said("Done")]],
    ["a call in a fence of the other name", "```tool_call\n{'name': 'Read', 'arguments': {'path': 'a'}}\n```", [call]],
    ["a call in a fence that ends on its line", '```tool_code\nRead(path="a")```', [call]],
    ["a call whose end the model left out", '<tool_call>{"name":"Read","arguments":{"path":"a"}}', [call]],
    ["a call whose end was cut", '<tool_call>{"name":"Read","arguments":{"path":"a"}}</tool_', [call]],
    ["two calls", `${'<tool_call>{"name":"Read","arguments":{"path":"a"}}</tool_call>\n'.repeat(2)}`, [call, call]],
    [
      "a call after reasoning",
      '<think>b</think>\n<tool_call>{"name":"Read","arguments":{"path":"a"}}</tool_call>',
      [thought("b"), call],
    ],
    [
      "a call of no offered tool as text",
      '<tool_call>{"name":"Rm"}</tool_call> x',
      [said('<tool_call>{"name":"Rm"}</tool_call> x')],
    ],
    ["code that is no call as text", "```tool_code\nimport numpy\n```\nx", [said("```tool_code\nimport numpy\n```\nx")]],
  ];
  for (const [what, text, pieces] of cases) {
    it(`reads ${what}, however it is cut`, () => {
      for (const size of [1, 2, 3, 5, 1_000]) assert.deepEqual(read(text, size), pieces, `pieces of ${size}`);
    });
  }

  it("holds back only what could still be markup", () => {
    const markup = new InlineMarkup(tools);
    assert.deepEqual(
      ["<thi", "s", " is", "\n", "text"].map((text) => markup.push(text)),
      [[], [said("<this")], [said(" is")], [said("\n")], [said("text")]],
    );
  });
});

function said(text: string): MarkupPiece {
  return { type: "text", text };
}

function thought(text: string): MarkupPiece {
  return { type: "reasoning", text };
}

/** Neighbours of one kind count as one. */
function read(text: string, size: number): MarkupPiece[] {
  const markup = new InlineMarkup(tools);
  const pieces = (text.match(new RegExp(`[\\s\\S]{1,${size}}`, "g")) ?? []).flatMap((part) => markup.push(part));
  const merged: MarkupPiece[] = [];
  for (const piece of [...pieces, ...markup.end()]) {
    const last = merged.at(-1);
    if (last && (piece.type === "text" || piece.type === "reasoning") && last.type === piece.type) last.text += piece.text;
    else merged.push({ ...piece });
  }
  return merged;
}
