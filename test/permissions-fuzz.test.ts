import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { decide } from "../packages/runtime/src/permissions/decide.ts";
import type { Policy } from "../packages/runtime/src/permissions/policy.ts";
import { parseRule } from "../packages/runtime/src/permissions/rules.ts";
import { parseCommand } from "../packages/runtime/src/permissions/parse-command.ts";

/** More by hand: OUTRIDER_FUZZ_INPUTS=1000000 npm test -- permissions-fuzz */
const count = Number(process.env["OUTRIDER_FUZZ_INPUTS"] ?? 10_000);
const root = process.env["OUTRIDER_ROOT"] ?? process.cwd();
const rules = ["Bash(git:*)", "Bash(npm run *)", "Bash(a*b*c*d)", "Read(**/.env)", "Edit(./src/**)", "WebFetch(domain:x.org)"];
const policy: Policy = {
  mode: "default",
  allow: rules.map((text) => parseRule(text)),
  ask: [parseRule("Bash(git push:*)")],
  deny: ["Bash(rm:*)", "Bash(* --force *)", "Read(./secret/**)", "Edit(**/*.key)"].map((text) => parseRule(text)),
  base: { root: "/repo/proj", home: "/home/me" },
  readable: [],
  inertGit: async () => "/inert",
};

let state = 7;
const below = (limit: number): number => {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  return Math.floor((state / 4_294_967_296) * limit);
};

const seeds = readFileSync(join(root, "test/fixtures/security-cases.jsonl"), "utf8")
  .split("\n")
  .filter(Boolean)
  .map((line) => (JSON.parse(line) as { input: unknown }).input)
  .filter((input): input is string => typeof input === "string");

/** Pieces of real cases, cut, repeated, joined and sprinkled with what shells care about. */
function garbage(): string {
  const pieces = [
    "'",
    '"',
    "`",
    "$(",
    "${",
    ")",
    "}",
    "((",
    "[[",
    "<<E\n",
    ";",
    "|",
    "&",
    "\\",
    "\n",
    "\0",
    "\r",
    "\ud800",
    "é",
    "{a,b}",
    "*",
    "~",
    "-",
    "=",
    " ",
  ];
  let text = "";
  for (let times = 1 + below(4); times > 0; times--) {
    const seed = seeds[below(seeds.length)] ?? "";
    const from = below(seed.length);
    text += below(3) === 0 ? (pieces[below(pieces.length)] ?? "").repeat(1 + below(6)) : seed.slice(from, from + below(60));
  }
  return text;
}

describe("deciding about commands", () => {
  it("never throws and never takes long, whatever the text", async () => {
    let slowest = { ms: 0, text: "" };
    for (let index = 0; index < count; index++) {
      const text = garbage();
      const startedAt = performance.now();
      const { effect } = await decide(policy, [{ tool: "Bash", kind: "run", resource: text }]);
      const ms = performance.now() - startedAt;
      assert.match(effect, /^(?:allow|ask|deny)$/);
      if (ms > slowest.ms) slowest = { ms, text };
    }
    assert.ok(slowest.ms < 2_000, `${slowest.ms} ms for ${JSON.stringify(slowest.text)}`);
  });

  it("takes time in proportion to the text, up to the longest that is looked at", async () => {
    const blocks = [
      "a ",
      "$(",
      "{a,b}",
      "((",
      "'\"",
      "ssh ",
      "env ",
      "x=$(y) ",
      "[[ a ",
      "*",
      "git * --force ",
      "<(",
      "`",
      "\\",
      "${a:-",
      "if a; then ",
      "a;",
      "sh -c '",
      "find . -exec ",
      "eval ",
    ];
    const cpuOf = async (text: string): Promise<number> => {
      const before = process.cpuUsage();
      await decide(policy, [{ tool: "Bash", kind: "run", resource: text }]);
      return process.cpuUsage(before).user / 1000;
    };
    for (const block of blocks) {
      const text = block.repeat(99_000 / block.length);
      const short = await cpuOf(text.slice(0, text.length / 4));
      const long = await cpuOf(text);
      // Four times the text: four times the work, with room for noise; sixteen times would be a square.
      assert.ok(long < 200 || long < short * 12, `${block}: ${short} ms, then ${long} ms of CPU`);
    }
  });

  it("treats what is too long or too deep as not understood", () => {
    assert.deepEqual(
      [`echo ${"a".repeat(100_001)}`, `${"env ".repeat(500)}ls`, "a;".repeat(2_000)].map((text) => {
        const { understood, tooLarge } = parseCommand(text);
        return [understood, tooLarge];
      }),
      [
        [false, true],
        [false, true],
        [false, true],
      ],
    );
  });

  it("never throws on rules either", () => {
    for (let index = 0; index < count; index++) {
      try {
        parseRule(garbage());
      } catch (error) {
        assert.equal((error as { code?: string }).code, "usage");
      }
    }
  });
});
