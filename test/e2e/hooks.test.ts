import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { eventually, lines, model, processesWith, run, start, tempFolder } from "./command.ts";

type Scene = { hooks: object; replies: Parameters<typeof model>[0]; project?: object };

/** A home with hooks, a project, and a model that says what it is told. */
async function scene({ hooks, replies, project }: Scene) {
  const home = tempFolder("hooks-home");
  const cwd = tempFolder("hooks-project");
  writeFileSync(join(home, "settings.json"), JSON.stringify({ hooks }));
  if (project) {
    mkdirSync(join(cwd, ".outrider"));
    writeFileSync(join(cwd, ".outrider/settings.json"), JSON.stringify(project));
  }
  const { server, env } = await model(replies, home);
  return { cwd, server, env: { ...env, HOME: home } };
}

const command = (line: string, more: object = {}) => ({ hooks: [{ type: "command", command: line, ...more }] });
const touch = { name: "Bash", input: { command: "touch made", description: "t" } };
const streaming = ["-p", "go", "--output-format", "stream-json", "--allowedTools", "Bash"];

describe("hooks of the command", () => {
  it("refuse an allowed tool, with frames in Claude Code's order", async () => {
    const hooks = {
      SessionStart: [command("echo the house rules")],
      UserPromptSubmit: [command("true")],
      PreToolUse: [{ matcher: "Bash", ...command("echo 'not today' >&2; exit 2") }],
      SessionEnd: [command("cat > ended.json")],
    };
    const { cwd, env, server } = await scene({ hooks, replies: [{ calls: [touch] }, { text: "Could not." }] });
    const { code, stdout, stderr } = await run([...streaming, "--include-hook-events"], { cwd, env });
    assert.equal(code, 0, stderr);
    const frames = lines(stdout).filter(({ type }) => type !== "stream_event");
    const names = frames.map(({ type, subtype, hook_name }) => [type, subtype, hook_name].filter(Boolean).join(" "));
    assert.deepEqual(names, [
      "system hook_started SessionStart:startup",
      "system hook_response SessionStart:startup",
      "system hook_started UserPromptSubmit",
      "system hook_response UserPromptSubmit",
      "system init",
      "assistant",
      "system hook_started PreToolUse:Bash",
      "system hook_response PreToolUse:Bash",
      "system permission_denied",
      "user",
      "assistant",
      "system hook_started SessionEnd:other",
      "system hook_response SessionEnd:other",
      "result success",
    ]);
    const result = frames.at(-1) as { permission_denials: { tool_name: string; reason: string }[] };
    assert.deepEqual(
      result.permission_denials.map(({ tool_name, reason }) => [tool_name, reason]),
      [["Bash", "Not permitted: a PreToolUse hook said no: not today."]],
    );
    assert.match(JSON.stringify(server.requests[0]), /the house rules/);
    assert.equal(existsSync(join(cwd, "made")), false);
    assert.equal(JSON.parse(readFileSync(join(cwd, "ended.json"), "utf8")).reason, "other");
  });

  it("are shown for the start only, unless more is asked for", async () => {
    const hooks = { SessionStart: [command("true")], Stop: [command("true")] };
    const { cwd, env } = await scene({ hooks, replies: [{ text: "Hi." }] });
    const { stdout } = await run(streaming, { cwd, env });
    assert.deepEqual(
      lines(stdout).flatMap(({ hook_event }) => hook_event ?? []),
      ["SessionStart", "SessionStart"],
    );
  });

  it("keep a prompt out: nothing is asked, the result says why, the exit code is not 0", async () => {
    const hooks = { UserPromptSubmit: [command("echo 'no prompts on Sundays' >&2; exit 2")] };
    const { cwd, env, server } = await scene({ hooks, replies: [{ text: "never" }] });
    const { code, stdout, stderr } = await run(["-p", "go", "--output-format", "json"], { cwd, env });
    const { is_error, terminal_reason, errors } = JSON.parse(stdout);
    assert.deepEqual([code, is_error, terminal_reason, errors], [1, true, "hook_stopped", ["no prompts on Sundays"]]);
    assert.match(stderr, /stopped by a hook: no prompts on Sundays/);
    assert.equal(server.requests.length, 0);
  });

  it("hear of a SIGTERM, and what they started is gone with the run", async () => {
    const marker = `68.${process.pid}`;
    const hooks = {
      SessionEnd: [command("cat > ended.json")],
      PreToolUse: [command(`touch waiting; sleep ${marker}`)],
    };
    const { cwd, env } = await scene({ hooks, replies: [{ calls: [touch] }, { text: "never" }] });
    const { child, done } = start(streaming, { cwd, env });
    await eventually(() => existsSync(join(cwd, "waiting")), "the hook runs");
    child.kill("SIGTERM");
    const { code, stdout } = await done;
    assert.equal(code, 124);
    assert.equal(lines(stdout).at(-1)?.["type"], "result");
    assert.equal(JSON.parse(readFileSync(join(cwd, "ended.json"), "utf8")).reason, "terminated");
    assert.deepEqual(processesWith(marker), []);
    assert.equal(existsSync(join(cwd, "made")), false);
  });

  it("that are wrongly written keep the run from starting", async () => {
    const { cwd, env, server } = await scene({ hooks: { PreToolUse: [{ matcher: "Bash(", hooks: [] }] }, replies: [] });
    const { code, stderr } = await run(["-p", "go"], { cwd, env });
    assert.equal(code, 78);
    assert.match(stderr, /settings\.json.*hooks\.PreToolUse\[0\]\.matcher/);
    assert.equal(server.requests.length, 0);
  });

  it("of a project nobody trusts do not run, and cannot switch off a guard", async () => {
    const project = { hooks: { SessionStart: [command("touch pwned")] } };
    const guard = command("exit 2", { guard: true });
    const { cwd, env } = await scene({ hooks: { PreToolUse: [guard] }, project, replies: [{ calls: [touch] }, { text: "No." }] });
    const { code } = await run(streaming, { cwd, env });
    assert.equal(code, 0);
    assert.deepEqual([existsSync(join(cwd, "pwned")), existsSync(join(cwd, "made"))], [false, false]);
  });

  it("that never let the model stop are overruled", async () => {
    const replies = Array.from({ length: 12 }, (_, index) => ({ text: `answer ${index + 1}` }));
    const { cwd, env, server } = await scene({ hooks: { Stop: [command("echo again >&2; exit 2")] }, replies });
    const { code, stdout } = await run(["-p", "go"], { cwd, env });
    assert.deepEqual([code, stdout, server.requests.length], [0, "answer 9\n", 9]);
  });
});

