import { existsSync, realpathSync } from "node:fs";
import { parseSkill } from "../../commands/skills/parse-skill.ts";
import { type PromptPiece, preparePrompt } from "../../commands/skills/prepare-prompt.ts";
import { readSkill } from "../../commands/skills/find-skills.ts";
import { parseLines } from "../../context/references.ts";
import { hooksOfSkill } from "./skill-hooks.ts";
import type { Skill } from "../../commands/skills/skill.ts";
import type { SessionDeps, TurnDeps } from "../../engine/deps.ts";
import { type UsedTool, useTool } from "../../engine/use-tool.ts";
import { toTextCheck } from "../../permissions/read-check.ts";
import { parseRule, type Rule } from "../../permissions/rules.ts";
import { RuntimeError } from "../../protocol/errors.ts";
import type { SkillActivation } from "../../protocol/events.ts";
import type { ChangingHooks } from "../session-hooks.ts";
import { fileBlock, readFileReference } from "../references/read-file.ts";
import type { SessionSkills } from "./session-skills.ts";
import { messageOf } from "../../util/message-of.ts";

export type SkillCall = {
  readonly skill: Skill;
  readonly args: string;
  readonly invocation: SkillActivation["invocation"];
};

export type SkillGround = Pick<TurnDeps, "emit" | "flush" | "signal" | "interrupt" | "keeper"> & {
  readonly deps: SessionDeps;
  readonly skills: SessionSkills;
  readonly sessionId: string;
  /** Hooks that come with a skill; answers what a person should hear. */
  readonly addHooks: ChangingHooks["add"];
  /** Has the model been shown this, and is it still? */
  readonly isShown: (text: string) => boolean;
};

export type RenderedSkill = {
  /** As the file says it now. */
  readonly skill: Skill;
  /** What it loosens, runs and chooses counts. */
  readonly trusted: boolean;
  /** The text with its arguments and what its commands said. */
  readonly text: string;
  /** Files that it names with `@`. */
  readonly files: readonly string[];
  /** What was left out, for people. */
  readonly notes: readonly string[];
  /** Tells how it went. */
  tell(status: "completed" | "failed", error?: string): void;
};

/** How many commands and files one text may name. */
const maxInserts = 50;

/**
 * The text of a skill, ready for a model. That it is used is on record before its first command runs. Its commands and files are judged like
 * calls of the model; a command that would need somebody's yes, with nobody there or a no, ends it.
 */
export async function renderSkill({ skill: known, args, invocation }: SkillCall, ground: SkillGround): Promise<RenderedSkill> {
  const { deps, skills, emit, flush } = ground;
  refuseForbidden(known, ground);
  const { skill, body } = await parseSkill(readSkill(known), known);
  const trusted = await skills.isTrusted(skill);
  const variables = variablesOf(skill, ground, trusted ? skill.effort : undefined);
  const prepared = preparePrompt(body, { args, argumentNames: skill.argumentNames, variables });
  const commands = prepared.pieces.flatMap((piece) => (piece.type === "command" ? [piece.command] : []));
  if (commands.length + prepared.files.length > maxInserts)
    throw new RuntimeError("config", `${skill.path} names more than ${maxInserts} commands and files`);
  const fact = {
    activationId: deps.newId(),
    skillName: skill.name,
    source: skill.plugin ? "plugin" : "skill",
    invocation,
    mode: skill.forks ? "fork" : "inject",
  } as const;
  emit({ type: "skill.activated", ...fact, status: "started", ...(commands.length > 0 && { commands }) });
  await flush();
  const tell: RenderedSkill["tell"] = (status, error) =>
    emit({ type: "skill.activated", ...fact, status, ...(error !== undefined && { error }) });
  try {
    if (!skills.active.includes(skill.folder)) skills.active.push(skill.folder);
    const notes: string[] = [];
    const hooks = trusted ? hooksOfSkill(skill) : undefined;
    if (hooks) notes.push(...(await ground.addHooks(hooks)));
    const judged = trusted && invocation === "user-slash" ? withRules(deps, skill) : deps;
    const use: UseCommand = async (command) =>
      await runCommand(command, { skill, trusted, notes, ground: { ...ground, deps: judged } });
    const texts: string[] = [];
    for (const piece of prepared.pieces) texts.push(await toText(piece, use));
    const files: string[] = [];
    for (const name of prepared.files) {
      const { name: path, lines } = parseLines(name);
      const read = await readFileReference({ path, lines }, { ...ground, deps: judged });
      if (read.status === "denied") notes.push(`@${name} was not read: ${read.reason ?? "it was refused"}`);
      if (read.status === "ok") files.push(fileBlock(name, read.text));
    }
    return { skill, trusted, text: texts.join(""), files, notes, tell };
  } catch (error) {
    tell("failed", messageOf(error));
    throw error;
  }
}

