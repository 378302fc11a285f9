import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { lines, model, projectRoot, run, tempFolder } from "../e2e/command.ts";
import { hookEventNames } from "../../packages/runtime/src/hooks/event-names.ts";
import { compare } from "./compare.ts";
import { drive, type Sending } from "./drive.ts";
import { answerer } from "./host.ts";
import { followScripts } from "./mock-script.ts";
import { type JsonRecord, kindOf, type Shape, type Structure, structuresOf } from "./structure.ts";

type Sample = {
  name: string;
  args: string[];
  stdin?: JsonRecord[];
  /** What the recorded host said when it was asked for permission, in this order. */
  answers?: JsonRecord[];
  /** What was there before, below the folder that holds `cwd`, `home` and `hk`. */
  files?: Record<string, string>;
  /** How often hooks have said in files of `hk` that they ran. */
  marks?: Record<string, number>;
  exit: number;
  /** Instead of frames, where the output is words. */
  text?: string;
  /** Kind, shape, and the agent it is of. */
  frames: [string, number, number?][];
  /** Prompts that are run one after the other, instead of one command. */
  typed?: string[];
  env?: Record<string, string>;
  /** The project is a repository, and all of it is committed. */
  git?: boolean;
};
/** `original`: the variables and flags that give Claude Code's way where ours is another on purpose. */
type Row = {
  id: string;
  verdict: "harmless" | "deliberate";
  where: string[];
  samples?: string[];
  /** Samples in which it depends on how busy the machine is: a server that is slow to start is told of. */
  sometimes?: string[];
  original?: Wish;
  reason: string;
};
type Wish = { readonly env?: Record<string, string>; readonly args?: string[] };

const folder = join(projectRoot, "test/contract");
const samples = ["claude-samples.json", "claude-samples-2.json"].flatMap((name) => {
  const set = JSON.parse(readFileSync(join(folder, name), "utf8")) as { shapes: Shape[]; samples: Sample[] };
  return set.samples.map((sample) => ({ ...sample, shapes: set.shapes }));
});
const verdicts = new Map<string, string>();
const table = JSON.parse(readFileSync(join(folder, "claude-differences.json"), "utf8")) as Row[];
const used = new Set<string>();

