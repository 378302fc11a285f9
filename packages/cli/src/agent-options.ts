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

export type FoundAgents = {
  readonly options: Pick<SessionOptions, "agents" | "builtinAgents">;
  readonly warnings: readonly string[];
  /** What counts only once the project is trusted. */
  readonly ignored: readonly string[];
};

/** Agents of the command line, the project and the user; with `--bare` only those of the command line. */
export async function findAgents(flags: FlagValues, places: AgentPlaces): Promise<FoundAgents> {
  const own = flags.agents === undefined ? noAgents : await parseOwnAgents(flags.agents);
  if (flags.bare) return { options: { agents: own.agents }, warnings: own.warnings, ignored: [] };
  const { agents, warnings, ignored } = flags["setting-sources"] === "" ? noAgents : await agentsInFiles(places);
  const options = { agents: [...own.agents, ...agents], builtinAgents: true };
  return { options, warnings: [...own.warnings, ...warnings], ignored };
}

type Found = {
  readonly agents: readonly AgentDefinition[];
  readonly warnings: readonly string[];
  readonly ignored: readonly string[];
};

const noAgents: Found = { agents: [], warnings: [], ignored: [] };

async function parseOwnAgents(text: string): Promise<Found> {
  const { parseAgents } = await import("@outrider/runtime/admin");
  let value: unknown;
  try {
    value = JSON.parse(text.trim().startsWith("{") ? text : readTextFile(text, "--agents"));
  } catch (error) {
    if (error instanceof RuntimeError) throw error;
    throw new RuntimeError("usage", "--agents is no JSON");
  }
  return { ...parseAgents(value, "--agents"), ignored: [] };
}

async function agentsInFiles({ home, userHome, root, trust }: AgentPlaces): Promise<Found> {
  const folders = [home, join(userHome, ".claude"), ...[".outrider", ".agents", ".claude"].map((name) => join(root, name))];
  if (!folders.some((folder) => existsSync(join(folder, "agents")))) return noAgents;
  const { loadAgentFiles } = await import("@outrider/runtime/admin");
  const { trusted } = await trust();
  return await loadAgentFiles({ root, outriderHome: home, userHome, trusted });
}
