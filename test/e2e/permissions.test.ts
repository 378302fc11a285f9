import assert from "node:assert/strict";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { detectSandbox } from "../../packages/runtime/src/workspace/detect-sandbox.ts";
import { lines, projectRoot, run, tempFolder } from "./command.ts";

const folder = tempFolder("permissions");
const hasBox = (await detectSandbox()).available;

describe("outrider permissions", () => {
  it("decides the cases of a file, one line each, and fails when one differs", async () => {
    const good = await run(["permissions", "test", "--cases", join(projectRoot, "test/fixtures/security-cases.jsonl")]);
    assert.deepEqual(
      [good.code, lines(good.stdout).length, good.stderr],
      [0, 151, "151 cases, 0 different, 119 of other areas skipped\n"],
    );
    const file = join(folder, "cases.jsonl");
    const given = { mode: "default", allow: [], deny: [], cwd: "/repo/proj" };
    const cases = [
      { id: "A", area: "shell-permission", given, input: "ls", expected: "deny" },
      { id: "B", area: "sandbox", given: {}, input: "", expected: "" },
    ];
    writeFileSync(file, cases.map((one) => JSON.stringify(one)).join("\n"));
    const bad = await run(["permissions", "test", "--cases", file]);
    assert.deepEqual(
      [bad.code, lines(bad.stdout), bad.stderr],
      [
        1,
        [{ id: "A", expected: "deny", got: "allow", rule: null, reason: "It only looks at the project" }],
        "1 case, 1 different, 1 of other areas skipped\n",
      ],
    );
  });

  it("denies commands that name secrets of processes by a pattern, also where permissions are bypassed", async () => {
    for (const command of ["cat /proc/*/environ", "cat /pro*/self/env*", "grep -a KEY < /proc/self/environ"]) {
      const bypass = ["--permission-mode", "bypassPermissions"];
      const { stdout } = await run(["permissions", "explain", `Bash(${command})`, ...bypass], { cwd: tempFolder("secrets") });
      assert.match(stdout, /^decision: deny\nreason: .* holds the secrets of a process$/m, command);
    }
  });

  it("explains a decision without running anything", async () => {
    const explained = await run(["permissions", "explain", "Bash(cd x && rm -rf y)", "--disallowedTools", "Bash(rm:*)"], {
      cwd: folder,
    });
    assert.deepEqual(
      [explained.code, explained.stdout],
      [
        0,
        "decision: deny\nreason: The rule Bash(rm:*) forbids it\nrule: Bash(rm:*)\nwritten in: disallowedTools\nruns: cd x · rm -rf y\nchanges: y\n",
      ],
    );
  });

  it("explains what a session with the same flags would do, and needs nobody to answer it", async () => {
    const project = tempFolder("permissions-flags");
    const home = tempFolder("permissions-home");
    const told = async (...args: string[]): Promise<string> => {
      const env = { ANTHROPIC_API_KEY: "", OUTRIDER_HOME: home };
      const { code, stdout, stderr } = await run(["permissions", "explain", ...args], { cwd: project, env });
      return code === 0 ? (/^decision: (.*)$/m.exec(stdout)?.[1] ?? stdout) : `${code}: ${stderr}`;
    };
    const beside = tempFolder("permissions-beside");
    assert.equal(await told(`Bash(cat ${beside}/x)`), "ask");
    assert.equal(await told(`Bash(cat ${beside}/x)`, "--add-dir", beside), "allow");
    assert.equal(await told(`Read(${beside}/x)`, "--add-dir", beside), "allow");
    const agents = JSON.stringify({ looker: { description: "x", prompt: "x", tools: ["Read"] } });
    assert.equal(await told("Edit(a.ts)", "--permission-mode", "acceptEdits"), "allow");
    assert.match(await told("Edit(a.ts)", "--agents", agents, "--agent", "nobody"), /nobody/);
    const settings = JSON.stringify({ permissions: { defaultMode: "bypassPermissions" } });
    assert.match(await told("Bash(ls)", "--settings", settings), /^64: outrider: Mode bypassPermissions must be asked for/);
    assert.deepEqual(
      readdirSync(home).filter((name) => name !== "cache"),
      [],
      "nothing stays behind",
    );
  });

  it("tells where a command would run", async () => {
    const place = async (call: string, ...args: string[]): Promise<string | undefined> =>
      /^place: (.*)$/m.exec((await run(["permissions", "explain", call, ...args], { cwd: folder })).stdout)?.[1];
    const outside = "outside, as the user";
    const cases: [call: string, args: string[], place: string | undefined][] = [
      ["Bash(ls)", [], hasBox ? "the sandbox" : outside],
      ["Bash(ls)", ["--sandbox", "require"], "the sandbox"],
      ["Bash(ls)", ["--sandbox", "off"], outside],
      ["Bash(ls)", ["--permission-mode", "bypassPermissions"], outside],
      ["Bash(make all)", ["--allowedTools", "Bash(make:*)"], outside],
      ["Bash(make all)", [], "outside, as the user, once somebody says yes"],
      ["Bash(make all)", ["--permission-mode", "sandboxed"], "the sandbox"],
      ["Bash(make all)", ["--permission-mode", "sandboxed", "--allowedTools", "Bash(make:*)"], outside],
      ["Bash(make all)", ["--disallowedTools", "Bash(make:*)"], undefined],
      ["Edit(./a.ts)", [], undefined],
    ];
    for (const [call, args, expected] of cases) assert.equal(await place(call, ...args), expected, `${call} ${args.join(" ")}`);
  });

  it("finds what is wrong with rules", async () => {
    const warned = await run(["permissions", "lint", "Bash(node:*)", "Bash(git diff:*)"]);
    assert.deepEqual(
      [warned.code, warned.stdout],
      [0, "warning: Bash(node:*): node can run anything, so this is equal to Bash(*)\n"],
    );
    assert.equal((await run(["permissions", "lint", "Bash("])).code, 1);
  });

  it("tells which files a command would change", async () => {
    const told = async (call: string): Promise<string> =>
      (await run(["permissions", "explain", call, "--permission-mode", "acceptEdits"], { cwd: folder })).stdout;
    for (const [command, files] of [
      ["mv a b", "b · b/a · a"],
      ["touch x", "x"],
      ["echo hi > f", "f"],
      ["ls | tee -a log", "log"],
    ] as const) {
      const text = await told(`Bash(${command})`);
      assert.match(text, /^decision: allow\nreason: It changes .*, which may be edited\n/, command);
      assert.match(text, new RegExp(`\nchanges: ${files}\n`), command);
    }
    assert.match(await told("Bash(cat a > /dev/null)"), /It only looks/);
  });

  it("knows no rule for a tool that is none", async () => {
    const ended = async (...args: string[]): Promise<[number | null, string]> => {
      const { code, stdout, stderr } = await run(args, { cwd: folder });
      return [code, `${stdout}${stderr}`];
    };
    const settings = (list: string, rule: string): string => JSON.stringify({ permissions: { [list]: [rule] } });
    const agents = (list: string, tool: string): string =>
      JSON.stringify({ a: { description: "d", prompt: "p", [list]: [tool] } });
    for (const [code, words, ...args] of [
      [64, /--disallowedTools: There is no tool "Wrte"; did you mean Write\?/, "-p", "hi", "--disallowedTools", "Wrte"],
      [64, /--tools: There is no tool "Foo"; there are Bash, .*Read, /, "-p", "hi", "--tools", "Foo"],
      [64, /--tools: There is no tool "Shell"; did you mean Bash\?/, "-p", "hi", "--tools", "Shell"],
      [64, /--tools: There is no tool "Shell"; did you mean Bash\?/, "-p", "hi", "--tools", "Shell,ReportFindings"],
      [64, /--tools: There is no tool "Bsh"; did you mean Bash\?/, "-p", "hi", "--tools", "Bsh(ls)"],
      [64, /--tools: Bash\(ls\) is a rule;.*--allowedTools/, "-p", "hi", "--tools", "Bash(ls)"],
      [64, /--agents: .*agent a names.*"Raed"; did you mean Read\?/, "-p", "hi", "--agents", agents("tools", "Raed")],
      [64, /--agents: .*"Bsh"; did you mean Bash\?/, "-p", "hi", "--agents", agents("disallowedTools", "Bsh(rm:*)")],
      [78, /There is no tool "Wrte"; did you mean Write\?/, "-p", "hi", "--settings", settings("allow", "Wrte")],
      [64, /There is no tool "bash"; did you mean Bash\?/, "-p", "hi", "--disallowedTools", "bash(rm:*)"],
      [78, /There is no tool "Wrte"; did you mean Write\?/, "-p", "hi", "--settings", settings("deny", "Wrte")],
      [78, /There is no tool "Raed"/, "-p", "hi", "--settings", settings("ask", "Raed(./x)")],
      [64, /There is no tool "Bsh"; did you mean Bash\?/, "permissions", "explain", "Bsh(rm -rf /)"],
      [64, /--disallowedTools: There is no tool/, "permissions", "explain", "Bash(ls)", "--disallowedTools", "Wrte"],
      [1, /error: Wrte: There is no tool[^\n]*\n.*error: Bsh\(rm:\*\): There is no/, "permissions", "lint", "Wrte", "Bsh(rm:*)"],
      [0, /No problems/, "permissions", "lint", "mcp__any__thing", "Skill", "ExitPlanMode", "NotebookEdit"],
    ] as const) {
      const [ending, text] = await ended(...args);
      assert.equal(ending, code, `${args.join(" ")}: ${text}`);
      assert.match(text, words, args.join(" "));
    }
  });

  it("says what it expects when it is called wrongly", async () => {
    for (const args of [["tset"], ["test"], ["explain"], ["test", "--cases", "none.jsonl"]]) {
      const { code, stderr } = await run(["permissions", ...args]);
      assert.ok(code === 64 || code === 66, `${args.join(" ")}: ${code}`);
      assert.match(stderr, /^outrider: /);
    }
  });
});

