import type { PermissionMode } from "../protocol/permission.ts";

/** What of a session may change while it lives, and is told in a block of its own. */
export type SessionLines = {
  readonly model: string;
  readonly mode: PermissionMode;
  /** Somebody is there who answers permission questions. */
  readonly answerable: boolean;
  /** Rules by which calls run unasked, as they are written. */
  readonly allow: readonly string[];
  /** Commands that only ask others on the network run unasked. */
  readonly networkReads?: boolean | undefined;
  /** Where commands run; nothing where they all run as the user. */
  readonly sandbox?: string | undefined;
  /** There are tools that run commands. */
  readonly runsCommands: boolean;
};

const heading = "# This session";
const shownRules = 20;

export function describeSession(lines: SessionLines): string {
  const { model, mode, allow, networkReads, sandbox } = lines;
  return [
    heading,
    `Model: ${oneLine(model)}`,
    `Permission mode: ${mode}. ${modeWords(lines)}`,
    ...(allow.length > 0 && mode !== "bypassPermissions" && mode !== "plan" ? [`Allowed by rule: ${listRules(allow)}`] : []),
    ...(networkReads && lines.runsCommands
      ? ["Commands that only read from the network (gh pr view, npm view) are allowed without asking."]
      : []),
    ...(sandbox !== undefined ? [`Sandbox: ${oneLine(sandbox)}`] : []),
    ...(sandbox === undefined && lines.runsCommands ? ["Commands run as the user on this machine, with its network."] : []),
  ].join("\n");
}

/** A system prompt with this block in the place of its own. The rest stays to the letter, so that providers find it in their cache. */
export function retellSession(system: string, lines: SessionLines): string {
  const block = describeSession(lines);
  const own = /^# This session\n.+(?:\n.+)*/m;
  if (own.test(system)) return system.replace(own, () => block);
  // As versions before this block told it.
  const told = lines.sandbox === undefined ? "" : `Sandbox: ${lines.sandbox}\n`;
  return system.replace(/^(Date: [\d-]+\n)(?:Sandbox: .*\n)?/m, (_, date: string) => date + told);
}

function modeWords({ mode, answerable, runsCommands }: SessionLines): string {
  const looking = runsCommands
    ? "reading the working directory, and commands that only read it"
    : "reading the working directory";
  const rest = answerable
    ? "Anything else that no rule allows is put to somebody who may refuse it."
    : "Nobody can be asked: anything else is refused unless a rule allows it.";
  switch (mode) {
    case "plan":
      return `Look only. Allowed without asking: ${looking}. Nothing may be changed, and tools that change files are not offered. Answer with a plan: what to change, where and why, in which order, how to check it, and what is still open.`;
    case "default":
      return `Allowed without asking: ${looking}. ${rest}`;
    case "acceptEdits":
      return `Allowed without asking: ${looking}, and changes to files in it. ${rest}`;
    case "dontAsk":
      return `Allowed without asking: ${looking}. Anything else is refused at once unless a rule allows it.`;
    case "sandboxed":
      return `Allowed without asking: ${looking}, changes to files in it, and every command: what no rule allows runs in the sandbox. What cannot work there is refused or fails; say so instead of fighting it. ${answerable ? rest : ""}`.trim();
    case "bypassPermissions":
      return "Everything is allowed without asking, so nothing catches a mistake: destroy nothing that the task does not ask you to destroy.";
  }
}

function listRules(rules: readonly string[]): string {
  const shown = rules.slice(0, shownRules).map((rule) => (rule.length > 100 ? `${rule.slice(0, 100)}…` : rule));
  const more = rules.length - shown.length;
  return oneLine([...shown, ...(more > 0 ? [`and ${more} more`] : [])].join(", "));
}

/** The block ends at an empty line, and nothing in it may be one. */
function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}
