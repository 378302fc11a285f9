import { realpathSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { RuntimeError } from "../protocol/errors.ts";
import { findProjectRoot, loadLayers, type SettingsLayer } from "../settings/layers.ts";
import { resolveLayers } from "../settings/load-settings.ts";
import { noSettings, type ResolvedSettings, type Settings } from "../settings/settings.ts";
import type { TrustJudgement } from "../settings/trust.ts";
import type { SessionRequest } from "./session-request.ts";
import type { Surroundings } from "./surroundings.ts";

/** The folder a session works in, and what settings files say about it. */
export type Project = {
  readonly cwd: string;
  /** The top of the project, to which its settings belong. */
  readonly root: string;
  readonly layers: readonly SettingsLayer[];
  /** Looked up once, when something depends on it: it reads every file that has a part in it. */
  readonly trust: () => Promise<TrustJudgement>;
  /** What was found, if something depended on it. */
  readonly judged: () => Promise<TrustJudgement | undefined>;
};

export type ProjectRequest = Pick<
  SessionRequest,
  "cwd" | "bare" | "settings" | "settingsName" | "settingSources" | "trustProject"
>;

/** The one way to settings and trust, for sessions and for those who look after them. */
export async function openProject(request: ProjectRequest, around: Surroundings): Promise<Project> {
  const { env, outriderHome, userHome, claudeHome } = around;
  const cwd = existingFolder("cwd", resolve(around.cwd, request.cwd ?? "."));
  const root = findProjectRoot(cwd, userHome);
  const layers = await loadLayers({
    outriderHome,
    userHome,
    claudeHome,
    root,
    sources: request.bare ? [] : request.settingSources,
    inline: request.settings,
    inlineName: request.settingsName,
  });
  const trust = judgedOnce(async () => {
    const { judgeTrust } = await import("../settings/trust.ts");
    const sources = request.bare ? undefined : request.settingSources;
    return await judgeTrust({ outriderHome, root, layers, env, flag: request.trustProject, sources });
  });
  return { cwd, root, layers, ...trust };
}

/** What holds of the settings files: of an untrusted project's only what forbids. */
export async function resolveProject({ layers, trust }: Project): Promise<ResolvedSettings> {
  if (layers.length === 0) return noSettings;
  const isOfProject = layers.some(({ scope }) => scope === "project" || scope === "local");
  return await resolveLayers(layers, { trusted: isOfProject && (await trust()).trusted });
}

/** Which settings have a say in what the model is told: with `--bare` only those given for this once, so that it is the same on every machine. */
export async function promptSettings(
  { without }: Pick<SessionRequest, "without">,
  project: Project,
  { settings }: ResolvedSettings,
): Promise<Pick<Settings, "language" | "outputStyle">> {
  if (!without?.includes("instructions")) return settings;
  return (await resolveProject({ ...project, layers: project.layers.filter(({ scope }) => scope === "flag") })).settings;
}

/** The real place of a folder; refused when it is none. */
export function existingFolder(name: string, path: string): string {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat?.isDirectory()) throw new RuntimeError("usage", `${name}: ${path} is ${stat ? "no directory" : "not there"}`);
  return realpathSync(path);
}

/** A judgement that is made when it is first asked for, and whether it was. */
function judgedOnce(judge: () => Promise<TrustJudgement>): Pick<Project, "trust" | "judged"> {
  let result: Promise<TrustJudgement> | undefined;
  return {
    trust: () => {
      result ??= judge();
      return result;
    },
    judged: async () => await result,
  };
}
