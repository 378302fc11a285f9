import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseCommand } from "./parse-command.ts";
import { outOfReach } from "./git-reach.ts";

describe("git behind other programs", () => {
  const reached = [
    "git log",
    "nohup git log",
    "timeout 5 nice git log",
    "xargs git log",
    "command git log",
    "env A=1 git log",
    "env git log",
    "bash -c 'git log'",
    "sh -ec 'git log'",
    "bash -e -u -c 'git log'",
    "nice bash -c 'git log'",
  ];
  const lost = [
    "sudo git log",
    "command -p git log",
    "exec -c git log",
    "env -i git log",
    "env $x git log",
    "zsh -c 'git log'",
    "bash -lc 'git log'",
    "bash -o posix -c 'git log'",
    "bash --login -c 'git log'",
    "sudo nice git log",
    "nice sudo git log",
    "bash -c 'git log; sudo git log'",
  ];
  const found = (line: string): boolean => outOfReach(parseCommand(line).programs).some(({ name }) => name === "git");
  for (const line of reached) it(`is the one that the shell would find: ${line}`, () => assert.equal(found(line), false));
  for (const line of lost) it(`may be another one: ${line}`, () => assert.equal(found(line), true));

  it("is told with all that is started beside it", () => {
    const names = outOfReach(parseCommand("sudo nice git log").programs).map(({ name }) => name);
    assert.deepEqual(names, ["nice", "git"]);
  });
});
