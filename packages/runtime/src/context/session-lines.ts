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
      ? ["Commands that only read from the network (gh pr view, npm view) run unasked."]
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
    ? "reading the working directory and commands that only look there"
    : "reading the working directory";
  const rest = answerable
    ? "Anything else that no rule allows is put before somebody who may say no."
    : "Nobody can be asked: anything else that no rule allows is refused.";
  switch (mode) {
    case "plan":
      return `Only look: ${looking} run unasked, nothing may be changed, and tools that change files are not offered. Answer with a plan: what is to be changed where and why, in which order, how it will be checked, and what is open.`;
    case "default":
      return `Unasked run: ${looking}. ${rest}`;
    case "acceptEdits":
      return `Unasked run: ${looking}, and changes of files in it. ${rest}`;
    case "dontAsk":
      return `Unasked run: ${looking}. Anything else that no rule allows is refused at once.`;
    case "sandboxed":
      return `Unasked run: ${looking}, changes of files in it, and every command, since what no rule allows is held in by the sandbox. What cannot work in there is refused or fails: do not fight it, say so. ${answerable ? rest : ""}`.trim();
    case "bypassPermissions":
      return "Everything runs unasked, so nothing catches a mistake: destroy nothing that the task does not ask you to.";
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
