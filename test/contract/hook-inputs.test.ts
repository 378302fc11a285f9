import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { ModelServerOptions } from "../../packages/runtime/src/testing/model-server.ts";
import { model, projectRoot, run, tempFolder } from "../e2e/command.ts";

/** The fields of one input and their types, as they were recorded of Claude Code; `for` is the tool. */
type Shape = { readonly [field: string]: string | Shape | readonly Shape[] };
type Recorded = Readonly<Record<string, Readonly<Record<string, readonly Shape[]>>>>;

const recorded = JSON.parse(readFileSync(join(projectRoot, "test/contract/claude-hook-inputs.json"), "utf8")) as Recorded;
const events = [...new Set(Object.values(recorded).flatMap((scenario) => Object.keys(scenario)))];

/** Events of the recordings that never come here, and why. */
const unfired: Readonly<Record<string, string>> = {
  CwdChanged: "each command starts in the project's folder",
  Elicitation: "a server's questions go to the host",
  ElicitationResult: "a server's questions go to the host",
  MessageDisplay: "nothing is displayed",
  Notification: "of these, only permission_prompt comes here",
  TaskCompleted: "there is no list of tasks",
  TaskCreated: "there is no list of tasks",
};

/** Fields of the recordings that are not told here, or otherwise, and why. */
const differing: Readonly<Record<string, string>> = {
  "UserPromptSubmit.session_title": "hooks cannot name a session",
  "PostToolBatch.tool_calls.tool_response": "an agent's answer is words, as those of other tools are",
};

/** What is told here and not there. */
const more: Readonly<Record<string, readonly string[]>> = {
  "*": ["headless", "permission_mode"],
  SessionStart: ["model"],
  PermissionRequest: ["tool_use_id", "reason"],
  "PostToolUse.tool_response": ["content", "is_error", "exitCode", "durationMs"],
};

const bash = (command: string) => ({ name: "Bash", input: { command, description: "run" } });
const line = (text: string): string => `${JSON.stringify({ type: "user", message: { role: "user", content: text } })}\n`;
const live = ["--input-format", "stream-json", "--output-format", "stream-json"];

/** Each recording that has inputs of hooks, as it can be run here. */
const scenarios: Readonly<Record<string, { args: string[]; stdin?: string; replies: ModelServerOptions["replies"] }>> = {
  hooks_every_event_tools: {
    args: ["-p", "--output-format", "stream-json", "--include-hook-events", "--allowedTools", "Bash", "--", "/c some args"],
    replies: [
      { calls: [bash("echo hi"), bash("exit 3"), { name: "Write", input: { file_path: "w.txt", content: "x" } }] },
      { calls: [{ name: "Agent", input: { description: "d", prompt: "sub", subagent_type: "general-purpose" } }] },
      { calls: [bash("echo sub")] },
      { text: "sub end" },
      { calls: [bash("cd .. && pwd")] },
      { text: "done" },
    ],
  },
  hooks_userprompt_context: { args: live, stdin: line("first") + line("second"), replies: [{ text: "a" }, { text: "b" }] },
  cmd_clear_with_hooks: { args: live, stdin: line("one"), replies: [{ text: "r1" }] },
  mem_all_places: { args: ["-p", "go"], replies: [{ text: "ok" }] },
  mcp2_elicit_host: { args: ["-p", "go"], replies: [{ text: "ok" }] },
  task_tools_env: { args: ["-p", "go"], replies: [{ text: "ok" }] },
};

describe("inputs of hooks, beside those that were recorded of Claude Code", () => {
  for (const [name, scenario] of Object.entries(recorded))
    it(name, async () => {
      const { args, stdin, replies } = scenarios[name] ?? { args: [], replies: [] };
      const home = realpathSync(tempFolder());
      const cwd = join(home, "cwd");
      mkdirSync(join(home, ".claude"));
      mkdirSync(cwd);
      writeFileSync(join(cwd, "CLAUDE.md"), "Project memory\n");
      writeFileSync(join(cwd, "CLAUDE.local.md"), "Local memory\n");
      writeFileSync(join(home, ".claude/CLAUDE.md"), "User memory\n");
      mkdirSync(join(home, ".claude/commands"));
      writeFileSync(join(home, ".claude/commands/c.md"), "Do it with $ARGUMENTS\n");
      const hook = (event: string) => ({ type: "command", command: `{ cat; echo; } >> ${join(home, event)}.jsonl` });
      const hooks = Object.fromEntries(events.map((event) => [event, [{ hooks: [hook(event)] }]]));
      writeFileSync(join(home, ".claude/settings.json"), JSON.stringify({ hooks }));
      const { env } = await model(replies, home);
      const { code, stderr } = await run(args, { cwd, env: { ...env, HOME: home }, ...(stdin !== undefined && { stdin }) });
      assert.equal(code, 0, stderr);
      const breaks = Object.entries(scenario).flatMap(([event, rows]) => {
        const heard = inputsOf(join(home, `${event}.jsonl`));
        if (event in unfired) return heard.length > 0 ? [`${event} came, and is said never to come`] : [];
        return rows.flatMap((row) => breaksOf(event, row, heard));
      });
      assert.deepEqual(breaks, []);
    });
});

function inputsOf(file: string): Record<string, unknown>[] {
  if (!existsSync(file)) return [];
  const texts = readFileSync(file, "utf8").split("\n").filter(Boolean);
  return texts.map((text) => JSON.parse(text) as Record<string, unknown>);
}

/** What a program that was written for the recorded input would miss in every input that came. */
function breaksOf(event: string, { for: tool, ...row }: Shape, heard: readonly Record<string, unknown>[]): string[] {
  const own = tool === "Agent" ? "Task" : tool; // Claude Code's newer name for it
  const isAgents = "agent_id" in row;
  const fitting = heard.filter(
    (input) =>
      (own === undefined || input["tool_name"] === own) && (event.startsWith("Subagent") || "agent_id" in input === isAgents),
  );
  if (fitting.length === 0) return [`${event} for ${String(own)} never came`];
  return fitting.flatMap((input) => differences(row, input, event));
}

function differences(wanted: Shape, found: Record<string, unknown>, place: string): string[] {
  const allowed = new Set([...(place.includes(".") ? [] : (more["*"] ?? [])), ...(more[place] ?? [])]);
  const missing = Object.entries(wanted).flatMap(([field, shape]) => {
    const at = `${place}.${field}`;
    const value = found[field];
    if (at in differing) return [];
    const type = typeof shape === "string" ? shape : Array.isArray(shape) ? "array" : "object";
    if (typeOf(value) !== type) return [`${at} is ${typeOf(value)}, not ${type}`];
    if (typeof shape === "string") return [];
    const [inner, first] = Array.isArray(shape) ? [shape[0], (value as unknown[])[0]] : [shape, value];
    return differences(inner as Shape, first as Record<string, unknown>, at); // both are objects, by their type
  });
  const added = Object.keys(found).filter((field) => !(field in wanted) && !allowed.has(field));
  return [...missing, ...added.map((field) => `${place}.${field} is told here only, and not listed`)];
}

function typeOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}
