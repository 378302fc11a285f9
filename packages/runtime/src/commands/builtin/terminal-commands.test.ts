import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { CommandHostContext, SystemCommand } from "../command.ts";
import { builtinCommands } from "./builtin-commands.ts";
import { runUnknown } from "./terminal-commands.ts";

const context = {} as CommandHostContext; // nothing here asks for it
const said = (name: string): SystemCommand => ({
  name,
  description: "",
  execute: (_, args) => ({ success: true, message: `${name} ${args}` }),
});
const places = { builtin: ["clear", "rename", "exit", "cost"].map(said), known: ["clear", "deploy"] };
const run = async (name: string) => await runUnknown({ name, args: "x", context }, places);

describe("a command that is not ours", () => {
  it("is the one that does the same, with what was typed behind it", async () => {
    const messages = await Promise.all(["new", "name", "quit", "stats", "usage"].map(async (name) => (await run(name)).message));
    assert.deepEqual(messages, ["clear x", "rename x", "exit x", "cost x", "cost x"]);
  });

  it("says that it is for a terminal, which is no failure", async () => {
    assert.deepEqual(await run("login"), { success: true, message: "/login isn't available in this environment." });
  });

  it("is a mistake otherwise, told with the nearest name or where names are", async () => {
    assert.deepEqual(await run("deplyo"), {
      success: false,
      message: 'Unknown command "/deplyo". Did you mean /deploy? With a space in front it is a prompt.',
    });
    assert.match(
      (await runUnknown({ name: "init", args: "", context }, { builtin: [], known: ["exit"] })).message,
      /\/help lists/,
    );
    assert.match(
      (await runUnknown({ name: "eixt", args: "", context }, { builtin: [], known: ["exit"] })).message,
      /mean \/exit/,
    );
    assert.deepEqual(await run("zzzzzzzz"), {
      success: false,
      message: 'Unknown command "/zzzzzzzz". /help lists what there is. With a space in front it is a prompt.',
    });
  });

  it("is never one of ours under its own name", async () => {
    const results = await Promise.all(
      builtinCommands.map(async ({ name }) => await runUnknown({ name, args: "", context }, { builtin: [], known: [] })),
    );
    assert.deepEqual(
      results.filter(({ success }) => success),
      [],
    );
  });
});
