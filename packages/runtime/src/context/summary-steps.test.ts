import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { shorten } from "./history-text.ts";
import { firstTokens, summarySteps, type SummaryTask } from "./summary-steps.ts";
import { estimateText } from "./token-estimate.ts";

/** Every question, answered with `answer`, and the summary. */
function ask(task: Partial<SummaryTask>, answer = "a summary"): { questions: string[]; summary: string } {
  const steps = summarySteps({ pieces: [], chunkTokens: 256, summaryTokens: 100, focus: undefined, ...task });
  const questions: string[] = [];
  let step = steps.next();
  for (; !step.done; step = steps.next(answer)) questions.push(step.value);
  return { questions, summary: step.value };
}

describe("the questions that make a summary", () => {
  it("are one for a record that fits, with its length and what to dwell on", () => {
    assert.deepEqual(ask({ pieces: ["<user>\nhello\n</user>", "<assistant>\nhi\n</assistant>"], focus: "the tests" }), {
      questions: [
        [
          "This is the record of the conversation.",
          "<user>\nhello\n</user>\n<assistant>\nhi\n</assistant>",
          "Write the summary now.",
          "Use at most 50 words; a short conversation needs far fewer.",
          "Dwell on this in particular:\nthe tests",
        ].join("\n\n"),
      ],
      summary: "a summary",
    });
  });

  it("are one for each part of a longer record, and one that makes a whole of the parts", () => {
    const { questions } = ask({ pieces: ["a".repeat(800), "b".repeat(800), "c".repeat(800)] });
    assert.deepEqual(
      questions.map((question) => question.split("\n\n").filter((line) => !/^[abc]+$/.test(line))),
      [
        ...[1, 2, 3].map((part) => [
          `This is part ${part} of 3 of the record of the conversation. Summarise this part; the others are summarised separately.`,
          "Write the summary now.",
          "Use at most 50 words; a short conversation needs far fewer.",
        ]),
        [
          "This is summaries of consecutive parts of the conversation, oldest first.",
          Array.from({ length: 3 }, () => "<part>\na summary\n</part>").join("\n"),
          "Make one summary out of them. Where they differ, the later one is right.",
          "Use at most 50 words; a short conversation needs far fewer.",
        ],
      ],
    );
  });

  it("are one for two parts that together just fit", () => {
    assert.equal(ask({ pieces: ["a".repeat(444), "b".repeat(444)] }).questions.length, 1);
    assert.equal(ask({ pieces: ["a".repeat(444), "b".repeat(445)] }).questions.length, 3);
  });

  it("cut a piece that is too long alone, and say of each part whose it is", () => {
    const { questions } = ask({ pieces: [`<tool-output name="Bash">\n${"x".repeat(2_000)}\n</tool-output>`] });
    const parts = questions.slice(0, -1);
    assert.ok(parts.length >= 3);
    for (const part of parts) {
      assert.match(part, /\n<tool-output name="Bash">\nx+\n<\/tool-output>\n/);
      assert.equal(part.match(/tool-output/g)?.length, 2);
    }
    assert.equal(parts.join("").match(/x(?=x|\n)/g)?.length, 2_000);
    for (const part of parts) assert.ok(estimateText(/<tool[\s\S]*output>/.exec(part)?.[0] ?? "") <= 256);
  });

  it("cut a piece that is nobody's, and add nothing to it", () => {
    const { questions } = ask({ pieces: ["x".repeat(2_000)] });
    const parts = questions.slice(0, -1).map((question) => question.split("\n\n")[1] ?? "");
    assert.equal(parts.join(""), "x".repeat(2_000));
  });

  it("end although the answers are longer than they may be, and the summary is cut", () => {
    const { summary } = ask({ pieces: Array.from({ length: 20 }, () => "a".repeat(800)) }, "long ".repeat(1_000));
    assert.ok(estimateText(summary) <= 100 && summary.startsWith("long long"));
  });
});

describe("a text that is cut", () => {
  it("stays whole when it just fits, and never ends in half a character", () => {
    const text = "x".repeat(35);
    assert.equal(firstTokens(text, 10), text);
    assert.equal(firstTokens("x".repeat(36), 10), text);
    assert.equal(firstTokens(text, 0), "");
    assert.equal(firstTokens(text, 0.4), "");
    assert.equal(firstTokens(text, -5), "");
    assert.equal(firstTokens("\u{1f600}".repeat(20), 2), "\u{1f600}");
  });

  it("keeps both ends, and says how many characters are missing between them", () => {
    assert.equal(shorten("x".repeat(10), 10), "x".repeat(10));
    assert.equal(shorten(`${"a".repeat(5)}bc${"d".repeat(5)}`, 10), "aaaaa\n[… 2 characters left out …]\nddddd");
    assert.equal(shorten(`\u{1f600}${"x".repeat(9)}\u{1f600}`, 2), "\n[… 13 characters left out …]\n");
  });
});
