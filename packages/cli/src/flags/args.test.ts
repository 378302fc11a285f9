import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseArguments, peekFlag, refuseSlip } from "./args.ts";
import { type Flag, flags as allFlags } from "./flags.ts";

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
      "--version $(touch x)",
    ];
    for (const prompt of prompts) {
      assert.deepEqual(parseArguments(["-p", prompt, "--output-format", "json"]), {
        flags: { print: true, "output-format": "json" },
        positionals: [prompt],
        dashed: prompt,
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

  it("refuses a slip in a flag behind -p, where there is another prompt: its limit is not lost", () => {
    const rows: [word: string, message: RegExp][] = [
      ["--permission-mode=plna", /Did you mean plan/],
      ["--disallowedTolls=Bash", /Did you mean --disallowedTools/],
      ["--max-turnz=3", /Did you mean --max-turns/],
      ["--json-shema={}", /Did you mean --json-schema/],
      ["--verbose=yes", /--verbose takes no value/],
      ["--settings=", /--settings needs a value/],
      ["--workload=x", /--workload is not supported/],
    ];
    const refused = (message: RegExp) => ({ code: "usage", message, hint: /-p -- PROMPT/ });
    for (const [word, message] of rows) {
      assert.throws(() => parseArguments(["-p", word, "--model", "x", "hi"]), refused(message), word);
      assert.throws(() => parseArguments(["-p", word, "--prompt", "hi"]), refused(message), word);
      assert.throws(() => parseArguments(["-p", word, "--input-format", "stream-json"]), refused(message), word);
      assert.throws(() => refuseSlip(word), refused(message), word);
      assert.deepEqual(parseArguments(["-p", "--", word, "hi"]).positionals, [word, "hi"]);
    }
    assert.throws(() => refuseSlip("--settings={}"), refused(/there is another prompt/));
    refuseSlip("- buy milk");
    refuseSlip("--version $(touch x)");
  });

  const takers = (allFlags as readonly Flag[]).filter(
    ({ kind, name, refused }) => kind !== "switch" && kind !== "optional" && name !== "prompt" && refused === undefined,
  );
  it("refuses every flag behind -p that lacks its value, with and without another prompt", () => {
    for (const { name } of takers)
      for (const rest of [[], ["--quiet", "hi"], ["--provder", "x", "hi"]])
        assert.throws(() => parseArguments(["-p", `--${name}`, ...rest]), { code: "usage", message: /lacks its value/ }, name);
  });

  it("takes no flag of ours for the value of another, and finds the format that was asked for", () => {
    for (const { name } of takers)
      for (const format of ["json", "stream-json", "text"])
        for (const asked of [["--output-format", format], [`--output-format=${format}`]]) {
          const words = ["-p", "hi", `--${name}`, ...asked];
          assert.throws(() => parseArguments(words), { code: "usage", message: `--${name} needs a value: ${written(name)}` });
          assert.equal(peekFlag(words, "output-format"), format);
        }
    assert.equal(parseArguments(["-p", "hi", "--name=--verbose"]).flags.name, "--verbose");
    const prompt = ["--prompt", "--output-format", "json"];
    assert.deepEqual(
      [parseArguments(prompt).positionals, peekFlag(prompt, "output-format")],
      [["--output-format", "json"], undefined],
    );
    assert.equal(peekFlag(["-p", "--", "--output-format", "json"], "output-format"), undefined);
  });
  const written = (name: string): string => `--${name} ${takers.find((flag) => flag.name === name)?.placeholder}`;

  it("takes a text that begins with a dash behind -p, as elsewhere", () => {
    for (const words of [
      ["-p", "--append-system-prompt", "- Be brief", "hi"],
      ["-p", "hi", "--append-system-prompt", "- Be brief"],
    ]) {
      const { flags, positionals } = parseArguments(words);
      assert.deepEqual([flags["append-system-prompt"], positionals], ["- Be brief", ["hi"]]);
    }
  });

  it("tells of a slip in another flag, and not that there is no prompt", () => {
    assert.throws(() => parseArguments(["-p", "--settings", "x.json", "--max-turnz", "3", "hi"]), { message: /--max-turns\?/ });
    assert.throws(() => parseArguments(["-p", "--permission-mode", "plna", "hi"]), { message: /Did you mean plan/ });
  });

  it("refuses a flag behind -p that changes what may run, where nothing else could be the prompt", () => {
    for (const words of [
      ["--dangerously-skip-permissions"],
      ["--bare"],
      ["--safe-mode"],
      ["--help"],
      ["--version"],
      ["--debug"],
      ["--trust-project", "--output-format", "json"],
      ["--settings", "evil.json"],
    ])
      assert.throws(() => parseArguments(["-p", ...words]), { code: "usage", message: /could be a flag or a prompt/ });
    for (const name of ["--bare", "--safe-mode"])
      assert.deepEqual(parseArguments([name, "-p"]).flags, { bare: true, print: true });
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
