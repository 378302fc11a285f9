import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { bin, cleanEnv, launcher, eventually, lines, type Run, run, start } from "./command.ts";
import { evil, type GithubStep, githubStep, obeyed, secret } from "./github-step.ts";

describe("a run on GitHub", () => {
  for (const format of ["text", "json", "stream-json"]) {
    it(`leaves summary and outputs, and only its format on stdout: ${format}`, async () => {
      const write = { name: "Write", input: { file_path: "a.txt", content: "1\n" } };
      const usage = { inputTokens: 1000, outputTokens: 100 };
      const step = await githubStep([
        { calls: [write], usage },
        { text: "Written.", usage },
      ]);
      const args = ["-p", "write it", "--permission-mode", "acceptEdits", "--output-format", format];
      const ended = await run(args, { env: step.env, cwd: step.cwd });
      assert.equal(ended.code, 0, ended.stderr);
      if (format === "text") assert.equal(ended.stdout, "Written.\n");
      else assert.equal(lines(ended.stdout).at(-1)?.["result"], "Written.");
      const { session_id, duration_ms, cost_usd, input_tokens, output_tokens, ...outputs } = step.outputs();
      assert.deepEqual(outputs, {
        outcome: "completed",
        exit_code: "0",
        error_code: "",
        num_turns: "2",
        num_denied: "0",
        result: "Written.",
        structured_output: "",
        changed_files: "a.txt",
      });
      assert.deepEqual([input_tokens, output_tokens], ["2000", "200"]);
      assert.ok([duration_ms, cost_usd].every((value) => Number(value) > 0));
      assert.match(step.summary(), new RegExp(`^## Outrider: ✅ completed\n[\\s\\S]*write it[\\s\\S]*Session \`${session_id}\``));
      assert.match(step.summary(), /\| `Write` \| 1 \| 0 \| 0 \|/);
      assert.deepEqual(obeyed(ended.stderr), [
        "::add-mask::test-key",
        `::add-mask::${secret}`,
        "::group::Outrider: progress",
        "::endgroup::",
      ]);
      assert.ok(ended.stderr.startsWith("::add-mask::"));
    });
  }

  it("does not list what the command itself writes", async () => {
    const step = await githubStep([
      { calls: [{ name: "Write", input: { file_path: "a.txt", content: "1\n" } }] },
      { text: "Done." },
    ]);
    execFileSync("git", ["init", "-q"], { cwd: step.cwd });
    const files = [
      "--report",
      "page.html",
      "--trajectory",
      "out/run.json",
      "--record",
      "calls.jsonl",
      "--debug-file",
      "debug.log",
    ];
    const args = [bin, "-p", "go", "--permission-mode", "acceptEdits", ...files];
    const child = spawn("bash", ["-c", 'exec "$0" "$@" > answer.txt', launcher, ...args], {
      env: cleanEnv(step.env),
      cwd: step.cwd,
      stdio: "ignore",
    });
    assert.equal(await new Promise((resolve) => child.on("close", resolve)), 0);
    for (const file of ["page.html", "out/run.json", "calls.jsonl", "debug.log", "answer.txt"])
      assert.ok(existsSync(join(step.cwd, file)), file);
    assert.equal(step.outputs()["changed_files"], "a.txt");
  });

  it("lists what commands changed beside Write and Edit", async () => {
    const calls = [
      { name: "Write", input: { file_path: "a.txt", content: "1\n" } },
      { name: "Bash", input: { command: "echo x > made.txt; echo y >> before.txt" } },
    ];
    const step = await githubStep([{ calls }, { text: "Done." }]);
    execFileSync("git", ["init", "-q"], { cwd: step.cwd });
    writeFileSync(join(step.cwd, "before.txt"), "1");
    writeFileSync(join(step.cwd, "untouched.txt"), "1");
    const args = ["-p", "go", "--permission-mode", "acceptEdits", "--allowedTools", "Bash", "--sandbox", "off"];
    const ended = await run(args, { env: step.env, cwd: step.cwd });
    assert.equal(ended.code, 0, ended.stderr);
    assert.equal(step.outputs()["changed_files"], "a.txt\nbefore.txt\nmade.txt");
    assert.match(
      step.summary(),
      /by Write and Edit\)\*\*\n\n- `a.txt`\n\n\*\*Also changed during the run \(seen by git status\)\*\*\n\n- `before.txt`\n- `made.txt`\n\n/,
    );
  });

  for (const format of ["text", "json", "stream-json"]) {
    it(`obeys nothing that the model, a tool or a provider says, on either stream: ${format}`, async () => {
      const bash = { name: "Bash", input: { command: `printf '%s\\n' '${evil}' >&2; false`, description: evil } };
      const refusal = { status: 400, body: { type: "error", error: { type: "invalid_request_error", message: evil } } };
      for (const last of [{ text: evil }, refusal]) {
        const step = await githubStep([{ calls: [bash] }, last]);
        const { code, log } = await loggedRun(
          ["-p", "go", "--verbose", "--allowedTools", "Bash", "--output-format", format],
          step,
        );
        const failed = "status" in last;
        assert.equal(code, failed ? 1 : 0, log);
        assert.match(log, /from the model/);
        const [key, token, group, end, annotation, ...rest] = obeyed(log);
        assert.deepEqual(
          [key, token, group, end, rest],
          ["::add-mask::test-key", `::add-mask::${secret}`, "::group::Outrider: progress", "::endgroup::", []],
        );
        assert.equal(annotation?.startsWith("::error title=Outrider%3A provider-bad-request::"), failed || undefined, annotation);
        assert.equal(step.outputs()["outcome"], failed ? "failed" : "completed");
        const json = log.split("\n").filter((line) => /^\[?\{/.test(line)); // with --verbose, json is an array
        assert.equal(json.length > 0, format !== "text");
        if (json.length > 0) assert.ok(JSON.stringify(JSON.parse(json.at(-1) ?? "")).includes("##[add-mask]a"));
      }
    });
  }

  for (const flags of [["atif-jsonl"], ["stream-json", "--flavor", "caliban"], ["json", "--flavor", "robota"]]) {
    it(`reports whatever the shape of the output, and obeys none: ${flags.join(" ")}`, async () => {
      const step = await githubStep([{ text: evil }]);
      const ended = await run(["-p", "go", "--output-format", ...flags], { env: step.env, cwd: step.cwd });
      assert.equal(ended.code, 0, ended.stderr);
      assert.ok(lines(ended.stdout).length > 0);
      assert.deepEqual(obeyed(ended.stdout), []);
      assert.deepEqual([step.outputs()["outcome"], step.outputs()["result"]], ["completed", evil]);
    });
  }

  it("lets commands count again only after the answer", async () => {
    const step = await githubStep([{ text: evil }]);
    const { log } = await loggedRun(["-p", "go"], step);
    const token = /::stop-commands::(\S+)/.exec(log)?.[1];
    const after = log.slice(log.indexOf("from the model"));
    const said = evil.slice(evil.indexOf("from the model"));
    assert.ok(after.startsWith(`${said}\n`), after);
    assert.match(
      after.slice(said.length + 1),
      /^The whole run is recorded in .*\n✓ done · 1 turn · .* · session \S+\n::(\S+)::\n$/,
    );
    assert.ok(after.endsWith(`::${token}::\n`));
  });

  it("tells in the fold what happens, and after the answer what was not permitted", async () => {
    const calls = [
      { name: "Glob", input: { pattern: "*.md" } },
      { name: "Bash", input: { command: "rm -rf ::error::build" } },
    ];
    const step = await githubStep([{ text: "::warning::I look first.", calls }, { text: "Fixed it." }]);
    const { code, log } = await loggedRun(["-p", "go"], step);
    assert.equal(code, 0);
    const [, fold = "", rest = ""] = /::group::Outrider: progress\n([\s\S]*?)::endgroup::\n([\s\S]*)/.exec(log) ?? [];
    assert.match(
      fold,
      /session \S+ · .*\n::warning::I look first\.\n✓ Glob \*\.md\n⊘ Bash rm -rf ::error::build\n {4}Not permitted: /,
    );
    assert.match(
      rest,
      /Fixed it\.\noutrider: one call was not permitted:\n {2}Bash: Not permitted: .*A rule that would allow it/,
    );
    assert.deepEqual(
      obeyed(log).filter((line) => /error|warning/.test(line)),
      [],
    );
  });

  it("writes no command and no secret to a stderr that is a file", async () => {
    const step = await githubStep([{ text: "Hello." }]);
    const { code, log } = await loggedRun(["-p", "go"], step, "2> err.txt");
    assert.deepEqual([code, log, readFileSync(join(step.cwd, "err.txt"), "utf8")], [0, "Hello.\n", ""]);
    assert.equal(step.outputs()["outcome"], "completed");
  });

  it("keeps secrets out of what it leaves", async () => {
    const step = await githubStep([{ text: `It is ${secret}.` }]);
    const ended = await run(["-p", `what about ${secret}`, "--output-format", "json"], { env: step.env, cwd: step.cwd });
    assert.equal(ended.code, 0, ended.stderr);
    assert.ok(!`${step.summary()}${JSON.stringify(step.outputs())}`.includes(secret));
  });

  it("does not tell tools where later steps read their variables from", async () => {
    const step = await githubStep([{ calls: [{ name: "Bash", input: { command: "env" } }] }, { text: "Done." }]);
    const env = { ...step.env, GITHUB_ENV: join(step.folder, "env"), GITHUB_SHA: "abc" };
    assert.equal((await run(["-p", "go", "--allowedTools", "Bash"], { env, cwd: step.cwd })).code, 0);
    const shown = JSON.stringify(step.server.requests.at(-1)?.body);
    assert.match(shown, /GITHUB_SHA=abc/);
    assert.doesNotMatch(shown, /GITHUB_(ENV|OUTPUT|PATH|STEP_SUMMARY)=/);
  });

  it("does not tell hooks and servers either, unless a server's own settings name it", async () => {
    const server = { name: "mcp__env__names", input: {} };
    const other = { name: "mcp__told__names", input: {} };
    const step = await githubStep([{ calls: [server, other] }, { text: "Done." }]);
    writeFileSync(join(step.folder, "server.mjs"), namesServer);
    const programs = {
      env: { command: process.execPath, args: [join(step.folder, "server.mjs")] },
      // biome-ignore lint/suspicious/noTemplateCurlyInString: it stands like that in the file
      told: { command: process.execPath, args: [join(step.folder, "server.mjs")], env: { GITHUB_OUTPUT: "${GITHUB_OUTPUT}" } },
    };
    const hook = { type: "command", command: `env > ${step.folder}/hook.txt` };
    const settings = { hooks: { UserPromptSubmit: [{ hooks: [hook] }] } };
    const words = ["--mcp-config", JSON.stringify({ mcpServers: programs }), "--settings", JSON.stringify(settings)];
    const env = { ...step.env, GITHUB_ENV: join(step.folder, "env"), GITHUB_PATH: join(step.folder, "path") };
    const ended = await run(["-p", "go", "--allowedTools", "mcp__env", "mcp__told", ...words], { env, cwd: step.cwd });
    assert.equal(ended.code, 0, ended.stderr);
    const [first, second] = JSON.stringify(step.server.requests.at(-1)?.body).matchAll(/names: ([A-Z_ ]*)/g);
    assert.deepEqual([first?.[1], second?.[1]], ["GITHUB_ACTIONS", "GITHUB_ACTIONS GITHUB_OUTPUT"]);
    assert.doesNotMatch(readFileSync(join(step.folder, "hook.txt"), "utf8"), /GITHUB_(ENV|OUTPUT|PATH|STEP_SUMMARY)=/);
  });

  it("says what was not permitted", async () => {
    const calls = [{ name: "Bash", input: { command: "rm -rf build" } }];
    const step = await githubStep([{ calls }, { text: "I could not." }]);
    const ended = await run(["-p", "go"], { env: step.env, cwd: step.cwd });
    assert.deepEqual([ended.code, step.outputs()["num_denied"]], [0, "1"], ended.stderr);
    assert.match(step.summary(), /\*\*Not permitted\*\*\n\n- `Bash` `rm -rf build`: `[^`]+`\n/);
  });

  it("reports nothing with --no-ci-report", async () => {
    const step = await githubStep([{ text: "Hello." }]);
    const ended = await run(["-p", "go", "--no-ci-report"], { env: step.env, cwd: step.cwd });
    assert.deepEqual([ended.code, ended.stdout, ended.stderr, step.summary(), step.outputs()], [0, "Hello.\n", "", "", {}]);
  });

  it("goes on when a file of the platform cannot be written", async () => {
    const step = await githubStep([{ text: "Hello." }]);
    const env = { ...step.env, GITHUB_STEP_SUMMARY: "/no/such/folder/s.md" };
    const ended = await run(["-p", "go"], { env, cwd: step.cwd });
    assert.deepEqual([ended.code, step.outputs()["outcome"]], [0, "completed"]);
    assert.match(ended.stderr, /outrider: \/no\/such\/folder\/s\.md cannot be written/);
  });

  it("tells what kept it from succeeding, by limit, schema and deadline", async () => {
    const again = { calls: [{ name: "Read", input: { file_path: "x" } }] };
    const cases: [string[], number, string, string, RegExp][] = [
      [["--max-turns", "1"], 75, "stopped", "", /::error title=Outrider stopped::Stopped at the limit max-turns/],
      [["--json-schema", '{"type":"object"}'], 2, "failed", "output-schema", /::error title=Outrider%3A output-schema::/],
      [["--deadline", "1s"], 124, "cancelled", "", /::warning title=Outrider was cancelled::Cancelled: deadline/],
    ];
    for (const [flags, code, outcome, errorCode, annotation] of cases) {
      const last = flags[0] === "--json-schema" ? { text: "no JSON" } : flags[0] === "--deadline" ? { hang: true } : again;
      const step = await githubStep(() => last);
      const ended = await run(["-p", "go", ...flags], { env: step.env, cwd: step.cwd });
      const { outcome: said, exit_code, error_code } = step.outputs();
      assert.deepEqual([ended.code, said, exit_code, error_code], [code, outcome, String(code), errorCode]);
      assert.match(obeyed(ended.stderr).at(-1) ?? "", annotation);
      assert.match(step.summary(), new RegExp(`exit code ${code}\n$`));
    }
  });
});

describe("a run on GitHub that never starts", () => {
  const cases: [string, string[], Record<string, string>, number, string][] = [
    ["a wrong flag", ["-p", "go", "--bogus"], {}, 64, "usage"],
    ["a wrong value", ["-p", "go", "--max-turns", "many"], {}, 64, "usage"],
    ["no key", ["-p", "go", "--provider", "anthropic"], { ANTHROPIC_API_KEY: "" }, 78, "config"],
    ["no prompt", ["-p"], {}, 66, "no-input"],
    ["no such session", ["-p", "go", "--resume", "nobody"], {}, 66, "not-found"],
  ];
  for (const [what, args, extra, code, errorCode] of cases) {
    it(`leaves an annotation, outputs and a summary: ${what}`, async () => {
      const step = await githubStep([]);
      const ended = await run([...args, "--output-format", "json"], { env: { ...step.env, ...extra }, cwd: step.cwd });
      const { outcome, exit_code, error_code } = step.outputs();
      assert.deepEqual([ended.code, outcome, exit_code, error_code], [code, "failed", String(code), errorCode], ended.stderr);
      assert.equal(lines(ended.stdout).length, 1);
      assert.match(obeyed(ended.stderr).at(-1) ?? "", new RegExp(`^::error title=Outrider%3A ${errorCode}::.`));
      assert.match(step.summary(), new RegExp(`^## Outrider: ❌ failed \\(${errorCode}\\)\n[\\s\\S]*exit code ${code}\n$`));
    });
  }

  it("obeys nothing that the settings of the checked out project say", async () => {
    const step = await githubStep([]);
    mkdirSync(join(step.cwd, ".outrider"));
    writeFileSync(
      join(step.cwd, ".outrider/settings.json"),
      JSON.stringify({ permissions: { "\n::set-output name=outcome::completed\n": 1 } }),
    );
    const { code, log } = await loggedRun(["-p", "go"], step);
    assert.equal(code, 78, log);
    assert.deepEqual(
      obeyed(log).map((line) => line.split(/[ :]+/)[1]),
      ["add-mask", "add-mask", "group", "endgroup", "error"],
    );
  });

  it("is no report of another command", async () => {
    const step = await githubStep([]);
    const ended = await run(["trust", "--bogus"], { env: step.env, cwd: step.cwd });
    assert.deepEqual([ended.code, step.summary(), step.outputs(), obeyed(ended.stderr)], [64, "", {}, []]);
  });
});