describe("names of files", () => {
  const decided = async (command: string, cwd: string): Promise<unknown> => {
    const { stdout } = await run(["permissions", "explain", `Bash(${command})`, "--json", "--cwd", cwd], {
      env: { OUTRIDER_HOME: tempFolder(), PATH: `${bin}:${process.env["PATH"]}` },
    });
    return JSON.parse(stdout).effect;
  };
  const bin = tempFolder();
  writeFileSync(join(bin, "sometool"), "#!/bin/sh\n", { mode: 0o755 });

  it("are not taken for what a program knows of itself", async () => {
    const cwd = tempFolder();
    assert.equal(await decided("sometool version", cwd), "allow");
    for (const name of ["version.py", "version", "Version.ts"]) {
      const there = tempFolder();
      writeFileSync(join(there, name), "");
      assert.deepEqual([name, await decided("sometool version", there)], [name, "ask"]);
    }
  });

  it("are no options where a pattern stands for them", async () => {
    const cwd = tempFolder();
    for (const name of ["-v", "a[$(id)]", "zz"]) writeFileSync(join(cwd, name), "");
    for (const command of ["printf *", "printf ?v a* z*", "printf [-]v a* z", "printf *v *] z*"])
      assert.deepEqual([command, await decided(command, cwd)], [command, "ask"]);
    assert.equal(await decided("printf '%s\\n' *", cwd), "allow");
  });
});
