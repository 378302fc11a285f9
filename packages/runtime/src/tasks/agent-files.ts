import { type Dirent, readdirSync } from "node:fs";
import { basename, join, sep } from "node:path";
import { parseFrontmatter } from "../context/frontmatter.ts";
import { withoutHiddenText } from "../context/hidden-text.ts";
import { openInstructionFile } from "../context/instruction-file.ts";
import { toRuntimeError } from "../protocol/errors.ts";
import { type AgentDefinition, builtinAgents, mergeAgents } from "./agent-definition.ts";
import { parseAgent } from "./parse-agents.ts";
import { unknownToolsOf } from "./unknown-tools.ts";

export type AgentPlaces = {
  /** The top of the project. */
  readonly root: string;
  readonly outriderHome: string | undefined;
  readonly userHome: string | undefined;
  /** Claude Code's own folder; `.claude` in the user's home when absent. */
  readonly claudeHome?: string | undefined;
  /** The user trusts the project's own configuration. */
  readonly trusted: boolean;
};

export type LoadedAgents = {
  readonly agents: readonly AgentDefinition[];
  /** Files that were left out, and what was left out of others, a sentence each. */
  readonly warnings: readonly string[];
  /** What counts only once the project is trusted. */
  readonly ignored: readonly string[];
};

/** More files than anybody writes by hand. */
const maxFiles = 200;

/**
 * Agents written as Markdown with a head, those of the project before those of the user. A file that is wrong is left out and told.
 * An agent of a project nobody trusts is a text like its AGENTS.md: it names no model and no mode, runs and remembers nothing, and takes nobody else's name.
 */
export async function loadAgentFiles({ root, outriderHome, userHome, trusted, ...places }: AgentPlaces): Promise<LoadedAgents> {
  const claudeHome = places.claudeHome ?? (userHome && join(userHome, ".claude"));
  const notes: Notes = { warnings: [], ignored: [] };
  const own = [...(outriderHome ? [join(outriderHome, "agents")] : []), ...(claudeHome ? [join(claudeHome, "agents")] : [])];
  const user = await loadFolders(own, { notes, within: undefined, shownFrom: undefined });
  const folders = [".outrider", ".agents", ".claude"].map((name) => join(root, name, "agents"));
  const project = await loadFolders(
    folders.filter((folder) => !own.includes(folder)), // a home directory is no project
    { notes, within: root, shownFrom: root },
  );
  const allowed = trusted ? project : withoutSay(project, { notes, taken: mergeAgents([user, builtinAgents]) });
  const agents = mergeAgents([allowed, user]);
  return { agents, ...notes, warnings: [...notes.warnings, ...agents.flatMap(unknownToolsOf)] };
}

type Notes = { readonly warnings: string[]; readonly ignored: string[] };
type Reading = { readonly notes: Notes; readonly within: string | undefined; readonly shownFrom: string | undefined };

async function loadFolders(folders: readonly string[], reading: Reading): Promise<AgentDefinition[]> {
  const agents: AgentDefinition[] = [];
  for (const path of folders.flatMap((folder) => markdownIn(folder, reading.notes))) {
    const agent = await loadAgentFile(path, reading);
    if (agent) agents.push(agent);
  }
  return mergeAgents([agents]);
}

function markdownIn(folder: string, { warnings }: Notes): string[] {
  const files = filesBelow(folder);
  if (files.length > maxFiles) warnings.push(`${folder} holds ${files.length} agents; the first ${maxFiles} by name were read`);
  return files.slice(0, maxFiles);
}

/** How deep folders are looked into, and how many files are looked at in one place. */
const maxDepth = 8;
const lookedAt = 5000;

/** By name, those of the folder before those of the folders in it. A folder behind a link is not looked into. */
function filesBelow(folder: string, depth = 1): string[] {
  const entries = entriesIn(folder);
  const files = entries
    .filter((entry) => !entry.isDirectory() && entry.name.endsWith(".md"))
    .map(({ name }) => join(folder, name));
  for (const entry of depth < maxDepth ? entries.filter((entry) => entry.isDirectory()) : []) {
    if (files.length >= lookedAt) break;
    files.push(...filesBelow(join(folder, entry.name), depth + 1));
  }
  return files;
}

function entriesIn(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch {
    return []; // nearly nobody has all of these folders
  }
}

/** One agent; nothing for a file that is wrong, which is told. */
export async function loadAgentFile(path: string, { notes, within, shownFrom }: Reading): Promise<AgentDefinition | undefined> {
  const shown = shownFrom && path.startsWith(shownFrom + sep) ? path.slice(shownFrom.length + 1) : path;
  const file = openInstructionFile(path, within);
  if (file.type === "absent") return undefined;
  if (file.type === "refused") return void notes.warnings.push(`${shown} was left out: ${file.reason}`);
  if (file.cut > 0)
    return void notes.warnings.push(`${shown} was left out: it is longer than an agent may be, by ${file.cut} bytes`);
  try {
    const { text, invisible } = withoutHiddenText(file.text);
    if (invisible > 0) notes.warnings.push(`${invisible} invisible characters were taken out of ${shown}`);
    const { attributes, body } = await parseFrontmatter(text, shown);
    const { name = basename(path, ".md"), ...fields } = attributes;
    const origin = { name: typeof name === "string" ? name : "", source: path, where: shown };
    const { agent, warnings } = parseAgent({ ...fields, prompt: body.trim() }, origin);
    notes.warnings.push(...warnings);
    return agent;
  } catch (error) {
    notes.warnings.push(`${toRuntimeError(error).message}; the agent was left out`);
    return undefined;
  }
}

function withoutSay(
  project: readonly AgentDefinition[],
  { notes, taken }: { readonly notes: Notes; readonly taken: readonly AgentDefinition[] },
): AgentDefinition[] {
  const names = new Set(taken.map(({ name }) => name));
  return project.flatMap(({ model, permissionMode, hooks, mcpServers, memory, initialPrompt, ...agent }) => {
    if (names.has(agent.name)) {
      notes.ignored.push(`the agent ${agent.name} of ${agent.source}, since there is another one of that name`);
      return [];
    }
    if (model !== undefined) notes.ignored.push(`the model of the agent ${agent.name} of ${agent.source}`);
    if (permissionMode !== undefined) notes.ignored.push(`the permission mode of the agent ${agent.name} of ${agent.source}`);
    for (const [what, value] of Object.entries({ hooks, mcpServers, memory, initialPrompt }))
      if (value !== undefined) notes.ignored.push(`${what} of the agent ${agent.name} of ${agent.source}`);
    return [agent];
  });
}
