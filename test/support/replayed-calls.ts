import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fitInput } from "../../packages/runtime/src/engine/fit-input.ts";
import type { ProgramFinder } from "../../packages/runtime/src/permissions/program-finder.ts";
import { type PermissionMode, permissionModes } from "../../packages/runtime/src/protocol/permission.ts";
import { createBuiltinTools } from "../../packages/runtime/src/tools/builtin/builtin-tools.ts";
import { createTaskTool } from "../../packages/runtime/src/tools/builtin/task.ts";
import { builtinAgents } from "../../packages/runtime/src/tasks/agent-definition.ts";
import { healEdit } from "../../packages/runtime/src/tools/heal-edit.ts";
import { replaceRanges } from "../../packages/runtime/src/tools/text-edit.ts";
import { createGround } from "./command-ground.ts";
import { recordedLooks } from "./recorded-commands.ts";

/**
 * Calls as real models send them, made up in the shapes and proportions of 35,535 recorded ones; nothing here was said by anybody.
 * They go through the same checks as in a run.
 */
type Shape = readonly [tool: string, count: number, input: Readonly<Record<string, unknown>>];

const todo = { content: "Mend it", status: "pending", activeForm: "Mending it" };

const shapes: readonly Shape[] = [
  ["Bash", 10_452, { command: "npm test", description: "Run the tests" }],
  ["Bash", 476, { command: "npm run build", timeout: 300_000 }],
  ["Bash", 39, { command: "npm run dev", run_in_background: true }],
  ["Read", 7_400, { file_path: "/project/src/a.ts" }],
  ["Read", 3_276, { file_path: "/project/src/a.ts", offset: 100, limit: 50 }],
  ["Read", 10, { file_path: "/project/src/a.ts", offset: 0 }],
  ["Read", 4, { file_path: "/project/src/a.ts", offset: "[626, 635]" }],
  ["Read", 2, { path: "/project/src/a.ts" }],
  ["Edit", 6_650, { file_path: "/project/src/a.ts", old_string: "a", new_string: "b", replace_all: false }],
  ["Edit", 1, { path: "/project/src/a.ts", old_string: "a", new_string: "b" }],
  ["Grep", 3_955, { pattern: "x", path: "src", output_mode: "content", "-n": true, "-C": 2, head_limit: 20 }],
  ["Grep", 181, { pattern: "x", output_mode: "content", context: 3 }],
  ["Grep", 4, { pattern: "x", offset: 10 }],
  ["Grep", 2, { pattern: "x", file_path: "src" }],
  ["TodoWrite", 469, { todos: [todo] }],
  ["TodoWrite", 9, { todos: [{ ...todo, id: "1", priority: "high" }] }],
  ["Write", 1_100, { file_path: "/project/src/b.ts", content: "x\n" }],
  ["Glob", 900, { pattern: "**/*.ts", path: "src" }],
  ["WebFetch", 130, { url: "https://example.org/a", prompt: "What does it say?" }],
  ["WebSearch", 60, { query: "node test runner" }],
  ["Task", 415, { description: "Look around", prompt: "Find it", subagent_type: "general-purpose" }],
];

export type Acceptance = { readonly calls: number; readonly accepted: number; readonly refused: readonly string[] };

/** How many inputs are taken as they are, or understood. */
export async function acceptInputs(): Promise<Acceptance> {
  const search = { name: "none", search: async () => [] } as never; // only declared here
  const tools = new Map(
    [...createBuiltinTools({ webSearch: search }), createTaskTool(builtinAgents)].map((tool) => [tool.name, tool]),
  );
  let accepted = 0;
  const refused: string[] = [];
  for (const [name, count, input] of shapes) {
    const tool = tools.get(name);
    const call = { type: "tool-call", callId: "c", name, input } as never; // as an answer would have it
    const fitted = tool ? await fitInput(tool, call) : { ok: false as const, message: "There is no such tool" };
    if (fitted.ok) accepted += count;
    else refused.push(`${count} × ${name} ${JSON.stringify(input)}: ${fitted.message}`);
  }
  return { calls: shapes.reduce((all, [, count]) => all + count, 0), accepted, refused };
}

export type Unasked = Readonly<Record<PermissionMode, number>>;

