import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Message, userText } from "../protocol/content.ts";
import { differencesBetween, type RecordedRequest } from "./request-differences.ts";

function request(changes: Partial<RecordedRequest> = {}): RecordedRequest {
  const tool = (name: string) => ({ name, description: `Does ${name}`, inputSchema: { type: "object" } });
  return { model: "m", system: "s", tools: ["Bash", "Read", "Edit"].map(tool), messages: [userText("go")], ...changes };
}

function toolResult(name: string, text: string): Message {
  return {
    role: "tool",
    content: [{ type: "tool-result", callId: "c1", name, content: [{ type: "text", text }], isError: false }],
  };
}

const withResult = (name: string, text: string): RecordedRequest => request({ messages: [toolResult(name, text)] });
const same = (a: RecordedRequest, b: RecordedRequest): boolean => differencesBetween(a, b).length === 0;

describe("two requests", () => {
  it("are the same when everything that counts is", () => {
    assert.deepEqual(differencesBetween(request(), structuredClone(request())), []);
  });

  it("show the lines that differ, with the place and the tool", () => {
    const [difference] = differencesBetween(withResult("Read", "a\nb\nc\nd"), withResult("Read", "a\nB\nX\nc\nd"));
    assert.equal(difference, "  messages[0].content[0].content[0].text (result of Read), line 2\n    - b\n    + B\n    + X");
  });

  it("show no more of long texts than a person reads", () => {
    const lines = (word: string) => Array.from({ length: 50 }, (_, index) => `${word} ${index}`).join("\n");
    const [block] = differencesBetween(request({ system: lines("a") }), request({ system: lines("b") }));
    assert.equal(block?.split("\n").length, 9);
    assert.match(block ?? "", /… 47 more lines/);
    const long = "x".repeat(5000);
    const [line] = differencesBetween(request({ system: `${long}A${long}` }), request({ system: `${long}B${long}` }));
    assert.match(line ?? "", /- …x{80}Ax{79}…\n {4}\+ …x{80}Bx{79}…$/);
  });

  it("name what one has and the other has not", () => {
    const longer = request({ messages: [userText("go"), userText("more")] });
    assert.match(differencesBetween(request(), longer)[0] ?? "", /^ {2}messages\[1\]\n {4}- \(nothing\)\n {4}\+ \{"role":"user"/);
    assert.match(differencesBetween(longer, request())[0] ?? "", /\n {4}\+ \(nothing\)$/);
  });

  it("compare tools by name", () => {
    const { tools } = request();
    assert.deepEqual(differencesBetween(request(), request({ tools: tools.slice(1) })), [
      "  tools.Bash was offered, and is not now",
    ]);
    assert.deepEqual(differencesBetween(request({ tools: tools.slice(0, 2) }), request()), [
      "  tools.Edit is offered now, and was not",
    ]);
    assert.match(differencesBetween(request(), request({ tools: tools.toReversed() }))[0] ?? "", /order of tools/);
  });

  it("compare settings only where they are known", () => {
    assert.ok(same(request(), request({ settings: { temperature: 1 } })));
    assert.deepEqual(differencesBetween(request({ settings: { temperature: 1 } }), request({ settings: {} })), [
      "  settings.temperature\n    - 1\n    + (nothing)",
    ]);
  });

  it("are the same where a key was hidden", () => {
    assert.ok(same(withResult("Read", "A=[redacted]\nB=[redacted:github-token]\nC"), withResult("Read", "A=x\nB=yy\nC")));
    assert.ok(!same(withResult("Read", "A=[redacted]\nB=1"), withResult("Read", "A=x\nB=2")));
    assert.ok(!same(withResult("Read", "ab[redacted]ab"), withResult("Read", "ab")));
  });

  it("are the same where a long output was cut a little earlier, and no further", () => {
    const cut = (head: string, omitted: number, tail: string) =>
      withResult("Bash", `${head}\n… ${omitted} characters omitted; the whole output is in {{overflow:1}} …\n${tail}`);
    assert.ok(same(cut("abcdef", 100, "uvwxyz"), cut("abcd", 104, "wxyz")));
    assert.ok(!same(cut("abcdef", 100, "uvwxyz"), cut("abXd", 104, "wxyz")));
    assert.ok(!same(cut("abcdef", 100, "uvwxyz"), cut("abcd", 104, "wxyZ")));
    assert.ok(!same(cut("abcdef", 100, "uvwxyz"), cut("abcd", 150, "wxyz")));
  });

  it("list files in any order, since a copy has other times", () => {
    for (const tool of ["Glob", "Grep"]) assert.ok(same(withResult(tool, "a\nb\nc"), withResult(tool, "c\na\nb")));
    assert.ok(!same(withResult("Glob", "a\nb"), withResult("Glob", "a\nb\nc")));
    assert.ok(!same(withResult("Read", "a\nb"), withResult("Read", "b\na")));
  });
});
