import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { builtinCommands } from "./builtin-commands.ts";
import { commandOfElsewhere } from "./terminal-commands.ts";

describe("a command that people know from elsewhere", () => {
  it("is the one of ours that does the same", () => {
    const names = ["new", "name", "quit", "stats", "usage"].map((name) => commandOfElsewhere(name, builtinCommands)?.name);
    assert.deepEqual(names, ["clear", "rename", "exit", "cost", "cost"]);
  });

  it("says that it is for a terminal, which is no failure; any other name is unknown", async () => {
    const login = commandOfElsewhere("login", builtinCommands);
    const context = {} as Parameters<NonNullable<typeof login>["execute"]>[0]; // it asks for nothing
    assert.deepEqual(await login?.execute(context, ""), {
      success: true,
      message: "/login isn't available in this environment.",
    });
    assert.equal(commandOfElsewhere("deplyo", builtinCommands), undefined);
  });

  it("is never one of ours under its own name", () => {
    const doubled = builtinCommands.filter(({ name }) => commandOfElsewhere(name, builtinCommands) !== undefined);
    assert.deepEqual(doubled, []);
  });
});
