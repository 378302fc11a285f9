import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { describeSession, type SessionLines } from "./session-lines.ts";

const plain: SessionLines = { model: "m", mode: "default", answerable: false, allow: [], runsCommands: true };

function told(more: Partial<SessionLines>): string[] {
  return describeSession({ ...plain, ...more })
    .split("\n")
    .slice(3);
}

const network = "Commands that only read from the network (gh pr view, npm view) are allowed without asking.";
const asUser = "Commands run as the user on this machine, with its network.";

describe("the block about the session", () => {
  it("names model and mode first", () => {
    assert.deepEqual(
      describeSession({ ...plain, model: "two\nlines" })
        .split("\n")
        .slice(0, 2),
      ["# This session", "Model: two lines"],
    );
  });

  const table: readonly (readonly [Partial<SessionLines>, readonly string[]])[] = [
    [{}, [asUser]],
    [{ networkReads: true }, [network, asUser]],
    [{ networkReads: false }, [asUser]],
    [{ networkReads: true, runsCommands: false }, []],
    [{ runsCommands: false }, []],
    [{ sandbox: "boxed" }, ["Sandbox: boxed"]],
    [{ allow: ["Bash(ls)", "Edit"] }, ["Allowed by rule: Bash(ls), Edit", asUser]],
    [{ allow: ["Edit"], mode: "bypassPermissions" }, [asUser]],
    [{ allow: ["Edit"], mode: "plan" }, [asUser]],
  ];
  for (const [more, expected] of table)
    it(`says ${expected.length === 0 ? "nothing more" : expected.join(" ")} with ${JSON.stringify(more)}`, () => {
      assert.deepEqual(told(more), expected);
    });
});