describe("the scenarios of Claude Code's recorded transcripts", () => {
  for (const sample of samples) {
    it(`${sample.name}: the same kinds of frames in the same order, the same fields and exit code, but for the table`, async () => {
      verdicts.set(sample.name, "breaks");
      const played = await replay(sample);
      const explained = differencesOf(sample, played).map((difference) => ({
        difference,
        rows: explain(difference, sample.name),
      }));
      const unexplained = explained.filter(({ rows }) => rows.length === 0).map(({ difference }) => difference);
      assert.deepEqual([unexplained, played.marks], [[], sample.marks ?? {}], played.stderr);
      const deliberate = explained.filter(({ rows }) => rows.every(({ verdict }) => verdict === "deliberate"));
      const isOwnWords = sample.text !== undefined && isOwn(sample);
      const isSame = explained.length === 0 && !isOwnWords;
      verdicts.set(sample.name, deliberate.length > 0 ? "deliberate" : isSame ? "same" : "harmless");
      const asked = deliberate.flatMap(({ difference, rows }) =>
        rows.some(({ original }) => original) ? [{ difference, rows }] : [],
      );
      if (asked.length === 0) return;
      const wishes = asked.flatMap(({ rows }) => rows.flatMap(({ original = {} }) => original));
      const again = differencesOf(sample, await replay(sample, mergeWishes(wishes)));
      const left = asked.map(({ difference }) => difference).filter((difference) => again.includes(difference));
      assert.deepEqual(left, [], "the original is not given where it is asked for");
    });
  }

  it("are played otherwise on purpose only where a variable or flag gives the original, or a person is protected", () => {
    const without = table.filter(({ verdict, original }) => verdict === "deliberate" && !original).map(({ id }) => id);
    assert.deepEqual(without.sort(), ["agent-mode", "clear-same-session", "hook-order"]);
  });

  it("leave nothing in the table that explains nothing", () => {
    const rows = table.flatMap(({ id, where, samples: only = [] }) => [...where, ...only].map((what) => `${id}: ${what}`));
    assert.deepEqual(
      rows.filter((row) => !used.has(row)),
      [],
    );
  });

  it("have verdicts that are in the documentation: nothing that is built breaks", () => {
    const rows = samples.map(({ name }) => [name, verdicts.get(name) ?? "breaks"] as const);
    const counts = ["same", "harmless", "deliberate", "breaks"].map((verdict) => {
      return `${[...verdicts.values()].filter((one) => one === verdict).length} ${verdict}`;
    });
    const lines = [
      "# Verdicts on Claude Code's recorded scenarios",
      "",
      "Written by `test/contract/samples.test.ts` (`OUTRIDER_WRITE_VERDICTS=1` writes it anew), which plays each scenario again on the built command. *Same*: kinds, order, fields and types of all frames, and the exit code. *Harmless*: additional facts, or fields in no published type. *Deliberate*: something is done otherwise, for a reason; both are in [the tables of differences](contract.md#where-claude-code-differs).",
      "",
      `${counts.join(", ")}.`,
      "",
      "| scenario | verdict |",
      "|---|---|",
      ...[...rows].sort(([a = ""], [b = ""]) => (a < b ? -1 : 1)).map(([name, verdict]) => `| ${name} | ${verdict} |`),
      "",
    ];
    const path = join(projectRoot, "docs/contract-verdicts.md");
    if (process.env["OUTRIDER_WRITE_VERDICTS"]) writeFileSync(path, lines.join("\n"));
    assert.equal(readFileSync(path, "utf8"), lines.join("\n"));
    assert.deepEqual(
      [...verdicts].filter(([, verdict]) => verdict === "breaks"),
      [],
    );
  });

  it("have a table that says why, once, and is in the documentation", () => {
    assert.equal(new Set(table.map(({ id }) => id)).size, table.length);
    const documented = readFileSync(join(projectRoot, "docs/contract.md"), "utf8");
    for (const { id, reason, verdict, original = {} } of table) {
      const given = [...Object.entries(original.env ?? {}).map(([name, value]) => `${name}=${value}`), ...(original.args ?? [])];
      const way = verdict === "harmless" ? "" : ` ${given.map((word) => `\`${word}\``).join(" and ") || "–"} |`;
      assert.ok(documented.includes(`| ${id} | ${reason} |${way}\n`), `${id} is not in docs/contract.md`);
    }
  });
});

function differencesOf(sample: Sample & { readonly shapes: Shape[] }, { code, stdout }: Replayed): string[] {
  const exit = code === sample.exit ? [] : [`exit ${sample.exit} is ${code}`];
  if (sample.text === undefined) {
    const expected = sample.frames.map(
      ([kind, shape, lane = 0]): Structure => ({ kind, shape: sample.shapes[shape] ?? "", lane }),
    );
    return [...compare(expected, structuresOf(lines(stdout) as JsonRecord[])), ...exit]; // every line is an object, or parsing has failed
  }
  // What a command says in words of its own is not compared: that it says something, and how it ends, is.
  const isSaid = isOwn(sample) ? !stdout.split("\n\0\n").includes("") || exit.length > 0 : stdout === sample.text;
  return [...(isSaid ? [] : ["words"]), ...exit];
}

function isOwn({ typed, args }: Sample): boolean {
  return typed !== undefined || args[0] === "plugin";
}

function mergeWishes(wishes: readonly Wish[]): Wish {
  return {
    env: Object.assign({}, ...wishes.map(({ env }) => env ?? {})) as Record<string, string>,
    args: [...new Set(wishes.flatMap(({ args = [] }) => args))],
  };
}

/** The rows that say why. */
function explain(difference: string, sample: string): Row[] {
  const rows = table.filter(({ where, samples: only, sometimes = [] }) => {
    return (only === undefined || [...only, ...sometimes].includes(sample)) && where.includes(difference);
  });
  for (const { id } of rows) used.add(`${id}: ${difference}`).add(`${id}: ${sample}`);
  return rows;
}

type Replayed = { code: number | null; stdout: string; stderr: string; marks: Record<string, number> };

async function replay(sample: Sample, wish: Wish = {}): Promise<Replayed> {
  const top = realpathSync(tempFolder("sample"));
  const [cwd, hooks] = [join(top, "cwd"), join(top, "hk")];
  for (const made of [cwd, hooks, join(top, "home")]) mkdirSync(made);
  const files = { "cwd/a.txt": "AAA\n", "cwd/b.txt": "BBB\n", ...sample.files, ...extraFiles[sample.name] };
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(top, name)), { recursive: true });
    writeFileSync(join(top, name), placed(text, { top, cwd }), { mode: text.startsWith("#!") ? 0o755 : 0o644 });
  }
  const { env: machine } = await model(followScripts(), tempFolder("sample-home"));
  // Recorded when every schema was kept to by a tool: a model that still needs it answers here.
  const older = JSON.stringify(sample).includes("StructuredOutput") ? { ANTHROPIC_MODEL: "claude-opus-4-1" } : {};
  // Claude Code lets a project's files count in every run without a terminal; here somebody has to say so.
  const trusted = sample.files ? { HOME: join(top, "home"), OUTRIDER_TRUST_PROJECT: "1" } : {};
  const env = { ...machine, ...older, ...trusted, ...sample.env, ...extraEnv[sample.name], ...wish.env };
  if (sample.git) commitAll(cwd);
  const args = [...(extraArgs[sample.name] ?? []), ...sample.args, ...(wish.args ?? [])].map((word) =>
    placed(word, { top, cwd }),
  );
  if (sample.typed) return { ...(await runEach(sample.typed, { cwd, env })), marks: {} };
  for (const earlier of extraRuns[sample.name] ?? [])
    await run(
      earlier.map((word) => word.replaceAll("{top}", top)),
      { cwd, env },
    );
  const session = args[args.indexOf("--resume") + 1];
  if (args.includes("--resume") && session)
    await run(["-p", 'first turn MOCK:[{"text":"one"}]', "--session-id", session], { cwd, env });
  const results = sample.frames.filter(([kind]) => kind.startsWith("result")).length;
  const [permission] = sample.answers ?? [];
  const answers = answersOf[sample.name] ?? answerer(permission ? { permission } : {});
  const ended = sample.stdin
    ? await drive(args, { sends: sendsOf(sample), answers, results }, { cwd, env })
    : await run(args, { cwd, env });
  return { ...ended, marks: sample.marks ? marksIn(hooks, sample.marks) : {} };
}

/** Words of a recording, with the places of this run. */
function placed(text: string, { top, cwd }: { readonly top: string; readonly cwd: string }): string {
  const server = join(folder, "tiny-mcp-server.mjs");
  return text
    .replaceAll("{cwd}", cwd)
    .replaceAll("{top}", top)
    .replaceAll(/\/sample\/other|\/scenario-tools\/mcp2.mjs/g, server);
}

function commitAll(cwd: string): void {
  const env = { PATH: process.env["PATH"], GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_SYSTEM: "/dev/null" };
  const who = ["-c", "user.name=x", "-c", "user.email=x@example.invalid"];
  for (const args of [
    ["init", "-q"],
    ["add", "-A"],
    [...who, "commit", "-qm", "all"],
  ])
    execFileSync("git", args, { cwd, env });
}

/** The outputs, and the worst of the codes. */
async function runEach(
  prompts: readonly string[],
  place: { cwd: string; env: Record<string, string> },
): Promise<Omit<Replayed, "marks">> {
  const runs = [];
  for (const prompt of prompts) runs.push(await run(["-p", prompt], place));
  return {
    code: Math.max(...runs.map(({ code }) => code ?? 255)),
    stdout: runs.map(({ stdout }) => stdout).join("\n\0\n"),
    stderr: runs.map(({ stderr }) => stderr).join(""),
  };
}

/** How often each hook ran, of those that left a mark in the recording and of all others that did here. */
function marksIn(folder: string, recorded: Record<string, number>): Record<string, number> {
  const names = readdirSync(folder).filter((name) => name.endsWith(".txt"));
  const counts = [...new Set([...names, ...Object.keys(recorded)])].map((name) => {
    const text = names.includes(name) ? readFileSync(join(folder, name), "utf8") : "";
    return [name, text.split("\n").filter(Boolean).length] as const;
  });
  return Object.fromEntries(counts);
}

/** What was in the recorded machine's files. */
const extraArgs: Readonly<Record<string, string[]>> = {
  hook_all_events: [
    "--settings",
    JSON.stringify({
      hooks: Object.fromEntries(
        ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolBatch", "PermissionRequest", "Stop"].map(
          (event) => [event, [{ hooks: [{ type: "command", command: "true" }] }]],
        ),
      ),
    }),
  ],
};

/** Files of which the recording has kept only the beginning, or that were written by a scenario before. */
const extraFiles: Readonly<Record<string, Record<string, string>>> = {
  hooks_every_event_tools: { "cwd/.claude/settings.json": JSON.stringify({ hooks: hooksOnAll() }) },
  plugin_dir_components_used: { "p1/srv.mjs": readFileSync(join(folder, "tiny-mcp-server.mjs"), "utf8") },
  plugin_cli_install: samples.find(({ name }) => name === "plugin_cli_marketplace_add")?.files ?? {},
};

function hooksOnAll(): Record<string, unknown> {
  const command = (event: string): string => `{ cat; echo; } >> {top}/hk/${event}.jsonl`;
  return Object.fromEntries(hookEventNames.map((event) => [event, [{ hooks: [{ type: "command", command: command(event) }] }]]));
}

/** What was run before in the same place. */
const extraRuns: Readonly<Record<string, string[][]>> = {
  plugin_cli_install: [["plugin", "marketplace", "add", "{top}/mkt"]],
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
  mcp2_elicit_host: answerer({
    elicitations: [{ action: "accept", content: { name: "Bob", age: 7 } }, { action: "decline" }],
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
