import { RuntimeError } from "../protocol/errors.ts";
import { decide } from "./decide.ts";
import type { Decision, Policy, ResolvePath } from "./policy.ts";
import { type Action, isCommandTool } from "./rules.ts";

export type Explanation = Decision & {
  /** What a command would run, as far as that can be told. */
  readonly programs?: readonly string[];
  /** Why a command is not understood. */
  readonly doubt?: string;
};

/** The decision about a call written like a rule, such as `Bash(git push)` or `Edit(./a.ts)`, and what it rests on. */
export async function explainPermission(call: string, policy: Policy, resolve: ResolvePath): Promise<Explanation> {
  const action = await toAction(call, resolve);
  const decision = await decide(policy, [action], resolve);
  if (action.kind !== "run") return decision;
  const { parseCommand } = await import("./shell.ts");
  const { programs, reason } = parseCommand(action.resource);
  const names = programs.map((program) =>
    program.words.map((word) => (word.kind === "open" ? `${word.text}…` : word.text)).join(" "),
  );
  return { ...decision, programs: names, ...(reason !== undefined && { doubt: reason }) };
}

async function toAction(call: string, resolve: ResolvePath): Promise<Action> {
  const [, tool, resource = ""] = /^([A-Za-z_][\w-]*)(?:\((.*)\))?$/s.exec(call.trim()) ?? [];
  if (!tool)
    throw new RuntimeError(
      "usage",
      `Not a call: ${JSON.stringify(call)}. Expected something like Bash(git push) or Edit(./a.ts)`,
    );
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
