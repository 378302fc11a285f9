import { RuntimeError } from "../protocol/errors.ts";
import { isHarmlessDevice } from "./paths.ts";
import { decide } from "./decide.ts";
import type { Program } from "./parsed-command.ts";
import type { Decision, Policy, ResolvePath } from "./policy.ts";
import { type Action, isCommandTool } from "./rules.ts";
import type { ShellWord } from "./shell-words.ts";
import { unknownTool } from "./tool-names.ts";
import { defined } from "../util/defined.ts";

export type Explanation = Omit<Decision, "git"> & {
  /** What a command would run, as far as that can be told. */
  readonly programs?: readonly string[];
  /** Files a command would write to, as they stand in it; those of programs whose ways with files are known, and of redirections. */
  readonly changes?: readonly string[];
  /** Why a command is not understood. */
  readonly doubt?: string;
};

/** The decision about a call written like a rule, such as `Bash(git push)` or `Edit(./a.ts)`, and what it rests on. */
export async function explainPermission(call: string, policy: Policy, resolve: ResolvePath): Promise<Explanation> {
  const action = await toAction(call, resolve);
  const { git: _, ...decision } = await decide(policy, [action], resolve); // which git it is, a run finds out
  if (action.kind !== "run") return decision;
  const { parseCommand } = await import("./parse-command.ts");
  const { lookingOf } = await import("./read-only-commands.ts");
  const { filesNamedBy } = await import("./written-files.ts");
  const { programs, writes, reason } = parseCommand(action.resource);
  const shown = (word: ShellWord): string => (word.kind === "open" ? `${word.text}…` : word.text);
  const names = programs.map((program) => program.words.map(shown).join(" "));
  const written = (program: Program): readonly ShellWord[] => [
    ...((lookingOf(program) ?? filesNamedBy(program))?.writes ?? []),
    ...program.inside.flatMap(written),
  ];
  const files = [...programs.flatMap(written), ...writes.map(({ word }) => word)];
  const changes = [...new Set(files.map(shown))].filter((file) => !isHarmlessDevice(file));
  return {
    ...decision,
    programs: names,
    ...(changes.length > 0 && { changes }),
    ...defined({ doubt: reason }),
  };
}

async function toAction(call: string, resolve: ResolvePath): Promise<Action> {
  const [, tool, resource = ""] = /^([A-Za-z_][\w-]*)(?:\((.*)\))?$/s.exec(call.trim()) ?? [];
  if (!tool)
    throw new RuntimeError(
      "usage",
      `Not a call: ${JSON.stringify(call)}. Expected something like Bash(git push) or Edit(./a.ts)`,
    );
  const unknown = unknownTool(tool);
  if (unknown !== undefined) throw new RuntimeError("usage", unknown);
  const kind = kindOf(tool);
  const isAboutNothing = kind === "note" || tool.startsWith("mcp__");
  if (!isAboutNothing && resource === "") throw new RuntimeError("usage", `${tool} needs something to be about, like ${tool}(…)`);
  return { tool, kind, resource: kind === "look" || kind === "edit" ? await resolve(resource) : resource };
}

export function kindOf(tool: string): Action["kind"] {
  if (isCommandTool(tool)) return "run";
  if (/^(?:Read|Glob|Grep|LS)$/.test(tool)) return "look";
  if (/^(?:Edit|Write|MultiEdit|NotebookEdit)$/.test(tool)) return "edit";
  return /^(?:Web|mcp__)/.test(tool) ? "reach" : "note";
}
