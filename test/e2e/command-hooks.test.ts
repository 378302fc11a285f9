import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { lines, model, run, tempFolder } from "./command.ts";

const live = ["--input-format", "stream-json", "--output-format", "stream-json"];
const line = (text: string): string => `${JSON.stringify({ type: "user", message: { role: "user", content: text } })}\n`;

async function place(hooks: Record<string, string>) {
  const home = tempFolder("command-hooks");
  mkdirSync(join(home, ".claude/commands"), { recursive: true });
  writeFileSync(join(home, ".claude/commands/deploy.md"), "Deploy it to $ARGUMENTS");
  const settings = Object.fromEntries(
    Object.entries(hooks).map(([event, command]) => [event, [{ hooks: [{ type: "command", command }] }]]),
  );
  writeFileSync(join(home, ".claude/settings.json"), JSON.stringify({ hooks: settings }));
  const { env, server } = await model([{ text: "one" }, { text: "two" }], home);
  const log = join(home, "log");
  const told = (): Record<string, unknown>[] =>
    existsSync(log) ? (lines(readFileSync(log, "utf8")) as Record<string, unknown>[]) : [];
  const outrider = (args: string[], stdin?: string) =>
    run(args, { cwd: home, env: { ...env, HOME: home, LOG: log }, ...(stdin !== undefined && { stdin }) });
  return { outrider, server, told };
}

const note = '{ cat; echo; } >> "$LOG"';

describe("hooks around commands", () => {
  it("hear of /clear as an end and, with the next prompt, a start; nothing that was said is sent again", async () => {
    const { outrider, server, told } = await place({ SessionStart: note, SessionEnd: note });
    const ended = await outrider(["-p", ...live], line("first words") + line("/clear") + line("second words"));
    assert.equal(ended.code, 0, ended.stderr);
    assert.deepEqual(
      told().map(({ hook_event_name, source, reason }) => [hook_event_name, source ?? reason]),
      [
        ["SessionStart", "startup"],
        ["SessionEnd", "clear"],
        ["SessionStart", "clear"],
        ["SessionEnd", "other"],
      ],
    );
    assert.doesNotMatch(JSON.stringify(server.requests[1]?.body), /first words/);
    const frames = lines(ended.stdout).filter(({ type }) => type === "conversation_reset");
    assert.deepEqual(
      frames.map(({ trigger }) => trigger),
      ["clear"],
    );
  });

  it("are asked with /clear only about what has begun", async () => {
    const { outrider, told } = await place({ SessionStart: note, SessionEnd: note });
    await outrider(["-p", "/clear"]);
    assert.deepEqual(told(), []);
  });

  it("hear of a command in a file before its text takes the place of what was typed, and may add to it", async () => {
    const context = JSON.stringify({
      hookSpecificOutput: { hookEventName: "UserPromptExpansion", additionalContext: "the moon is full" },
    });
    const { outrider, server, told } = await place({ UserPromptExpansion: `${note}; echo '${context}'` });
    const ended = await outrider(["-p", "/deploy the moon"]);
    assert.equal(ended.code, 0, ended.stderr);
    const [{ expansion_type, command_name, command_args, command_source, prompt } = {}] = told();
    assert.deepEqual(
      { expansion_type, command_name, command_args, command_source, prompt },
      {
        expansion_type: "slash_command",
        command_name: "deploy",
        command_args: "the moon",
        command_source: "userSettings",
        prompt: "/deploy the moon",
      },
    );
    assert.match(JSON.stringify(server.requests[0]?.body), /Deploy it to the moon.*the moon is full/);
  });

  it("may keep a command from being used, and no model is asked", async () => {
    const { outrider, server } = await place({ UserPromptExpansion: "echo 'not on Fridays' >&2; exit 2" });
    const ended = await outrider(["-p", "/deploy the moon", "--output-format", "json"]);
    assert.match(ended.stdout, /not on Fridays/);
    assert.deepEqual([ended.code === 0, server.requests.length], [false, 0]);
  });
});
