import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { RuntimeError } from "../protocol/errors.ts";
import { parseFrontmatter } from "./frontmatter.ts";

describe("frontmatter", () => {
  it("is what stands between the first two lines of dashes", async () => {
    const text =
      '---\nname: review\ntools: [Read, "Bash(git diff:*)"]\nlimit: 3\nfast: true\nempty:\nnested:\n  a: 1\n---\nBody\n---\nmore\n';
    assert.deepEqual(await parseFrontmatter(text), {
      attributes: { name: "review", tools: ["Read", "Bash(git diff:*)"], limit: 3, fast: true, empty: null, nested: { a: 1 } },
      body: "Body\n---\nmore\n",
    });
  });

  it("may be missing or empty, and survives byte order marks and CRLF", async () => {
    assert.deepEqual(await parseFrontmatter("# Title\n---\n"), { attributes: {}, body: "# Title\n---\n" });
    assert.deepEqual(await parseFrontmatter("---\n---\nx"), { attributes: {}, body: "x" });
    assert.deepEqual(await parseFrontmatter("\uFEFF---\r\nname: x\r\n---\r\nbody"), { attributes: { name: "x" }, body: "body" });
    assert.deepEqual(await parseFrontmatter("---\nname: x\n---"), { attributes: { name: "x" }, body: "" });
  });

  it("keeps what looks like a date, yes or an octal number as written", async () => {
    const { attributes } = await parseFrontmatter("---\na: 2024-01-02\nb: yes\nc: 0o17\nd: 1e3\n---\n");
    assert.deepEqual(attributes, { a: "2024-01-02", b: "yes", c: 15, d: 1000 });
  });

  const refused: [text: string, reason: RegExp][] = [
    ["---\nname: x\n", /has no second line of ---/],
    ['---\nname: "a\n---\n', /^skill\.md, line \d: /],
    ["---\na: 1\nb: c: d\n- x\n---\n", /^skill\.md, line \d: /],
    ["---\na: 1\na: 2\n---\n", /^skill\.md, line 3: .*unique/],
    ["---\n- a\n- b\n---\n", /expected `name: value` lines/],
    ["---\njust words\n---\n", /expected `name: value` lines/],
    ["---\na: !!js/function 'x'\n---\n", /^skill\.md, line 2: .*tag/i],
    ["---\na: !custom x\n---\n", /^skill\.md, line 2: .*tag/i],
    ["---\na: &x [1]\nb: *x\n---\n", /alias/i],
    ["---\na: .inf\n---\n", /no text, number, list or map/],
    [`---\na: ${"[".repeat(33)}${"]".repeat(33)}\n---\n`, /more than 32 deep/],
    [`---\na: ${"{b: ".repeat(33)}${"}".repeat(33)}\n---\n`, /more than 32 deep/],
    [`---\na: ${"x".repeat(70_000)}\n---\n`, /more than 64 KB/],
  ];
  for (const [text, reason] of refused) {
    it(`is refused with a reason: ${JSON.stringify(text.slice(0, 30))}`, async () => {
      await assert.rejects(parseFrontmatter(text, "skill.md"), (error: unknown) => {
        assert.ok(error instanceof RuntimeError && error.code === "config");
        assert.match(error.message, reason);
        return true;
      });
    });
  }

  it("is taken line by line where a sentence without quotes is no YAML", async () => {
    const rest = "allowed-tools: [Read]\nlist:\n  - a\nfolded: >-\n  a\n  b\n";
    const others = { "allowed-tools": ["Read"], list: ["a"], folded: "a b" };
    for (const value of [
      "Use it when: always",
      "[a",
      "[a] b",
      "*Never* without",
      "@me",
      "{x} and more",
      "> 5 of them",
      "ends with:",
    ])
      assert.deepEqual(await parseFrontmatter(`---\ndescription: ${value}\n${rest}---\nbody`), {
        attributes: { description: value, ...others },
        body: "body",
      });
  });

  it("may nest lists and maps 32 deep", async () => {
    for (const [open, close] of [
      ["[", "]"],
      ["{b: ", "}"],
    ] as const) {
      const { attributes } = await parseFrontmatter(`---\na: ${open.repeat(31)}x${close.repeat(31)}\n---\n`);
      assert.equal(JSON.stringify(attributes).split(close).length - 1, 31 + (close === "}" ? 1 : 0));
    }
  });

  it("reaches no prototype", async () => {
    const { attributes } = await parseFrontmatter("---\n__proto__:\n  polluted: 1\nconstructor: x\n---\n");
    assert.deepEqual(Object.keys(attributes), ["__proto__", "constructor"]);
    assert.equal("polluted" in {}, false);
    assert.equal(Object.getPrototypeOf(attributes), Object.prototype);
  });

  it("answers with plain JSON or a configuration error, quickly, whatever the text", async () => {
    const pieces = [
      "---\n",
      "a: ",
      "- ",
      "&x ",
      "*x",
      "!!str ",
      "{",
      "}",
      "[",
      "]",
      "'",
      '"',
      "|\n",
      ">\n",
      "\n",
      "  ",
      "#",
      "? ",
      ": ",
      "<<: ",
      "\t",
      "é",
      "\0",
      "%YAML 1.1\n",
      "...\n",
      "__proto__",
    ];
    const text = fc.array(fc.oneof(fc.constantFrom(...pieces), fc.string({ maxLength: 6 })), { maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(text, async (parts) => {
        const startedAt = performance.now();
        try {
          const { attributes } = await parseFrontmatter(`---\n${parts.join("")}\n---\nbody`);
          assert.deepEqual(JSON.parse(JSON.stringify(attributes)), attributes);
        } catch (error) {
          assert.ok(error instanceof RuntimeError && error.code === "config", String(error));
        }
        assert.ok(performance.now() - startedAt < 2_000);
      }),
      { numRuns: 2_000 },
    );
  });
});
