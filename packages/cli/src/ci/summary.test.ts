import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { toOutputs } from "./outputs.ts";
import { detectCi } from "./platform.ts";
import type { RunReport } from "./run-report.ts";
import { toMarkdown } from "./summary.ts";
import { logCommandsOf } from "./workflow-commands.ts";

const report: RunReport = {
  task: "fix the test",
  outcome: { type: "completed", text: "Fixed." },
  exitCode: 0,
  sessionId: "s-1",
  turns: 2,
  durationMs: 61_000,
  costUsd: 0.0123,
  models: [{ name: "m", inputTokens: 12_345, outputTokens: 67, costUsd: 0.0123 }],
  tools: [{ name: "Bash", calls: 2, failed: 1, denied: 0, durationMs: 1_500 }],
  changedFiles: ["src/a.ts"],
};

describe("the step summary", () => {
  it("says how it went, what was asked, what it cost and what changed", () => {
    assert.equal(
      toMarkdown(report),
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
        "| Model | Input tokens | Output tokens | Cost |",
        "| --- | ---: | ---: | ---: |",
        "| `m` | 12,345 | 67 | $0.0123 |",
        "",
        "2 turns in 1 min 1 s, $0.0123 in all",
        "",
        "| Tool | Calls | Failed | Denied | Time |",
        "| --- | ---: | ---: | ---: | ---: |",
        "| `Bash` | 2 | 1 | 0 | 1.5 s |",
        "",
        "**Changed files** (by Write and Edit)",
        "",
        "- `src/a.ts`",
        "",
        "Session `s-1`, exit code 0",
        "",
      ].join("\n"),
    );
  });

  it("renders nothing the model wrote", () => {
    const text = "```\n![x](https://evil.example/?d=1)\n````";
    const markdown = toMarkdown({ ...report, outcome: { type: "completed", text }, changedFiles: ["a`![x](y)`|b"] });
    assert.ok(markdown.includes(`\`\`\`\`\`text\n${text}\n\`\`\`\`\``));
    assert.ok(markdown.includes("- ``a`![x](y)`|b``"));
  });
});

describe("outputs", () => {
  it("hold any text between delimiters for GitHub, and one line each for others", () => {
    const outcome = { type: "completed", text: "a\nb", structured: { ok: true } } as const;
    assert.equal(
      toOutputs({ ...report, outcome }, "github", "EOF-1"),
      'outcome<<EOF-1\ncompleted\nEOF-1\nexit_code<<EOF-1\n0\nEOF-1\nsession_id<<EOF-1\ns-1\nEOF-1\nnum_turns<<EOF-1\n2\nEOF-1\ncost_usd<<EOF-1\n0.0123\nEOF-1\nresult<<EOF-1\na\nb\nEOF-1\nstructured_output<<EOF-1\n{"ok":true}\nEOF-1\nchanged_files<<EOF-1\nsrc/a.ts\nEOF-1\n',
    );
    assert.equal(
      toOutputs({ ...report, costUsd: null }, "dotenv", ""),
      "OUTRIDER_OUTCOME=completed\nOUTRIDER_EXIT_CODE=0\nOUTRIDER_SESSION_ID=s-1\nOUTRIDER_NUM_TURNS=2\nOUTRIDER_COST_USD=\n",
    );
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
    assert.equal(commands.end(), "::t0::\n::endgroup::\n");
    assert.equal(commands.failure(failed), "::error title=Outrider%3A provider-auth::Bad%0Akey: 100%25\n");
    assert.equal(commands.mask(["one\ntwo"]), "::add-mask::one\n::add-mask::two\n");
  });

  it("fold a section on GitLab", () => {
    const commands = logCommandsOf("gitlab", { token: "t0", now: () => 5_000 });
    assert.equal(commands.begin("run"), "\x1b[0Ksection_start:5:outrider_t0[collapsed=true]\r\x1b[0Krun\n");
    assert.equal(commands.failure(failed), "\x1b[31;1mOutrider: provider-auth\x1b[0m Bad key: 100%\n");
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
