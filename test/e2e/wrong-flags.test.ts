import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { refusedFlags } from "../../packages/cli/src/flags/refused-flags.ts";
import { flags } from "../../packages/cli/src/flags/flags.ts";
import { bin, emptyHome, isStandalone, launcher, lines, model, run, tempFolder } from "./command.ts";

describe("a flag that could not do what it says", () => {
  const cases: [args: string[], needs: string][] = [
    [["--include-partial-messages"], "--output-format stream-json"],
    [["--include-hook-events", "--flavor", "caliban", "--output-format", "json"], "--output-format stream-json"],
    [["--forward-subagent-text", "--output-format", "text"], "--output-format stream-json"],
    [["--replay-user-messages", "--output-format", "stream-json"], "--input-format stream-json"],
    [["--await-initialize", "--output-format", "stream-json"], "--input-format stream-json"],
    [["--atif-version", "1.4"], "--trajectory FILE"],
    [["--replay-lenient"], "--replay FILE"],
  ];
  for (const [args, needs] of cases)
    it(`is refused before anything is asked: ${args.join(" ")}`, async () => {
      const { env, server } = await model([], tempFolder());
      const { code, stderr } = await run(["-p", "hi", ...args], { env });
      assert.deepEqual([code, server.requests.length], [64, 0]);
      assert.ok(stderr.includes(`${args[0]} needs ${needs}`), stderr);
    });
});

describe("a flag of Claude Code that is nothing here", () => {
  it("is refused with what to do instead, in both spellings, as words and as a result", async () => {
    const { env } = await model([], tempFolder());
    const words = await run(["-p", "hi", "--workload", "x"], { env });
    assert.deepEqual([words.code, words.stdout], [64, ""]);
    assert.match(words.stderr, /--workload is not supported: .*--name/);
    const framed = await run(["-p", "hi", "--from-pr=12", "--output-format", "json"], { env });
    const [result, ...rest] = lines(framed.stdout);
    assert.deepEqual([framed.code, rest, result?.["is_error"]], [64, [], true]);
    assert.match(String(result?.["errors"]), /--from-pr is not supported/);
  });

  it("is in one list only, and has a reason", () => {
    const offered = new Set(flags.map(({ name }) => `--${name}`));
    for (const [name, reason] of Object.entries(refusedFlags)) {
      assert.ok(!offered.has(name as `--${(typeof flags)[number]["name"]}`), name);
      assert.ok(reason.length > 15, name);
    }
  });
});

describe("a command line that a script got wrong", () => {
  const cases: [what: string, args: string[], message: RegExp][] = [
    ["a variable that is not set, as a folder", ["--cwd="], /--cwd needs a value: --cwd DIR/],
    ["a variable that is not set, as settings", ["--settings", ""], /--settings needs a value/],
    ["a variable that is not set, as servers", ["--mcp-config", ""], /--mcp-config needs a value/],
    ["a prompt that begins with a dash", ["- fix the tests"], /Put -- before a prompt/],
  ];
  for (const [what, args, message] of cases)
    it(`is told what to write instead: ${what}`, async () => {
      const { env, server } = await model([], tempFolder());
      const { code, stderr } = await run(["-p", "hi", ...args], { env });
      assert.deepEqual([code, server.requests.length], [64, 0]);
      assert.match(stderr, message);
    });

  it("may give empty texts and lists, and a prompt behind --", async () => {
    const { env, server } = await model([{ text: "hi" }], tempFolder());
    const args = ["--system-prompt", "", "--allowedTools", "", "--setting-sources=", "-p", "--", "- fix the tests"];
    assert.equal((await run(args, { env })).code, 0);
    assert.match(JSON.stringify(server.requests[0]?.body), /- fix the tests/);
  });

  it("is told that its folder is gone", { skip: isStandalone && "Bun ends before the command begins" }, async () => {
    const { env } = await model([], tempFolder());
    const gone = join(tempFolder(), "gone");
    mkdirSync(gone);
    const script = `rmdir "$PWD" && exec "${launcher}" "${bin}" -p hi --output-format json`;
    const { status, stdout, stderr } = spawnSync("sh", ["-c", script], {
      cwd: gone,
      env: { PATH: process.env["PATH"] ?? "", HOME: emptyHome, ...env },
      encoding: "utf8",
    });
    const [result, ...rest] = lines(stdout);
    assert.deepEqual([status, rest, result?.["terminal_reason"]], [78, [], "config"], stderr);
    assert.match(stderr, /not there any more[\s\S]*--cwd/);
  });
});

describe("a flag that took the flag behind it for its value", () => {
  for (const flag of ["--session-id", "--resume", "--name", "--allowedTools", "--append-system-prompt"])
    for (const format of ["json", "stream-json", "text"])
      it(`is told where stdout and stderr are one file: ${flag} --output-format ${format}`, async () => {
        const { env, server } = await model([], tempFolder());
        const script = `exec "${launcher}" "${bin}" -p hi ${flag} --output-format ${format} 2>&1 </dev/null`;
        const { status, stdout } = spawnSync("sh", ["-c", script], {
          env: { PATH: process.env["PATH"] ?? "", HOME: emptyHome, ...env },
          encoding: "utf8",
        });
        assert.deepEqual([status, server.requests.length], [64, 0], stdout);
        assert.match(stdout, new RegExp(`${flag} needs a value`));
        const result = format === "text" ? undefined : lines(stdout).at(-1);
        if (result) assert.deepEqual([result["is_error"], String(result["session_id"]).includes("-format")], [true, false]);
      });
});

describe("a result without a session", () => {
  it("has the id that the host chose for it", async () => {
    const id = "11111111-2222-4333-8444-555555555555";
    const { env } = await model([], tempFolder());
    for (const args of [["--nonsense"], ["--resume-session-at", "x"], ["--settings", "{bad"]]) {
      const { stdout, code } = await run(["-p", "hi", "--session-id", id, "--output-format", "json", ...args], { env });
      const results = lines(stdout);
      assert.deepEqual([results.length, results[0]?.["session_id"], code === 0], [1, id, false], args.join(" "));
    }
  });
});

describe("--permission-mode manual", () => {
  it("is another word for default", async () => {
    const { env } = await model([{ text: "hi" }], tempFolder());
    const { code, stdout } = await run(["-p", "hi", "--output-format", "stream-json", "--permission-mode=manual"], { env });
    assert.deepEqual([code, lines(stdout)[0]?.["permissionMode"]], [0, "default"]);
  });
});

describe("a session that cannot be opened", () => {
  for (const codes of [{}, { OUTRIDER_CLAUDE_EXIT_CODES: "1", OUTRIDER_CLAUDE_RESULTS: "1" }])
    it(`is no success, in whosever codes: ${Object.keys(codes).length > 0 ? "Claude Code's" : "ours"}`, async () => {
      const { env, server } = await model([], tempFolder());
      const args = ["-p", "hi", "--output-format", "json", "--json-schema", '{"type":"nonsense"}'];
      const { code, stdout } = await run(args, { env: { ...env, ...codes } });
      assert.deepEqual([code, server.requests.length], [Object.keys(codes).length > 0 ? 1 : 64, 0]);
      assert.equal(lines(stdout)[0]?.["is_error"], true);
    });
});