/** The session's rules, and those of the skill. */
export function withRules(deps: SessionDeps, skill: Skill): SessionDeps {
  const allow = rulesOf(skill.allowedTools, skill);
  const deny = prohibitionsOf(skill);
  if (allow.length + deny.length === 0) return deps;
  return {
    ...deps,
    policy: () => {
      const policy = deps.policy();
      return { ...policy, allow: [...policy.allow, ...allow], deny: [...policy.deny, ...deny] };
    },
  };
}

/** Whoever wrote a skill may forbid. */
export function prohibitionsOf(skill: Skill): Rule[] {
  return rulesOf(skill.disallowedTools, skill);
}

/** A rule that cannot be read allows nothing. */
function rulesOf(texts: readonly string[], { path, folder, plugin }: Skill): Rule[] {
  const places: Readonly<Record<string, string>> = { CLAUDE_SKILL_DIR: folder, OUTRIDER_SKILL_DIR: folder, ...plugin?.variables };
  return texts.flatMap((text) => {
    try {
      const filled = text.replaceAll(
        /\$\{(\w+)\}/g,
        (whole, name: string) => (Object.hasOwn(places, name) ? places[name] : whole) ?? whole,
      );
      return [parseRule(filled, path)];
    } catch {
      return [];
    }
  });
}

export function variablesOf(
  { folder, plugin }: Skill,
  { sessionId, deps }: Pick<SkillGround, "sessionId" | "deps">,
  effort?: Skill["effort"],
): Record<string, string> {
  const values = {
    SESSION_ID: sessionId,
    SKILL_DIR: folder,
    PROJECT_DIR: deps.workspace.root,
    EFFORT: effort ?? deps.request.effort ?? "medium",
  };
  const own = Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) => [
      [`CLAUDE_${name}`, value],
      [`OUTRIDER_${name}`, value],
    ]),
  );
  return { ...own, ...plugin?.variables };
}

/** A file that rules keep from the model is not told to it as a skill either. */
export function refuseForbidden({ name, path }: Skill, { deps }: Pick<SkillGround, "deps">): void {
  const mayRead = toTextCheck(deps.policy());
  if (mayRead && existsSync(path) && !mayRead(realpathSync.native(path)))
    throw new RuntimeError("usage", `A rule forbids to read the skill ${name} (${path})`);
}

type UseCommand = (command: string) => Promise<string>;

async function toText(piece: PromptPiece, use: UseCommand): Promise<string> {
  return piece.type === "text" ? piece.text : await use(piece.command);
}

type Using = { readonly notes: string[]; readonly ground: SkillGround };

async function runCommand(
  command: string,
  { skill, trusted, notes, ground }: Using & { readonly skill: Skill; readonly trusted: boolean },
): Promise<string> {
  const leaveOut = (reason: string): string => {
    notes.push(`${skill.path}: ${command} was not run: ${reason}`);
    return `[not run: ${reason}]`;
  };
  if (!ground.skills.runsCommands) return "[shell command execution disabled by policy]"; // programs look for these words
  if (!trusted) return leaveOut("the project is not trusted");
  const tool = [...ground.deps.tools.values()].find(({ facts }) => facts?.kind === "run" && facts.fields?.command !== undefined);
  const field = tool?.facts?.fields?.command;
  if (!tool || field === undefined) return leaveOut("no tool that runs commands is offered here");
  const used = await useTool({ ...ground.deps, ...ground }, tool.name, {
    [field]: command,
    description: `A command of /${skill.name}`,
  });
  if (used.status === "denied") {
    if (used.by === "policy" || used.by === "user") throw refusedCommand(command, skill, used);
    return leaveOut(used.reason ?? "it was refused");
  }
  if (used.status === "interrupted") ground.signal.throwIfAborted();
  return used.text.replace(/\n+$/, "");
}

function refusedCommand(command: string, { name }: Skill, { reason = "it was refused" }: UsedTool): RuntimeError {
  return new RuntimeError("usage", `/${name} was not used, because a command of it may not run: ${command} (${reason})`, {
    hint: `A rule that allows the command lets it run: in allowed-tools of the skill, in settings, or with --allowedTools`,
  });
}
