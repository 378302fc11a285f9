import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { describe, it } from "node:test";
import { cleanEnv, bin, launcher, lines, model, run, tempFolder } from "./command.ts";

/** As in a shell that says `2>&1 | jq`: one pipe for both, and a program that reads every line of it. */
async function mixed(
  args: readonly string[],
  place: { env: Record<string, string>; cwd?: string },
): Promise<Record<string, unknown>[]> {
  const child = spawn("bash", ["-c", 'exec "$0" "$@" 2>&1', launcher, bin, ...args], {
    cwd: place.cwd,
    env: cleanEnv(place.env),
    stdio: ["ignore", "pipe", "inherit"],
  });
  let text = "";
  for await (const chunk of child.stdout.setEncoding("utf8")) text += chunk;
  return lines(text);
}

describe("stdout and stderr in one pipe", () => {
  const loop = () => ({ calls: [{ name: "Bash", input: { command: "echo hi" } }] });
  const cases: [what: string, args: string[], replies: Parameters<typeof model>[0]][] = [
    ["a run", ["-p", "go"], [{ text: "ok" }]],
    ["one that says all it can", ["-p", "go", "--verbose"], [{ text: "ok" }]],
    ["a wrong flag", ["-p", "go", "--no-such-flag"], []],
    ["a provider that fails", ["-p", "go"], [{ status: 400 }]],
    ["a limit", ["-p", "go", "--max-turns", "1"], loop],
    ["a session that is not there", ["-p", "go", "--resume", "00000000-0000-4000-8000-000000000000"], []],
    ["servers that do not start", ["-p", "go", "--mcp-config", '{"mcpServers":{"a":{}}}'], [{ text: "ok" }]],
  ];
  for (const format of ["json", "stream-json"])
    for (const [what, args, replies] of cases)
      it(`hold nothing but objects: ${what}, ${format}`, async () => {
        const { env } = await model(replies, tempFolder());
        const frames = (await mixed([...args, "--output-format", format], { env, cwd: tempFolder("project") })).flat();
        assert.equal(frames.at(-1)?.["type"], "result");
      });

  it("are words with the text format", async () => {
    const { env } = await model([], tempFolder());
    await assert.rejects(mixed(["-p", "go", "--no-such-flag"], { env }), SyntaxError);
  });
});

describe("json --verbose", () => {
  it("is the array of all frames, also where there is only a result", async () => {
    const { env } = await model([{ text: "ok" }], tempFolder());
    const all = await run(["-p", "go", "--output-format", "json", "--verbose"], { env });
    const frames: { type: string }[] = JSON.parse(all.stdout);
    assert.deepEqual([all.stdout.split("\n").length, frames.map(({ type }) => type)], [2, ["system", "assistant", "result"]]);
    const failed = await run(["-p", "go", "--output-format", "json", "--verbose", "--max-turns", "x"], { env });
    assert.deepEqual([failed.code, JSON.parse(failed.stdout)[0].subtype], [64, "error_during_execution"]);
  });
});

describe("stream-json", () => {
  it("has warnings in frames and in the result, and stderr stays empty", async () => {
    const cwd = tempFolder("project");
    const { env } = await model(() => ({ text: "ok" }), tempFolder());
    const args = ["-p", "go", "--permission-mode", "auto", "--verbose"];
    const streamed = await run([...args, "--output-format", "stream-json"], { env, cwd });
    const told = lines(streamed.stdout).flatMap(({ subtype, message }) => (subtype === "warning" ? [message] : []));
    assert.deepEqual([streamed.code, streamed.stderr, told.length], [0, "", 1]);
    assert.match(String(told[0]), /--permission-mode auto counts as acceptEdits/);
    assert.deepEqual(lines(streamed.stdout).at(-1)?.["warnings"], told);
    const old = await run(["-p", "go", "--model", "claude-sonnet-4-5", "--output-format", "stream-json"], { env, cwd });
    const kinds = lines(old.stdout).map(({ subtype }) => subtype);
    assert.deepEqual([kinds[0], kinds.includes("warning")], ["init", true]);
    assert.match(
      (await run([...args, "--output-format", "json"], { env, cwd })).stderr,
      /--permission-mode auto counts as acceptEdits/,
    );
  });
});

describe("a stdout that nobody reads", () => {
  const answered = async (stdout: string) => {
    const { env } = await model([{ text: "ok" }], tempFolder());
    const id = "11111111-2222-4333-8444-555555555555";
    const child = spawn("bash", ["-c", `exec "$0" "$@" ${stdout}`, launcher, bin, "-p", "go", "--session-id", id], {
      env: cleanEnv(env),
      stdio: ["ignore", "ignore", "pipe"],
    });
    let stderr = "";
    for await (const chunk of child.stderr.setEncoding("utf8")) stderr += chunk;
    return stderr;
  };

  it("was closed or ignored: stderr names the session that has the answer", async () => {
    const id = "11111111-2222-4333-8444-555555555555";
    const told = `outrider: stdout is closed or ignored: the answer is only in the session ${id} (outrider sessions export ${id} --format markdown)`;
    for (const stdout of [">&-", ""]) assert.ok((await answered(stdout)).startsWith(told));
  });

  it("was sent to /dev/null by a person: nothing is said", async () => {
    assert.equal(await answered("> /dev/null"), "");
  });
});
