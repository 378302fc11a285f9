import { RuntimeError } from "@outrider/runtime";
import {
  findSkills,
  type FoundSkills,
  knownKeys,
  parseSkill,
  preprocessShellCommands,
  readSkill,
  type Skill,
  skillFolders,
} from "@outrider/runtime/commands";
import { nearest } from "@outrider/runtime/host";
import { exitCodes } from "../exit-codes.ts";
import { takeOwnWords } from "../flags/words.ts";
import { lookAtProject, type Project } from "../request/project.ts";
import { print, visible } from "../terminal/visible.ts";

const usage = `Usage:
  outrider skills list [--cwd DIR] [--json]        list the skills and commands in files, and where they are
  outrider skills show NAME [--cwd DIR] [--json]   show one of them: its description and its text
  outrider skills lint [--cwd DIR] [--json]        find mistakes in them; exit code 1 if there are any;
                                                   a line that begins with note: is none
`;

/** Looks after skills and commands in files, as a run in this folder would find them. */
export async function runSkills(args: readonly string[]): Promise<number> {
  const words = takeOwnWords(args, { switches: ["--json", "--help", "-h"], values: ["--cwd"] });
  if (words.has("--help") || words.has("-h")) return await say(usage.trimEnd());
  const [action = "list", name, ...more] = words.rest;
  const project = await lookAtProject({ cwd: words.value("--cwd") });
  const found = await look(project);
  const json = words.has("--json");
  if (action === "list" && name === undefined) return await list(found, json);
  if (action === "lint" && name === undefined) return await lint(found, { json, trusted: project.trust.trusted });
  if (action === "show" && name !== undefined && more.length === 0) return await show(found, name, json);
  throw new RuntimeError("usage", `skills does not take ${visible(args.join(" "))}\n${usage}`);
}

async function look({ cwd, root, home: userHome, outriderHome, claudeHome }: Project): Promise<FoundSkills> {
  return await findSkills(skillFolders({ cwd, root, outriderHome, userHome, claudeHome, scopes: ["user", "project"] }), root);
}

async function list({ skills, warnings }: FoundSkills, json: boolean): Promise<number> {
  for (const line of warnings) process.stderr.write(`outrider: ${visible(line)}\n`);
  if (json) return await say(skills.map((skill) => JSON.stringify(skill)).join("\n"));
  const width = Math.max(0, ...skills.map(({ name }) => name.length));
  const lines = skills.map(
    (skill) => `/${skill.name.padEnd(width)}  ${skill.scope.padEnd(7)}  ${whoUses(skill)}  ${skill.description}`,
  );
  return await say(lines.length === 0 ? "There are no skills and no commands in files here" : lines.map(visible).join("\n"));
}

function whoUses({ modelInvocable, userInvocable }: Skill): string {
  return [userInvocable ? "people" : "", modelInvocable ? "model" : ""].filter(Boolean).join("+").padEnd(12);
}

async function show({ skills }: FoundSkills, name: string, json: boolean): Promise<number> {
  const wanted = name.replace(/^\//, "");
  const skill = skills.find((known) => known.name === wanted);
  if (!skill) {
    const guess = nearest(
      wanted,
      skills.map((known) => known.name),
    );
    throw new RuntimeError("not-found", `There is no skill ${wanted}${guess ? `; did you mean ${guess}?` : ""}`);
  }
  const { body } = await parseSkill(readSkill(skill), skill);
  if (json) return await say(JSON.stringify({ ...skill, body }));
  const facts = Object.entries(skill).flatMap(([key, value]) => {
    const text = Array.isArray(value) ? value.join(", ") : String(value);
    return text === "" || text === "false" ? [] : [`${key}: ${text}`];
  });
  return await say([...facts, "", ...body.trimEnd().split(/\r?\n/)].map(visible).join("\n"));
}

/** Mistakes, and what is only worth knowing: that costs no exit code, so that a checkout nobody has trusted can be linted. */
type Finding = { readonly message: string; readonly isNote?: true };

async function lint(found: FoundSkills, { json, trusted }: { json: boolean; trusted: boolean }): Promise<number> {
  const findings: Finding[] = found.warnings.map((message) => ({ message }));
  for (const skill of found.skills) findings.push(...(await findingsOf(skill, trusted)));
  const lines = findings.map(({ message, isNote }) =>
    json ? JSON.stringify({ message, ...(isNote && { level: "note" }) }) : visible(isNote ? `note: ${message}` : message),
  );
  await say(lines.join("\n") || (json ? "" : "Nothing is wrong"));
  return findings.every(({ isNote }) => isNote) ? exitCodes.success : exitCodes.error;
}

async function findingsOf(skill: Skill, trusted: boolean): Promise<Finding[]> {
  const { path, scope, description, allowedTools, modelInvocable, userInvocable, agent, forks } = skill;
  const text = readSkill(skill);
  const { body } = await parseSkill(text, skill);
  const head = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)^---/m.exec(text)?.[1] ?? "";
  const keys = [...head.matchAll(/^([A-Za-z][\w-]*):/gm)].map(([, key = ""]) => key);
  const unknown = keys
    .filter((key) => !knownKeys.includes(key))
    .map((key) => {
      const guess = nearest(key, knownKeys);
      return `${path}: ${key} means nothing here${guess ? `; did you mean ${guess}?` : ""}`;
    });
  const mistakes = [
    ...unknown,
    ...(body.trim() === "" ? [`${path} has no text`] : []),
    ...(description.length > 1_536 ? [`${path}: of its description only 1,536 characters are shown to models`] : []),
    ...(!modelInvocable && !userInvocable ? [`${path}: neither people nor models may use it`] : []),
    ...(agent !== undefined && !forks ? [`${path}: agent counts only with context: fork`] : []),
  ];
  const isLoosening = allowedTools.length > 0 || skill.hooks !== undefined || preprocessShellCommands(body).length > 0;
  const notes = [
    ...keys.filter((key) => ["shell", "background"].includes(key)).map((key) => `${path}: ${key} has no effect here`),
    ...(scope === "project" && !trusted && isLoosening
      ? [`${path}: its commands, hooks and allowed-tools do not count until the project is trusted`]
      : []),
  ];
  return [...mistakes.map((message) => ({ message })), ...notes.map((message) => ({ message, isNote: true as const }))];
}

async function say(text: string): Promise<number> {
  await print(`${text}\n`);
  return exitCodes.success;
}