describe("a run on GitHub that is cancelled", () => {
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    it(`leaves its report: ${signal} while a tool runs`, async () => {
      const command = "echo 1 > made.txt; touch started; sleep 60";
      const step = await githubStep([{ text: "Working.", calls: [{ name: "Bash", input: { command } }] }]);
      execFileSync("git", ["init", "-q"], { cwd: step.cwd });
      const { child, done } = startOnce(["-p", "go", "--allowedTools", "Bash", "--sandbox", "off"], {
        env: step.env,
        cwd: step.cwd,
      });
      await eventually(() => existsSync(join(step.cwd, "started")), "the tool runs");
      child.kill(signal);
      const ended = await done;
      const { outcome, exit_code, changed_files } = step.outputs();
      assert.deepEqual([ended.code, outcome, exit_code, changed_files], [124, "cancelled", "124", "made.txt\nstarted"]);
      assert.match(step.summary(), /^## Outrider: ⚠️ cancelled \(signal\)\n/);
      assert.match(obeyed(ended.stderr).at(-1) ?? "", /^::warning title=Outrider was cancelled::Cancelled: signal/);
    });
  }

  it("leaves its report when it is told to stop before it has a prompt", async () => {
    const step = await githubStep([]);
    const { child, done } = startOnce(["-p"], { env: step.env, cwd: step.cwd, stdin: "open" });
    let said = "";
    child.stderr.on("data", (text: string) => {
      said += text;
    });
    await eventually(() => said.includes("::stop-commands::"), "the run has begun");
    child.kill("SIGTERM");
    const ended = await done;
    assert.deepEqual([ended.code, step.outputs()["outcome"]], [124, "cancelled"]);
    assert.match(step.summary(), /cancelled \(signal\)/);
  });

  it("leaves a short one when it cannot end by itself: nobody reads its output", async () => {
    const step = await githubStep([{ text: "x".repeat(2_000_000) }]);
    const { child, done } = startOnce(["-p", "go"], { env: step.env, cwd: step.cwd });
    child.stdout.pause();
    await eventually(() => step.server.requests.length === 1, "the model is asked");
    await new Promise((resolve) => setTimeout(resolve, 500)); // the answer fills the pipe
    child.kill("SIGTERM");
    await eventually(() => child.exitCode !== null, "it has left");
    child.stdout.resume();
    assert.equal((await done).code, 124);
    assert.deepEqual([step.outputs()["outcome"], step.outputs()["exit_code"]], ["cancelled", "124"]);
    assert.match(step.summary(), /^## Outrider: ⚠️ cancelled/);
  });
});

describe("a run on GitLab and elsewhere", () => {
  it("folds its progress on GitLab and leaves the files that are named", async () => {
    const step = await githubStep([{ text: "Hello." }]);
    const { ANTHROPIC_API_KEY = "", ANTHROPIC_BASE_URL = "", OUTRIDER_HOME = "" } = step.env as Record<string, string>;
    const provider = { ANTHROPIC_API_KEY, ANTHROPIC_BASE_URL, OUTRIDER_HOME };
    const names = { OUTRIDER_SUMMARY: "summary.md", OUTRIDER_OUTPUT: "run.env" };
    const ended = await run(["-p", "go"], { env: { ...provider, ...names, GITLAB_CI: "true" }, cwd: step.cwd });
    assert.deepEqual([ended.code, ended.stdout], [0, "Hello.\n"]);
    assert.match(
      JSON.stringify(ended.stderr),
      /^"\\u001b\[0Ksection_start:\d+:(\S+)\[collapsed=true\]\\r\\u001b\[0KOutrider: progress\\nsession \S+ · .*\\n\\u001b\[0Ksection_end:\d+:\1\\r\\u001b\[0K\\nThe whole run is recorded in .*✓ done · .*\\n"$/,
    );
    assert.match(
      readFileSync(join(step.cwd, "run.env"), "utf8"),
      /^OUTRIDER_OUTCOME=completed\nOUTRIDER_EXIT_CODE=0\n(?:OUTRIDER_[A-Z_]+=[^\n]*\n)+$/,
    );
    assert.match(readFileSync(join(step.cwd, "summary.md"), "utf8"), /✅ completed/);
  });

  it("says nothing on stderr anywhere else, and does not write through a link", async () => {
    const step = await githubStep([{ text: "Hello." }]);
    const { GITHUB_ACTIONS: _, GITHUB_OUTPUT: __, GITHUB_STEP_SUMMARY: ___, ...env } = step.env;
    const target = join(step.folder, "target");
    writeFileSync(target, "mine");
    symlinkSync(target, join(step.cwd, "run.env"));
    const names = { OUTRIDER_SUMMARY: "summary.md", OUTRIDER_OUTPUT: "run.env" };
    const ended = await run(["-p", "go"], { env: { ...env, ...names }, cwd: step.cwd });
    assert.deepEqual([ended.code, ended.stdout, readFileSync(target, "utf8")], [0, "Hello.\n", "mine"]);
    assert.match(ended.stderr, /^outrider: run\.env cannot be written: ELOOP[^\n]*\n$/);
    assert.match(readFileSync(join(step.cwd, "summary.md"), "utf8"), /✅ completed/);
  });
});

/** An MCP server whose one tool says which of GitHub's variables it was given. */
const namesServer = `
  import { createInterface } from "node:readline";
  const say = (id, result) => console.log(JSON.stringify({ jsonrpc: "2.0", id, result }));
  const names = Object.keys(process.env).filter((name) => name.startsWith("GITHUB_")).sort().join(" ");
  createInterface({ input: process.stdin }).on("line", (line) => {
    const { id, method, params } = JSON.parse(line);
    if (method === "initialize")
      say(id, { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } });
    if (method === "tools/list") say(id, { tools: [{ name: "names", inputSchema: { type: "object" } }] });
    if (method === "tools/call") say(id, { content: [{ type: "text", text: "names: " + names }] });
  });`;

/** Gone with the test file, however the test ends. */
function startOnce(...args: Parameters<typeof start>): ReturnType<typeof start> {
  const started = start(...args);
  after(() => started.child.kill("SIGKILL"));
  return started;
}

/** Both streams in one, in the order in which they were written, as they are in a log. */
async function loggedRun(
  args: readonly string[],
  step: GithubStep,
  redirection = "2>&1",
): Promise<{ code: Run["code"]; log: string }> {
  const child = spawn("bash", ["-c", `"$0" "$@" ${redirection} < /dev/null`, launcher, bin, ...args], {
    cwd: step.cwd,
    env: { PATH: process.env["PATH"] ?? "", HOME: step.folder, ...step.env },
  });
  let log = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    log += text;
  });
  const code = await new Promise<number | null>((resolve) => child.on("close", resolve));
  return { code, log };
}
