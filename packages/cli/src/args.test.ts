import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseArguments, peekFlag } from "./args.ts";

describe("the command line", () => {
  it("takes values behind a space or an equals sign; the last of a repeated one wins", () => {
    assert.deepEqual(parseArguments(["--model", "a", "--max-turns=3", "--model=b=c", "-p", "hello", "world"]), {
      flags: { model: "b=c", "max-turns": "3", print: true },
      positionals: ["hello", "world"],
    });
  });

  it("takes everything behind -- as words", () => {
    assert.deepEqual(parseArguments(["-p", "--", "--model", "-x"]), { flags: { print: true }, positionals: ["--model", "-x"] });
  });

  it("takes a value that looks like a flag, when it is the value", () => {
    assert.deepEqual(parseArguments(["--system-prompt", "--no", "x"]), {
      flags: { "system-prompt": "--no" },
      positionals: ["x"],
    });
  });

  it("splits lists at commas and spaces but not inside parentheses, and adds up repeated ones", () => {
    const { flags } = parseArguments([
      "--allowedTools",
      "Bash(git log:*, x),Edit Read(a b)",
      "Glob",
      "--allowed-tools=Grep",
      "-p",
    ]);
    assert.deepEqual(flags.allowedTools, ["Bash(git log:*, x)", "Edit", "Read(a b)", "Glob", "Grep"]);
  });

  it("ends a list before words that can be no rule", () => {
    const args = parseArguments(["--allowedTools", "Edit", "mcp__x__y", "fix the failing test"]);
    assert.deepEqual(args, { flags: { allowedTools: ["Edit", "mcp__x__y"] }, positionals: ["fix the failing test"] });
  });

  it("keeps a lone dash as a word", () => {
    assert.deepEqual(parseArguments(["-"]).positionals, ["-"]);
  });

  it("finds a flag's value without judging the rest", () => {
    assert.equal(peekFlag(["--nonsense", "--output-format", "json"], "output-format"), "json");
    assert.equal(peekFlag(["--output-format=text", "--output-format=json"], "output-format"), "json");
    assert.equal(peekFlag(["-p", "x"], "output-format"), undefined);
  });
});