describe("frames of hooks at the end", () => {
  const settings = JSON.stringify({
    hooks: {
      SessionEnd: [{ hooks: [{ type: "command", command: "echo bye" }] }],
      Stop: [{ hooks: [{ type: "command", command: "sleep 60", async: true }] }],
    },
  });
  const told = async (args: readonly string[], stdin = "") => {
    const { env } = await model([{ text: "ok" }], tempFolder());
    const flags = ["--output-format", "stream-json", "--include-hook-events", "--settings", settings];
    const { stdout } = await run(["-p", ...flags, ...args], { env, stdin });
    const frames = lines(stdout).filter(({ type, hook_event: event }) => type === "result" || event !== undefined);
    return frames.map(({ type, subtype, hook_event: event, outcome }) => [event ?? type, outcome ?? subtype]);
  };
  const end = [
    ["SessionEnd", "hook_started"],
    ["SessionEnd", "success"],
    ["Stop", "cancelled"],
  ];

  it("come before the result of a prompt: what ended, and what was cut off", async () => {
    assert.deepEqual(await told(["go"]), [["Stop", "hook_started"], ...end, ["result", "success"]]);
  });

  it("come before the end of the output with live input", async () => {
    const line = `${JSON.stringify({ type: "user", message: { role: "user", content: "go" } })}\n`;
    const frames = await told(["--input-format", "stream-json"], line);
    assert.deepEqual(frames, [["Stop", "hook_started"], ["result", "success"], ...end]);
  });
});