/** The share of everyday commands that run without a question, mode by mode: those that only look, and those that do more. */
export async function runUnasked(root: string): Promise<{ looking: Unasked; doing: Unasked; commands: number }> {
  const text = readFileSync(join(root, "test/fixtures/everyday-commands.json"), "utf8");
  const { unasked, asked } = JSON.parse(text) as { unasked: string[]; asked: string[] }; // our own file
  const ground = createGround();
  const programs: ProgramFinder = { place: async () => "other", isShadowed: async () => false };
  const share = async (commands: readonly string[], mode: PermissionMode): Promise<number> => {
    let runs = 0;
    for (const command of commands) if ((await ground.judge(command, { mode, programs })).effect === "allow") runs++;
    return runs / commands.length;
  };
  const shares = async (commands: readonly string[]): Promise<Unasked> => {
    const found: [PermissionMode, number][] = [];
    for (const mode of permissionModes) found.push([mode, await share(commands, mode)]);
    return Object.fromEntries(found) as Unasked; // each mode was asked for
  };
  try {
    return { looking: await shares(unasked), doing: await shares(asked), commands: unasked.length + asked.length };
  } finally {
    ground.remove();
  }
}

export type RecordedLooks = { readonly calls: number; readonly unasked: number; readonly asked: readonly string[] };

/** How many of the recorded commands that only look run without a question in mode default, each as often as it was recorded. */
export async function runRecordedLooks(): Promise<RecordedLooks> {
  const ground = createGround();
  const programs: ProgramFinder = { place: async () => "other", isShadowed: async () => false };
  let unasked = 0;
  const asked: string[] = [];
  try {
    for (const [count, command] of recordedLooks) {
      const { effect, reason } = await ground.judge(command, { mode: "default", programs });
      if (effect === "allow") unasked += count;
      else asked.push(`${count} × ${command}: ${reason}`);
    }
  } finally {
    ground.remove();
  }
  return { calls: recordedLooks.reduce((all, [count]) => all + count, 0), unasked, asked };
}

export type Heals = { readonly tried: number; readonly healed: number; readonly wrong: number };

/** The 88 edits whose text was not found, by their kind: 53 one tab short on every line, 6 with other white space, 29 of which nothing is there. */
export function healRecorded(): Readonly<Record<"tab" | "trimmed" | "absent", Heals>> {
  return {
    tab: heal(53, (lines) => lines.map((line) => line.replace(/^\t/, ""))),
    trimmed: heal(6, (lines) => lines.map((line) => line.replaceAll("\t", "    "))),
    absent: heal(29, (lines) => lines.map((line) => line.replace("value", "other"))),
  };
}

function heal(count: number, spoil: (lines: string[]) => string[]): Heals {
  let healed = 0;
  let wrong = 0;
  for (let index = 0; index < count; index++) {
    const lines = blockOf(index);
    const file = [...blockOf(index + 1_000), ...lines, ...blockOf(index + 2_000)].join("\n");
    const spoilt = spoil(lines);
    const change = { oldText: spoilt.join("\n"), newText: spoilt.join("\n").replace("return", "yield") };
    const found = healEdit(file, change);
    if (!found) continue;
    const wanted = file.replace(lines.join("\n"), lines.join("\n").replace("return", "yield"));
    if (replaceRanges(file, [found], found.newText) === wanted) healed++;
    else wrong++;
  }
  return { tried: count, healed, wrong };
}

/** Some code that is there once. */
function blockOf(index: number): string[] {
  return [`\t\tfunction step${index}() {`, `\t\t\tconst value${index} = ${index};`, `\t\t\treturn value${index};`, "\t\t}"];
}

/** Near misses at random, from `seed` on: letters changed, lines swapped or left out, the same block twice. None of them may be healed to another place. */
export function healNearMisses(count: number, seed: number): Heals {
  let healed = 0;
  let wrong = 0;
  let state = seed;
  const random = (below: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % below;
  };
  for (let index = 0; index < count; index++) {
    const blocks = Array.from({ length: 2 + random(6) }, () => blockOf(random(8)));
    const file = blocks.flat().join("\n");
    const block = [...(blocks[random(blocks.length)] ?? [])];
    const kind = random(4);
    if (kind === 0) block[1] = (block[1] ?? "").replace(/\d+/, (number) => String(Number(number) + 1));
    if (kind === 1) block.reverse();
    if (kind === 2) block.splice(random(block.length), 1);
    const spoilt = block.map((line) => line.slice(random(2))).join("\n");
    const found = healEdit(file, { oldText: spoilt, newText: `${spoilt}\n// new` });
    if (!found) continue;
    healed++;
    // Right is only what differs from the given text in white space alone, and is there once.
    const plain = (text: string): string =>
      text
        .split("\n")
        .map((line) => line.trim())
        .join("\n");
    const replaced = plain(file.slice(found.from, found.to).replace(/\n$/, ""));
    if (replaced !== plain(spoilt) || plain(file).split(plain(spoilt)).length !== 2) wrong++;
  }
  return { tried: count, healed, wrong };
}
