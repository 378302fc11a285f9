import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { lines, model, projectRoot, run, tempFolder } from "../e2e/command.ts";
import { compare } from "./compare.ts";
import { drive, type Sending } from "./drive.ts";
import { answerer } from "./host.ts";
import { followScripts } from "./mock-script.ts";
import { type JsonRecord, kindOf, type Shape, type Structure, structureOf } from "./structure.ts";

type Sample = {
  name: string;
  args: string[];
  stdin?: JsonRecord[];
  exit: number;
  /** Instead of frames, where the output is words. */
  text?: string;
  frames: [string, number][];
};
type Row = { id: string; where: string[]; samples?: string[]; reason: string };

const folder = join(projectRoot, "test/contract");
const { shapes, samples } = JSON.parse(readFileSync(join(folder, "claude-samples.json"), "utf8")) as {
  shapes: Shape[];
  samples: Sample[];
};
const table = JSON.parse(readFileSync(join(folder, "claude-differences.json"), "utf8")) as Row[];
const used = new Set<string>();

describe("the scenarios of Claude Code's recorded transcripts", () => {
  for (const sample of samples) {
    it(`${sample.name}: the same kinds of frames in the same order, the same fields and exit code, but for the table`, async () => {
      const { code, stdout, stderr } = await replay(sample);
      if (sample.text !== undefined) return assert.deepEqual([stdout, code], [sample.text, sample.exit]);
      const frames = lines(stdout) as JsonRecord[]; // every line is an object, or parsing has failed
      const actual = frames.map(structureOf);
      const expected: Structure[] = sample.frames.map(([kind, shape]) => ({ kind, shape: shapes[shape] ?? "" }));
      const differences = [...compare(expected, actual), ...(code === sample.exit ? [] : [`exit ${sample.exit} is ${code}`])];
      const unexplained = differences.filter((difference) => !explain(difference, sample.name));
      assert.deepEqual(unexplained, [], stderr);
    });
  }

  it("leave nothing in the table that explains nothing", () => {
    const rows = table.flatMap(({ id, where }) => where.map((what) => `${id}: ${what}`));
    assert.deepEqual(
      rows.filter((row) => !used.has(row)),
      [],
    );
  });

  it("have a table that says why, once, and is in the documentation", () => {
    assert.equal(new Set(table.map(({ id }) => id)).size, table.length);
    const documented = readFileSync(join(projectRoot, "docs/contract.md"), "utf8");
    for (const { id, reason } of table)
      assert.ok(documented.includes(`| ${id} | ${reason} |`), `${id} is not in docs/contract.md`);
  });
});

/** Does a row say why? */
function explain(difference: string, sample: string): boolean {
  const rows = table.filter(({ where, samples: only }) => (only?.includes(sample) ?? true) && where.includes(difference));
  for (const { id } of rows) used.add(`${id}: ${difference}`);
  return rows.length > 0;
}

async function replay(sample: Sample): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const cwd = tempFolder("sample");
  writeFileSync(join(cwd, "a.txt"), "AAA\n");
  writeFileSync(join(cwd, "b.txt"), "BBB\n");
  const { env: machine } = await model(followScripts(), tempFolder("sample-home"));
  // Recorded when every schema was kept to by a tool: a model that still needs it answers here.
  const older = JSON.stringify(sample).includes("StructuredOutput") ? { ANTHROPIC_MODEL: "claude-opus-4-1" } : {};
  const env = { ...machine, ...older, ...extraEnv[sample.name] };
  const args = [...(extraArgs[sample.name] ?? []), ...sample.args].map((word) =>
    word.replaceAll("{cwd}", cwd).replaceAll("/sample/other", join(folder, "tiny-mcp-server.mjs")),
  );
  const session = args[args.indexOf("--resume") + 1];
  if (args.includes("--resume") && session)
    await run(["-p", 'first turn MOCK:[{"text":"one"}]', "--session-id", session], { cwd, env });
  if (!sample.stdin) return await run(args, { cwd, env });
  const results = sample.frames.filter(([kind]) => kind.startsWith("result")).length;
  return await drive(args, { sends: sendsOf(sample), answers: answersOf[sample.name] ?? answerer({}), results }, { cwd, env });
}

/** What was in the recorded machine's files. */
const extraArgs: Readonly<Record<string, string[]>> = {
  hook_all_events: [
    "--settings",
    JSON.stringify({
      hooks: Object.fromEntries(
        ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PermissionRequest", "Stop"].map((event) => [
          event,
          [{ hooks: [{ type: "command", command: "true" }] }],
        ]),
      ),
    }),
  ],
};

/** What the recorded host had set. */
const extraEnv: Readonly<Record<string, Record<string, string>>> = {
  control_interrupt_stream: { CLAUDE_CODE_SDK_READS_SESSION_STATE: "1" },
};

const hookDenial = { hookEventName: "PreToolUse", permissionDecision: "deny", permissionDecisionReason: "cb says no" };
const answersOf: Readonly<Record<string, ReturnType<typeof answerer>>> = {
  control_can_use_tool_allow: answerer({
    permission: { behavior: "allow", updatedInput: { command: "touch made.txt", description: "run" } },
  }),
  control_can_use_tool_deny: answerer({ permission: { behavior: "deny", message: "host says no" } }),
  control_can_use_tool_modify: answerer({
    permission: { behavior: "allow", updatedInput: { command: "echo MODIFIED", description: "run" } },
  }),
  control_hook_deny: answerer({ hook: { hookSpecificOutput: hookDenial } }),
};

/** Recorded hosts waited: to interrupt until something was said, to go on until there was a result. */
function sendsOf({ stdin = [], name }: Sample): Sending[] {
  let prompts = 0;
  return stdin.map((frame): Sending => {
    if (frame["request_id"] === "int")
      return { frame, after: { is: (seen) => kindOf(seen).startsWith("stream_event/content_block_delta"), count: 2 } };
    const earlier = frame["type"] === "user" ? prompts++ : 0;
    if (name === "control_interrupt_stream" && earlier > 0)
      return { frame, after: { is: ({ type }) => type === "result", count: earlier } };
    return { frame };
  });
}
