import { existsSync } from "node:fs";
import { join } from "node:path";
import type { SessionOptions } from "../session/session-options.ts";
import type { AgentDefinition } from "../tasks/agent-definition.ts";
import type { LoadedAgents } from "../tasks/agent-files.ts";
import { isOn } from "../settings/claude-variables.ts";
import type { Project } from "./project.ts";
import type { SessionRequest } from "./session-request.ts";
import type { Surroundings } from "./surroundings.ts";

export type FoundAgents = {
  readonly options: Pick<SessionOptions, "agents" | "builtinAgents">;
  readonly warnings: readonly string[];
  /** What counts only once the project is trusted. */
  readonly ignored: readonly string[];
};

type Ground = { readonly project: Project; readonly around: Surroundings };

/** Agents of the request, the project and the user; those of the request alone where the rest is left out. */
export async function findAgents(
  { options, without, settingSources }: SessionRequest,
  { project, around }: Ground,
): Promise<FoundAgents> {
  const { agents: own = [], builtinAgents } = options ?? {};
  if (without?.includes("agents")) return { options: { agents: own, builtinAgents }, warnings: [], ignored: [] };
  const { agents, warnings, ignored } = settingSources?.length === 0 ? noAgents : await agentsInFiles(project, around);
  const all = [...own, ...agents];
  return {
    options: {
      agents: all.some(({ memory }) => memory) ? await withFolders(all, { project, around }) : all,
      builtinAgents: builtinAgents ?? !isOn(around.env, "CLAUDE_AGENT_SDK_DISABLE_BUILTIN_AGENTS"),
    },
    warnings,
    ignored,
  };
}

async function withFolders(
  agents: readonly AgentDefinition[],
  { project: { root }, around: { outriderHome, userHome, claudeHome = join(userHome, ".claude") } }: Ground,
): Promise<AgentDefinition[]> {
  const { withMemoryFolder } = await import("../tasks/agent-memory.ts");
  return agents.map((agent) => withMemoryFolder(agent, { root, outriderHome, claudeHome }));
}

const noAgents: LoadedAgents = { agents: [], warnings: [], ignored: [] };

async function agentsInFiles(
  { root, trust }: Project,
  { outriderHome, userHome, claudeHome = join(userHome, ".claude") }: Surroundings,
): Promise<LoadedAgents> {
  const own = [".outrider", ".agents", ".claude"].map((name) => join(root, name));
  const folders = [outriderHome, claudeHome, ...own];
  if (!folders.some((folder) => existsSync(join(folder, "agents")))) return noAgents;
  const { loadAgentFiles } = await import("../tasks/agent-files.ts");
  const { trusted } = await trust();
  return await loadAgentFiles({ root, outriderHome, userHome, claudeHome, trusted });
}
