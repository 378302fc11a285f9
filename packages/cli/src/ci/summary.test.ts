import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { describe, it } from "node:test";
import { toOutputs } from "./outputs.ts";
import { wantsReport } from "./open-ci.ts";
import { detectCi } from "./platform.ts";
import { emptyReport, type RunReport } from "./run-report.ts";
import { toMarkdown } from "./summary.ts";
import { defuseJson, logCommandsOf, looksLikeCommands } from "./workflow-commands.ts";

const report: RunReport = {
  task: "fix the test",
  outcome: { type: "completed", text: "Fixed." },
  exitCode: 0,
  sessionId: "s-1",
  prompts: 1,
  turns: 2,
  durationMs: 61_000,
  costUsd: 0.0123,
  models: [{ name: "m", inputTokens: 12_345, cachedTokens: 12_000, outputTokens: 67, costUsd: 0.0123 }],
  tools: [{ name: "Bash", calls: 2, failed: 1, denied: 0, durationMs: 1_500 }],
  denied: [],
  changedFiles: ["src/a.ts"],
  changedBeside: ["dist/a.js"],
};
const room = 1024 * 1024;

describe("the step summary", () => {
  it("says how it went, what was asked, what it cost and what changed", () => {
    assert.equal(
      toMarkdown(report, room),
      [
        "## Outrider: ✅ completed",
        "",
        "**Task**",
        "",
        "```text\nfix the test\n```",
        "",
        "**Result**",
        "",
        "```text\nFixed.\n```",
        "",
        "| Model | Input tokens | of them cached | Output tokens | Cost |",
        "| --- | ---: | ---: | ---: | ---: |",
        "| `m` | 12,345 | 12,000 | 67 | $0.0123 |",
        "",
        "2 turns in 1 min 1 s, $0.0123 in all",
        "",
        "| Tool | Calls | Failed | Denied | Time |",
        "| --- | ---: | ---: | ---: | ---: |",
        "| `Bash` | 2 | 1 | 0 | 1.5 s |",
        "",
        "**Changed files (by Write and Edit)**",
        "",
        "- `src/a.ts`",
        "",
        "**Also changed during the run (seen by git status)**",
        "",
        "- `dist/a.js`",
        "",
        "Session `s-1`, exit code 0",
        "",
      ].join("\n"),
    );
  });

  it("renders nothing that the model, a provider or a file name says", () => {
    const text = "```\n![x](https://evil.example/?d=1)\n````";
    const markdown = toMarkdown({ ...report, outcome: { type: "completed", text }, changedFiles: ["a`![x](y)`|b"] }, room) ?? "";
    assert.ok(markdown.includes(`\`\`\`\`\`text\n${text}\n\`\`\`\`\``));
    assert.ok(markdown.includes("- ``a`![x](y)`|b``"));
    const error = { code: "provider-auth", message: "[go](https://evil.example)", retryable: false, hint: "<b>" } as const;
    const failed = toMarkdown({ ...report, outcome: { type: "failed", error, text: "" } }, room) ?? "";
    assert.ok(failed.includes("```text\n[go](https://evil.example)\n<b>\n```"));
  });

  it("keeps a row a row, whatever a model calls a tool", () => {
    const tool = { calls: 1, failed: 1, denied: 0, durationMs: 0 };
    const names = ["a\\|![x](https://evil.example)|", "b|<img src=x>", "c\n| `d`", "e".repeat(1_000_000)];
    const markdown = toMarkdown({ ...report, tools: names.map((name) => ({ ...tool, name })) }, room) ?? "";
    const rows = markdown.split("\n").filter((line) => /^\| `/.test(line) && line.endsWith(" | 1 | 1 | 0 | 0.0 s |"));
    assert.deepEqual(
      rows.map((line) => line.slice(0, -" | 1 | 1 | 0 | 0.0 s |".length)),
      [
        "| `a\\¦![x](https://evil.example)¦`",
        "| `b¦<img src=x>`",
        "| `` c ¦ `d` ``",
        `| \`${"e".repeat(200)} … (999800 more characters)\``,
      ],
    );
  });

  it("names what was not permitted, and counts what it leaves out", () => {
    const denied = [
      { tool: "Bash", input: "rm -rf build\n`x`", reason: "Bash needs a permission" },
      { tool: "Odd", input: "", reason: "" },
    ];
    const tools = [{ name: "Bash", calls: 9, failed: 0, denied: 7, durationMs: 0 }];
    const markdown = toMarkdown({ ...report, denied, tools }, room) ?? "";
    const lines = [
      "**Not permitted**",
      "",
      "- `Bash` `` rm -rf build `x` ``: `Bash needs a permission`",
      "- `Odd` `(nothing)`: `(no reason)`",
      "- and 5 more",
      "",
    ];
    assert.ok(markdown.includes(lines.join("\n")), markdown);
  });

  it("says that there were more prompts than the one it shows", () => {
    const markdown = toMarkdown({ ...report, prompts: 3 }, room) ?? "";
    assert.ok(markdown.includes("**Task** (the first of 3 prompts; the result is that of the last)\n\n```text\nfix the test\n"));
  });

  it("says what is known of a run that never came to be", () => {
    const error = { code: "config", message: "No key", retryable: false } as const;
    const nothing = emptyReport({ type: "failed", error, text: "" }, 78);
    assert.equal(
      toMarkdown(nothing, room),
      "## Outrider: ❌ failed (config)\n\n```text\nNo key\n```\n\nNo session, exit code 78\n",
    );
  });

  it("is cut until it fits, whatever the run said, and is left out where nothing fits", () => {
    const text = "ü".repeat(2_000_000);
    const long: RunReport = { ...report, task: text, outcome: { type: "completed", text }, changedFiles: [text, text] };
    for (const bytes of [room, 20_000, 8_000]) {
      const markdown = toMarkdown(long, bytes) ?? "";
      assert.ok(markdown.endsWith("exit code 0\n"));
      assert.ok(Buffer.byteLength(markdown) <= bytes);
    }
    assert.match(toMarkdown(long, room) ?? "", /1950000 more characters/);
    assert.equal(toMarkdown(long, 100), undefined);
  });
});

