import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isOrderly, reachOfLinks } from "./link-makers.ts";
import { parseCommand } from "./parse-command.ts";

function reach(command: string): string | undefined {
  const [program] = parseCommand(command).programs;
  return reachOfLinks(program ?? assert.fail(command));
}

describe("links that programs make", () => {
  it("are where their words say, anywhere, or none", () => {
    const named = ["mv a b", "ln -s a b", "rsync a b", "cp -r a b", "cp -a a b", "cp --recursive a b", "cp -vs a b"];
    const anywhere = ["tar xf a", "unzip a", "patch -p1", "git checkout x", "git -C a pull", "git stash", "git worktree add x"];
    const none = ["cp a b", "cp -v a b", "touch a", "svn checkout x", "git commit", "git status", "ls", "git"];
    assert.deepEqual(
      named.filter((command) => reach(command) !== "named"),
      [],
    );
    assert.deepEqual(
      anywhere.filter((command) => reach(command) !== "anywhere"),
      [],
    );
    assert.deepEqual(
      none.filter((command) => reach(command) !== undefined),
      [],
    );
  });

  it("do not come from programs that change what they are told and no more", () => {
    assert.deepEqual(["cp", "rm", "sed", "tar", "make"].map(isOrderly), [true, true, true, false, false]);
  });
});
