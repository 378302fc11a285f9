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
  MessageDisplay: "nothing is displayed",
};

/** Fields of the recordings that are not told here, or otherwise, and why. */
const differing: Readonly<Record<string, string>> = {
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

const calls = (...uses: readonly (readonly [string, object])[]) => ({ calls: uses.map(([name, input]) => ({ name, input })) });
const server = {
  command: process.execPath,
  args: [join(projectRoot, "test/contract/tiny-mcp-server.mjs")],
  env: { FEATURES: "elicit" },
};
const output = (event: string, fields: object): string =>
  `echo '${JSON.stringify({ hookSpecificOutput: { hookEventName: event, ...fields } })}'`;

type Scenario = {
  readonly args: string[];
  readonly stdin?: string;
  readonly replies: ModelServerOptions["replies"];
  readonly env?: Record<string, string>;
  /** What the hook of an event does with its input, beside keeping it. */
  readonly does?: Readonly<Record<string, string>>;
};

/** Each recording that has inputs of hooks, as it can be run here. */
const scenarios: Readonly<Record<string, Scenario>> = {
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
  hooks_userprompt_context: {
    args: live,
    stdin: line("first") + line("second"),
    replies: [{ text: "a" }, { text: "b" }],
    does: { UserPromptSubmit: output("UserPromptSubmit", { sessionTitle: "A title" }) },
  },
  cmd_clear_with_hooks: { args: live, stdin: line("one"), replies: [{ text: "r1" }] },
  mem_all_places: { args: ["-p", "go"], replies: [{ text: "ok" }] },
  mcp2_elicit_host: {
    args: ["-p", "go", "--mcp-config", JSON.stringify({ mcpServers: { fxsrv: server } }), "--allowedTools", "mcp__fxsrv"],
    replies: [calls(["mcp__fxsrv__ask_user", {}]), calls(["mcp__fxsrv__ask_url", {}]), { text: "ok" }],
    does: {
      Elicitation: `! grep -q '"mode":"form"' || ${output("Elicitation", { action: "accept", content: { name: "Bob" } })}`,
    },
  },
  task_tools_env: {
    args: ["-p", "go"],
    env: { CLAUDE_CODE_ENABLE_TODO_TOOLS: "1" },
    replies: [
      calls(["TaskCreate", { subject: "one", description: "d1" }]),
      calls(["TaskUpdate", { taskId: "1", status: "completed" }]),
      { text: "ok" },
    ],
  },
};

describe("inputs of hooks, beside those that were recorded of Claude Code", () => {
  for (const [name, scenario] of Object.entries(recorded))
    it(name, async () => {
      const { args, stdin, replies, env: said, does = {} } = scenarios[name] ?? { args: [], replies: [] };
      const home = realpathSync(tempFolder());
      const cwd = join(home, "cwd");
      mkdirSync(join(home, ".claude"));
      mkdirSync(cwd);
      writeFileSync(join(cwd, "CLAUDE.md"), "Project memory\n");
      writeFileSync(join(cwd, "CLAUDE.local.md"), "Local memory\n");
      writeFileSync(join(home, ".claude/CLAUDE.md"), "User memory\n");
      mkdirSync(join(home, ".claude/commands"));
      writeFileSync(join(home, ".claude/commands/c.md"), "Do it with $ARGUMENTS\n");
      const hook = (event: string) => {
        const [file, then] = [join(home, event), does[event] ?? "true"];
        return {
          type: "command",
          command: `input=$(cat); printf '%s\\n' "$input" >> ${file}.jsonl; printf %s "$input" | { ${then}; }`,
        };
      };
      const hooks = Object.fromEntries(events.map((event) => [event, [{ hooks: [hook(event)] }]]));
      writeFileSync(join(home, ".claude/settings.json"), JSON.stringify({ hooks }));
      const { env } = await model(replies, home);
      const { code, stderr } = await run(args, {
        cwd,
        env: { ...env, HOME: home, ...said },
        ...(stdin !== undefined && { stdin }),
      });
      assert.equal(code, 0, stderr);
      const breaks = Object.entries(scenario).flatMap(([event, rows]) => {
        const heard = inputsOf(join(home, `${event}.jsonl`));
        if (event in unfired) return heard.length > 0 ? [`${event} came, and is said never to come`] : [];
        return [...rows.flatMap((row) => breaksOf(event, row, heard)), ...unlike(event, rows, heard)];
      });
      assert.deepEqual(breaks, []);
    });
});

function inputsOf(file: string): Record<string, unknown>[] {
  if (!existsSync(file)) return [];
  const texts = readFileSync(file, "utf8").split("\n").filter(Boolean);
  return texts.map((text) => JSON.parse(text) as Record<string, unknown>);
}

/** What a program that was written for the recorded input would miss in each input that came. */
function breaksOf(event: string, row: Shape, heard: readonly Record<string, unknown>[]): string[] {
  const fitting = heard.filter((input) => isAbout(event, row, input));
  if (fitting.length === 0) return [`${event} for ${String(row["for"])} never came`];
  return nearest(fitting.map((input) => differences(row, input, event)));
}

/** Inputs that are like none of those that were recorded of the same thing. */
function unlike(event: string, rows: readonly Shape[], heard: readonly Record<string, unknown>[]): string[] {
  return heard.flatMap((input) => {
    const recorded = rows.filter((row) => isAbout(event, row, input));
    return nearest(recorded.map((row) => differences(row, input, event)));
  });
}

function isAbout(event: string, { for: tool, ...row }: Shape, input: Record<string, unknown>): boolean {
  if (tool !== undefined && input["tool_name"] !== tool) return false;
  return event.startsWith("Subagent") || "agent_id" in input === "agent_id" in row;
}

function nearest(all: readonly string[][]): string[] {
  return [...all].sort((a, b) => a.length - b.length)[0] ?? [];
}

function differences({ for: _, ...wanted }: Shape, found: Record<string, unknown>, place: string): string[] {
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
