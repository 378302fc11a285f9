import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createPaint } from "../terminal/paint.ts";
import { plainText } from "./screen.ts";
import { MarkdownLines } from "./markdown-lines.ts";

describe("Markdown on a terminal", () => {
  it("is told line by line, however it is cut into pieces", () => {
    const text = "# Title\nSome **bold** and `code`\n- item\n  1. inner\n> said\n```\n# not a title\n```\nend";
    const whole = new MarkdownLines(createPaint(false), () => 80);
    const lines = [...whole.feed(text), ...whole.end()];
    assert.deepEqual(lines, [
      "Title",
      "Some bold and code",
      "• item",
      "  1. inner",
      "│ said",
      "```",
      "# not a title",
      "```",
      "end",
    ]);
    const pieces = new MarkdownLines(createPaint(false), () => 80);
    assert.deepEqual([...[...text].flatMap((letter) => pieces.feed(letter)), ...pieces.end()], lines);
  });

  it("breaks between words, and items stand below themselves", () => {
    const markdown = new MarkdownLines(createPaint(false), () => 21);
    assert.deepEqual(markdown.feed("- one two three **four five** six\n"), ["• one two three four", "  five six"]);
  });

  it("paints, and is as wide as without", () => {
    const markdown = new MarkdownLines(createPaint(true), () => 80);
    const [line = ""] = markdown.feed("a **b** `c`\n");
    assert.equal(line, "a \x1b[1mb\x1b[22m \x1b[33mc\x1b[39m");
    assert.equal(plainText(line), "a b c");
  });

  it("lets no word of a model steer the terminal", () => {
    const markdown = new MarkdownLines(createPaint(false), () => 80);
    assert.deepEqual(markdown.feed("\x1b[2Jgone\x07\n```\n\x1b]0;t\x07\n"), [
      "\\u001b[2Jgone\\u0007",
      "```",
      "\\u001b]0;t\\u0007",
    ]);
  });

  it("lays tables out in columns, and leaves alone what is none or is too wide", () => {
    const tell = (text: string, columns = 80): string[] => {
      const markdown = new MarkdownLines(createPaint(false), () => columns);
      return [...[...text].flatMap((letter) => markdown.feed(letter)), ...markdown.end()];
    };
    const table = "| cart | before | now |\n|---|---:|:---|\n| 100 with **10 %** | 81 | `90` |\n| 漢字 \\| x | 7 |";
    const laid = [
      "cart           before  now",
      "─────────────  ──────  ───",
      "100 with 10 %      81  90",
      "漢字 | x            7",
    ];
    assert.deepEqual(tell(table), laid);
    assert.deepEqual(tell(`See:\n${table}\nEnd.`), ["See:", ...laid, "End."]);
    assert.deepEqual(tell("| a | b |\nno table"), ["| a | b |", "no table"]);
    assert.deepEqual(tell("| one two | three four |\n|---|---|\n| a | b |", 20).slice(-2), ["|---|---|", "| a | b |"]);
    assert.deepEqual(tell("```\n| a |\n|---|\n```"), ["```", "| a |", "|---|", "```"]);
  });
});
