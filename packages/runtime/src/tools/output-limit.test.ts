import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { ImagePart, TextPart } from "../protocol/content.ts";
import { limitContent, limitText, tailOf } from "./output-limit.ts";

const text = (value: string): TextPart => ({ type: "text", text: value });
const image: ImagePart = { type: "image", mediaType: "image/png", data: "AAAA" };

describe("limitText", () => {
  it("leaves a text alone that fits", () => {
    assert.deepEqual(limitText("abc", 3), { text: "abc", omitted: 0 });
  });

  it("keeps whole lines of both ends around a marker", () => {
    const lines = Array.from({ length: 200 }, (_, index) => `line ${index}`).join("\n");
    const cut = limitText(lines, 300);
    const marker = `… ${cut.omitted} characters omitted …`;
    const [head = "", tail = ""] = cut.text.split(`${marker}\n`);
    assert.ok(cut.text.length <= 300 && lines.startsWith(head) && lines.endsWith(tail));
    assert.ok(head.endsWith("\n") && tail.startsWith("line ") && tail.endsWith("line 199"));
    assert.equal(head.length + tail.length + cut.omitted, lines.length);
  });

  it("ends with a line only where that costs less than an eighth", () => {
    const headOf = (firstLine: number): string => {
      const source = `${"a".repeat(firstLine)}\n`.padEnd(1_000, "b");
      return limitText(source, 16 * 2 + "… 1000 characters omitted …".length + 2).text.replace(/\n?….*/s, "");
    };
    assert.deepEqual([headOf(13), headOf(14)], [`${"a".repeat(13)}\nbb`, "a".repeat(14)]);
  });

  it("begins its end with a whole character, and with a line only where that costs less than an eighth", () => {
    assert.equal(tailOf("\u{1f600}".repeat(10), 3), "\u{1f600}");
    const lines = (second: number): string => tailOf(`${"a".repeat(40)}\n${"b".repeat(second)}`, 16);
    assert.deepEqual([lines(10), lines(14)], [`aaaaa\n${"b".repeat(10)}`, "b".repeat(14)]);
  });

  it("never exceeds the limit, never splits a character, and counts right, for any text and limit", () => {
    const alphabet = ["a", "😀", "\n", "é", "字", "𝒳"];
    let seed = 7;
    const random = (below: number): number => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
      return seed % below;
    };
    for (let round = 0; round < 3_000; round++) {
      const source = Array.from({ length: random(400) }, () => alphabet[random(alphabet.length)]).join("");
      const limit = random(300);
      const cut = limitText(source, limit);
      assert.ok(cut.text.length <= limit, `${cut.text.length} > ${limit}`);
      assert.ok(!/\p{Surrogate}/u.test(cut.text), JSON.stringify(cut.text));
      const kept = cut.text.replace(/\n?… \d+ characters omitted …\n/, "");
      assert.ok(source.length - cut.omitted - kept.length <= 1 && source.length - cut.omitted >= kept.length);
    }
  });
});

describe("limitContent", () => {
  const never = (): Promise<string> => Promise.reject(new Error("not to be called"));

  it("returns what fits as it came", async () => {
    const content = [text("abc"), image, text("def")];
    assert.deepEqual(await limitContent(content, { limit: 6, save: never }), { content });
  });

  it("saves the whole text, names the place in the cut, and keeps images", async () => {
    const saved: string[] = [];
    const save = async (whole: string): Promise<string> => {
      saved.push(whole);
      return "/tmp/overflow/x.txt";
    };
    const result = await limitContent([text("a".repeat(500)), image, text("b".repeat(500))], { limit: 200, save });
    const first = result.content[0];
    assert.ok(first?.type === "text" && first.text.length <= 200);
    assert.match(first.text, /^a+\n… \d+ characters omitted; the whole output is in \/tmp\/overflow\/x\.txt …\nb+$/);
    assert.deepEqual(
      { saved, rest: result.content.slice(1), path: result.fullOutputPath },
      { saved: [`${"a".repeat(500)}\n${"b".repeat(500)}`], rest: [image], path: "/tmp/overflow/x.txt" },
    );
  });

  it("still shows both ends when the whole text cannot be saved", async () => {
    const result = await limitContent([text("a".repeat(500))], { limit: 200, save: never });
    const first = result.content[0];
    assert.ok(first?.type === "text" && /they could not be saved/.test(first.text));
    assert.equal(result.fullOutputPath, undefined);
  });
});
