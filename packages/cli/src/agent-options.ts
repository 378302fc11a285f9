import { existsSync } from "node:fs";
import { join } from "node:path";
import { type AgentDefinition, RuntimeError, type SessionOptions } from "@outrider/runtime";
import type { TrustJudgement } from "@outrider/runtime/admin";
import type { FlagValues } from "./flags.ts";
import { readTextFile } from "./read-text-file.ts";

export type AgentPlaces = {
  readonly home: string;
  readonly userHome: string;
  readonly root: string;
  readonly trust: () => Promise<TrustJudgement>;
};

/** Agents of the command line, the project and the user; with `--bare` only those of the command line. */
export async function agentOptions(
  flags: FlagValues,
  places: AgentPlaces,
): Promise<Pick<SessionOptions, "agents" | "builtinAgents">> {
  const own = flags.agents === undefined ? [] : await parseOwnAgents(flags.agents);
  if (flags.bare) return { agents: own };
  const agents = await agentsInFiles(places);
  return { agents: [...own, ...agents], builtinAgents: true };
}

async function parseOwnAgents(text: string): Promise<readonly AgentDefinition[]> {
  const { parseAgents } = await import("@outrider/runtime/admin");
  try {
    return parseAgents(JSON.parse(text.trim().startsWith("{") ? text : readTextFile(text, "--agents")), "--agents").agents;
  } catch (error) {
    if (error instanceof RuntimeError) throw error;
    throw new RuntimeError("usage", "--agents is no JSON");
  }
}

async function agentsInFiles({ home, userHome, root, trust }: AgentPlaces): Promise<readonly AgentDefinition[]> {
  const folders = [home, join(userHome, ".claude"), ...[".outrider", ".agents", ".claude"].map((name) => join(root, name))];
  if (!folders.some((folder) => existsSync(join(folder, "agents")))) return [];
  const { loadAgentFiles } = await import("@outrider/runtime/admin");
  const { trusted } = await trust();
  return (await loadAgentFiles({ root, outriderHome: home, userHome, trusted })).agents;
}