describe("outputs", () => {
  const scalars = {
    outcome: "completed",
    exit_code: "0",
    error_code: "",
    session_id: "s-1",
    num_turns: "2",
    num_denied: "0",
    duration_ms: "61000",
    input_tokens: "12345",
    output_tokens: "67",
    cost_usd: "0.0123",
  };

  it("hold any text between delimiters for GitHub", () => {
    const outcome = { type: "completed", text: "a\nb", structured: { ok: true } } as const;
    const values = { ...scalars, result: "a\nb", structured_output: '{"ok":true}', changed_files: "dist/a.js\nsrc/a.ts" };
    assert.equal(
      toOutputs({ ...report, outcome }, "github", "EOF-1"),
      Object.entries(values)
        .map(([name, value]) => `${name}<<EOF-1\n${value}\nEOF-1\n`)
        .join(""),
    );
  });

  it("are one line each for others", () => {
    assert.equal(
      toOutputs({ ...report, costUsd: null }, "dotenv", ""),
      Object.entries({ ...scalars, cost_usd: "" })
        .map(([name, value]) => `OUTRIDER_${name.toUpperCase()}=${value}\n`)
        .join(""),
    );
  });

  it("fit into a variable each, and never hold half of a JSON value or of a name", () => {
    const long = "ü".repeat(900_000);
    const outcome = { type: "completed", text: `${long}\0`, structured: { long } } as const;
    const text = toOutputs({ ...report, outcome, changedFiles: [long, "a\nb", "c"] }, "github", "E");
    assert.ok(text.endsWith("structured_output<<E\n\nE\nchanged_files<<E\nc\ndist/a.js\nE\n"), text.slice(-200));
    const [, result = ""] = /^result<<E\n([\s\S]*?)\nE$/m.exec(text) ?? [];
    assert.match(result, /ü\n… \(\d+ more characters\)$/);
    // Linux refuses to start a program otherwise.
    const { status, stdout } = spawnSync("bash", ["-c", 'printf %s "$RESULT" | wc -c'], {
      env: { ...process.env, RESULT: result },
    });
    assert.deepEqual([status, Number(stdout.toString())], [0, Buffer.byteLength(result)]);
  });

  it("hold nothing that no variable can hold", () => {
    const text = toOutputs({ ...report, outcome: { type: "completed", text: "a\0b" } }, "github", "E");
    assert.ok(text.includes("result<<E\na\ufffdb\nE\n"));
  });
});

