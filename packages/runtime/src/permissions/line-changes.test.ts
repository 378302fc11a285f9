import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { groundOf, listing, root } from "../../../../test/support/command-scene.ts";
import { targetsOf } from "./command-paths.ts";
import { changesOf } from "./line-changes.ts";
import { parseCommand } from "./parse-command.ts";
import type { Program } from "./parsed-command.ts";

const flatten = (programs: readonly Program[]): Program[] => programs.flatMap((one) => [one, ...flatten(one.inside)]);

async function changes(line: string): Promise<string[]> {
  const { programs, writes } = parseCommand(line);
  const ground = groundOf(listing({ [root]: "a.txt" }));
  const found = await changesOf(
    { programs: flatten(programs), writes },
    { root, find: (use) => targetsOf(use, ground), isAnswer: async ({ words }) => words[1]?.text === "--version" },
  );
  return found.map(({ type, paths }) => [type, ...paths].join(" "));
}

describe("what a part of a line changes", () => {
  const rows: [line: string, ...changes: string[]][] = [
    ["cat a"],
    ["echo x > a", "plain /repo/a"],
    ["echo x > /dev/null"],
    ['echo x > "$X"', "unknown"],
    ["touch a b", "plain /repo/a /repo/b"],
    ['touch a "$X"', "unknown /repo/a"],
    ["cp a b", "plain /repo/b /repo/b/a"],
    ["mv a b", "moves /repo/b /repo/b/a /repo/a"],
    ["tar xf a", "moves /repo"],
    ["npm test", "runs"],
    ["made-up a", "unknown"],
    ["made-up --version"],
    ["nice touch a", "plain /repo/a"],
    ["nice", "unknown"],
  ];
  for (const [line, ...expected] of rows)
    it(`${line}: ${expected.join(", ") || "nothing"}`, async () => assert.deepEqual(await changes(line), expected));
});
