import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { ToolFacts } from "../protocol/tool-facts.ts";
import { bashFacts, readFacts } from "../tools/builtin/facts.ts";
import { essenceOf } from "./same-call.ts";

const command = (text: string, more: object = {}): unknown => essenceOf({ command: text, ...more }, bashFacts, "/p");
const file = (path: string): unknown => essenceOf({ file_path: path }, readFacts, "/p");

describe("the same call", () => {
  const same: string[][] = [
    ["ls", " ls ", "ls;", "ls ;;", "ls # 7", "ls  #x\n", "# first\nls", "\tls\n\n"],
    ["ls a b", "ls  a\tb", "ls a b # 1"],
    ["ls && pwd", "ls  &&  pwd"],
    ["", " ", ";", "# nothing"],
    ["ls\npwd", "ls # a\n\n  # b\npwd"],
    ["echo '# a  b'", "echo   '# a  b'"],
    ['echo "a  \\" # b"', 'echo "a  \\" # b" # c'],
    ["cat <<E\n# a\nE", " cat <<E\n# a\nE\n"],
  ];
  for (const texts of same)
    it(`is ${JSON.stringify(texts[0])} however it is spelled`, () => {
      for (const text of texts) assert.deepEqual(command(text), command(texts[0] ?? ""), text);
    });

  const other: [string, string][] = [
    ["echo a#1", "echo a#2"],
    ["echo $#", "echo $"],
    ["echo 'a b'", "echo 'a  b'"],
    ['echo "# 1"', 'echo "# 2"'],
    ["echo \\# 1", "echo \\# 2"],
    ["ls a", "lsa"],
    ["ls\npwd", "ls pwd"],
    ["cat <<E\n# 1\nE", "cat <<E\n# 2\nE"],
    ["cat <<E\na  b\nE", "cat <<E\na b\nE"],
  ];
  for (const [one, two] of other)
    it(`is another one: ${JSON.stringify(one)} and ${JSON.stringify(two)}`, () =>
      assert.notDeepEqual(command(one), command(two)));

  it("is so whatever it says to people, and however long it would have waited", () => {
    assert.deepEqual(command("ls", { description: "a", timeout: 5 }), command("ls", { description: "b", timeout: 6 }));
    assert.notDeepEqual(command("ls", { run_in_background: true }), command("ls"));
  });

  it("is about the same file by any path to it", () => {
    for (const path of ["./a", "b/../a", "/p/a", "/p//./a"]) assert.deepEqual(file(path), file("a"));
    assert.deepEqual(file("b/../a"), { file_path: "/p/a" });
    assert.notDeepEqual(file("~/a"), file("/p/~/a"));
    const facts: ToolFacts = { kind: "look", fields: { folder: "path" } };
    assert.deepEqual(essenceOf({ path: "b/.." }, facts, "/p"), essenceOf({ path: "." }, facts, "/p"));
  });

  it("is what it is where nothing is known of its tool", () => {
    for (const input of [undefined, "{", [1], { command: "ls # 1" }]) assert.equal(essenceOf(input, undefined, "/p"), input);
    assert.deepEqual(essenceOf({ file_path: 7, command: "a  b" }, readFacts, "/p"), { file_path: 7, command: "a  b" });
  });

  it("is told of a long command at once", () => {
    const began = process.cpuUsage().user;
    for (const piece of ["# ", " ; ", "'", '"\\', "\\ "]) command(`${piece.repeat(50_000)}x`);
    assert.ok(process.cpuUsage().user - began < 3_000_000);
  });
});