describe("commands to the log", () => {
  const failed: RunReport = {
    ...report,
    outcome: { type: "failed", error: { code: "provider-auth", message: "Bad\nkey: 100%", retryable: false }, text: "" },
  };

  it("keep text from being taken for commands on GitHub", () => {
    const commands = logCommandsOf("github", { token: "t0", now: () => 0 });
    assert.equal(commands.begin("a\n::error::b"), "::group::a%0A::error::b\n::stop-commands::t0\n");
    assert.equal(commands.closeFold(), "::t0::\n::endgroup::\n::stop-commands::t0\n");
    assert.equal(commands.release(), "::t0::\n");
    assert.equal(commands.failure(failed), "::error title=Outrider%3A provider-auth::Bad%0Akey: 100%25\n");
  });

  it("hide every line of a secret that says something", () => {
    const commands = logCommandsOf("github", { token: "t0", now: () => 0 });
    assert.equal(commands.mask(["{\r\n  one-100%\ntwo-two\n}", "two-two"]), "::add-mask::  one-100%25\n::add-mask::two-two\n");
  });

  it("say no more than an annotation can hold", () => {
    const error = { code: "internal", message: "🙂".repeat(9_000), retryable: false } as const;
    const line = logCommandsOf("github", { token: "t0", now: () => 0 }).failure({
      ...report,
      outcome: { type: "failed", error, text: "" },
    });
    assert.ok(line.length < 4_200 && line.endsWith("🙂%0A… (14000 more characters)\n"), line.slice(-60));
  });

  it("fold a section on GitLab", () => {
    const commands = logCommandsOf("gitlab", { token: "t0", now: () => 5_000 });
    assert.equal(commands.begin("run"), "\x1b[0Ksection_start:5:outrider_t0[collapsed=true]\r\x1b[0Krun\n");
    assert.equal(commands.closeFold(), "\x1b[0Ksection_end:5:outrider_t0\r\x1b[0K\n");
    assert.equal(commands.failure(failed), "\x1b[31;1mOutrider: provider-auth\x1b[0m Bad key: 100%\n");
    assert.equal(commands.mask(["a-secret"]) + commands.release(), "");
  });

  it("are known by their two forms, of which JSON loses the one it could hold", () => {
    assert.deepEqual(["a ##[error]b", "x\n\t ::error::b", "a ::error::b", "plain"].map(looksLikeCommands), [
      true,
      true,
      false,
      false,
    ]);
    const json = JSON.stringify({ text: "###[add-mask]x ##[error]y" });
    assert.ok(!defuseJson(json).includes("##["));
    assert.deepEqual(JSON.parse(defuseJson(json)), JSON.parse(json));
  });
});

describe("detectCi", () => {
  it("knows where it is by the variables of the place", () => {
    assert.equal(detectCi({}), undefined);
    assert.deepEqual(detectCi({ GITHUB_ACTIONS: "true", GITHUB_STEP_SUMMARY: "/s", GITHUB_OUTPUT: "/o" }), {
      name: "github",
      summary: "/s",
      output: "/o",
    });
    assert.deepEqual(detectCi({ GITLAB_CI: "true", OUTRIDER_OUTPUT: "run.env" }), {
      name: "gitlab",
      summary: undefined,
      output: "run.env",
    });
    assert.deepEqual(detectCi({ OUTRIDER_SUMMARY: "x.md" }), { name: "other", summary: "x.md", output: undefined });
  });
});

describe("wantsReport", () => {
  it("is true of a run, and not of another command", () => {
    const asked = [["-p", "go", "--bogus"], ["go on", "-p"], ["--bogus"], ["trust", "--bogus"], ["-p", "--no-ci-report"], []];
    assert.deepEqual(asked.map(wantsReport), [true, true, true, false, false, false]);
  });
});
