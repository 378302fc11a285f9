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

  it("takes several folders and servers behind one flag, and never the prompt", () => {
    const rows: [words: string[], folders: string[] | undefined, prompt: string[]][] = [
      [["-p", "fix it", "--add-dir", "/tmp", "gone"], ["/tmp", "gone"], ["fix it"]],
      [["--add-dir", "/tmp", "/usr", "-p", "fix it"], ["/tmp", "/usr"], ["fix it"]],
      [["--add-dir", "/tmp", "/usr", "fix it"], ["/tmp", "/usr"], ["fix it"]],
      [["--add-dir", "/tmp", "fix it"], ["/tmp"], ["fix it"]],
      [["--add-dir", "/tmp", "/usr"], ["/tmp"], ["/usr"]],
      [["--add-dir=/tmp", "/usr", "fix it"], ["/tmp"], ["/usr", "fix it"]],
      [["-p", "x", "--add-dir", "a", "b", "--add-dir", "c"], ["a", "b", "c"], ["x"]],
    ];
    for (const [words, folders, prompt] of rows) {
      const { flags, positionals } = parseArguments(words);
      assert.deepEqual([flags["add-dir"], positionals], [folders, prompt], words.join(" "));
    }
    assert.deepEqual(parseArguments(["-p", "x", "--mcp-config", "a.json", "{}"]).flags["mcp-config"], ["a.json", "{}"]);
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

  it("takes the word behind -p for the prompt, whatever it begins with", () => {
    const prompts = [
      '--settings={"hooks":{}}',
      "--dangerously-skip-permissions=true",
      "--permission-mode=bypassPermissions",
      "--no-such-flag",
      "-x",
      "- fix the tests",
      "--allowedTools Bash",
      "--input-format=stream-json",
      "--debug-file=/tmp/x",
      "--json-schema=x.json",
      "--resume=other",
      "--permission-mode=xyz",
      "--model", // the next word is a flag, so this is not one with a value
    ];
    for (const prompt of prompts) {
      assert.deepEqual(parseArguments(["-p", prompt, "--output-format", "json"]), {
        flags: { print: true, "output-format": "json" },
        positionals: [prompt],
      });
      assert.deepEqual(parseArguments(["--print", prompt]).positionals, [prompt]);
    }
  });

  it("takes exact flags behind -p, as Claude Code's scripts write them", () => {
    assert.deepEqual(parseArguments(["-p", "--output-format", "json", "hi"]), {
      flags: { print: true, "output-format": "json" },
      positionals: ["hi"],
    });
    assert.deepEqual(parseArguments(["-p", "--output-format=json", "hi"]).positionals, ["hi"]);
    assert.deepEqual(parseArguments(["-p", "--permission-mode=plan", "hi"]).flags, { print: true, "permission-mode": "plan" });
    assert.deepEqual(parseArguments(["-p", "--verbose"]).flags, { print: true, verbose: true });
    assert.deepEqual(parseArguments(["-p", "--dangerously-skip-permissions", "hi"]).flags, {
      print: true,
      "dangerously-skip-permissions": true,
    });
    assert.deepEqual(parseArguments(["-p", "--continue"]).flags, { print: true, continue: true });
    assert.deepEqual(parseArguments(["-p", "--input-format", "stream-json"]).positionals, []);
    const live = ["-p", "--permission-mode", "plan", "--input-format", "stream-json"];
    assert.deepEqual(parseArguments(live).positionals, []);
  });

  it("tells a misspelled flag behind -p from a prompt by the words beside it", () => {
    assert.throws(() => parseArguments(["-p", "--outptu-format", "json", "hi"]), { message: /Did you mean --output-format/ });
    assert.deepEqual(parseArguments(["-p", "--outptu-format"]).positionals, ["--outptu-format"]);
  });

  it("refuses a flag behind -p that changes what may run, where nothing else could be the prompt", () => {
    for (const words of [
      ["--dangerously-skip-permissions"],
      ["--bare"],
      ["--help"],
      ["--version"],
      ["--debug"],
      ["--trust-project", "--output-format", "json"],
      ["--settings", "evil.json"],
    ])
      assert.throws(() => parseArguments(["-p", ...words]), { code: "usage", message: /could be a flag or a prompt/ });
    assert.deepEqual(parseArguments(["--bare", "-p"]).flags, { bare: true, print: true });
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
