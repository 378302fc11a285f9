import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { eventually, lines, type Run, run, start } from "./command.ts";
import { evil, type GithubStep, githubStep, obeyed, secret } from "./github-step.ts";

const live = ["-p", "--input-format", "stream-json", "--output-format", "stream-json"];
const say = (text: string): string => `${JSON.stringify({ type: "user", content: text })}\n`;

describe("live input on GitHub", () => {
  it("leaves one report of all prompts, and obeys nothing they bring about", async () => {
    const usage = { inputTokens: 1000, outputTokens: 100 };
    const bash = { name: "Bash", input: { command: "env; echo 1 > made.txt" } };
    const step = await githubStep([
      { calls: [bash], usage },
      { text: "One.", usage },
      { text: evil, usage },
    ]);
    const ended = await talk(step, [...live, "--allowedTools", "Bash", "--sandbox", "off"], ["first prompt", "second prompt"]);
    assert.equal(ended.code, 0, ended.stderr);
    assert.equal(lines(ended.stdout).filter(({ type }) => type === "result").length, 2);
    assert.deepEqual(obeyed(ended.stdout), []);
    assert.equal(lines(ended.stdout).at(-1)?.["result"], evil);
    const { outcome, exit_code, num_turns, input_tokens, result } = step.outputs();
    assert.deepEqual([outcome, exit_code, num_turns, input_tokens, result], ["completed", "0", "3", "3000", evil]);
    assert.match(step.summary(), /\*\*Task\*\* \(the first of 2 prompts[^\n]*\n\n```text\nfirst prompt\n/);
    assert.match(step.summary(), /\| `Bash` \| 1 \| 0 \| 0 \|/);
    assert.equal(step.summary().match(/^## Outrider/gm)?.length, 1);
    assert.deepEqual(obeyed(ended.stderr), [
      "::add-mask::test-key",
      `::add-mask::${secret}`,
      "::group::Outrider: progress",
      "::endgroup::",
    ]);
    const shown = JSON.stringify(step.server.requests[1]?.body);
    assert.match(shown, /GITHUB_ACTIONS=true/);
    assert.doesNotMatch(shown, /GITHUB_(OUTPUT|STEP_SUMMARY)=/);
  });

  it("leaves the log to the host that drives it, and its files all the same", async () => {
    const step = await githubStep([{ text: "Hello." }]);
    const host = { ...step, env: { ...step.env, CLAUDE_CODE_ENTRYPOINT: "sdk-ts" } };
    const ended = await talk(host, live, ["go"]);
    assert.deepEqual([ended.code, ended.stderr, step.outputs()["result"]], [0, "", "Hello."]);
    assert.match(step.summary(), /✅ completed/);
  });

  const failures: [string, string[], string, number, string][] = [
    ["a line that is none", live, "no JSON\n", 64, "usage"],
    ["no prompt", [...live, "--flavor", "caliban"], "", 66, "no-input"],
    ["a wrong value", [...live, "--max-turns", "many"], say("go"), 64, "usage"],
    ["another output format", ["-p", "--input-format", "stream-json", "--output-format", "text"], say("go"), 64, "usage"],
  ];
  for (const [what, args, stdin, code, errorCode] of failures)
    it(`leaves its report when it fails: ${what}`, async () => {
      const step = await githubStep([{ text: "Hello." }]);
      const ended = await run(args, { env: step.env, cwd: step.cwd, stdin });
      const { outcome, exit_code, error_code } = step.outputs();
      assert.deepEqual([ended.code, outcome, exit_code, error_code], [code, "failed", String(code), errorCode], ended.stderr);
      assert.match(obeyed(ended.stderr).at(-1) ?? "", new RegExp(`^::error title=Outrider%3A ${errorCode}::.`));
      assert.equal(step.summary().match(/^## Outrider: ❌ failed/gm)?.length, 1);
    });

  it("leaves its report when the job is cancelled", async () => {
    const calls = [{ name: "Bash", input: { command: "touch started; sleep 60" } }];
    const step = await githubStep([{ calls }]);
    const args = [...live, "--allowedTools", "Bash", "--sandbox", "off"];
    const { child, done } = start(args, { env: step.env, cwd: step.cwd, stdin: "open" });
    after(() => child.kill("SIGKILL"));
    child.stdin.write(say("go"));
    await eventually(() => existsSync(join(step.cwd, "started")), "the tool runs");
    child.kill("SIGTERM");
    const ended = await done;
    assert.deepEqual([ended.code, step.outputs()["outcome"], step.outputs()["exit_code"]], [124, "cancelled", "124"]);
    assert.match(step.summary(), /^## Outrider: ⚠️ cancelled \(signal\)\n[\s\S]*\| `Bash` \| 1 \|/);
  });
});

/** One prompt after the other, each when the one before it has its result. */
async function talk(step: GithubStep, args: readonly string[], prompts: readonly string[]): Promise<Run> {
  const { child, done } = start(args, { env: step.env, cwd: step.cwd, stdin: "open" });
  after(() => child.kill("SIGKILL"));
  let output = "";
  child.stdout.on("data", (text: string) => {
    output += text;
  });
  for (const [index, prompt] of prompts.entries()) {
    child.stdin.write(say(prompt));
    await eventually(() => (output.match(/^\{"type":"result"/gm)?.length ?? 0) > index, `result ${index + 1}`);
  }
  child.stdin.end();
  return await done;
}
