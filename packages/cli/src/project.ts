import { realpathSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { resolve } from "node:path";
import { RuntimeError } from "@outrider/runtime";
import { findProjectRoot, loadLayers, outriderHome, parseSettingSources, type SettingsLayer } from "@outrider/runtime/host";
import { judgeTrust, type TrustJudgement } from "@outrider/runtime/admin";

export type ProjectFlags = {
  readonly cwd?: string | undefined;
  readonly settings?: string | undefined;
  readonly settingSources?: string | undefined;
  readonly trustProject?: boolean;
};

/** Where a run would start, what its settings files say, and whether the project's own count. */
export type Project = {
  readonly cwd: string;
  readonly root: string;
  readonly home: string;
  readonly outriderHome: string;
  readonly layers: readonly SettingsLayer[];
  readonly trust: TrustJudgement;
};

/** The same way to settings and trust that a run takes. */
export async function lookAtProject(flags: ProjectFlags): Promise<Project> {
  const { env } = process;
  const home = env["HOME"] || homedir();
  const cwd = workingDirectory(flags.cwd);
  const root = findProjectRoot(cwd, home);
  const place = outriderHome(env);
  const layers = await loadLayers({
    outriderHome: place,
    userHome: home,
    root,
    ...(flags.settingSources !== undefined && { sources: parseSettingSources(flags.settingSources) }),
    ...(flags.settings !== undefined && { inline: flags.settings }),
  });
  const trust = await judgeTrust({ outriderHome: place, root, layers, env, flag: flags.trustProject ?? false });
  return { cwd, root, home, outriderHome: place, layers, trust };
}

function workingDirectory(flag: string | undefined): string {
  const path = resolve(flag ?? ".");
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat?.isDirectory()) throw new RuntimeError("usage", `--cwd: ${path} is ${stat ? "no directory" : "not there"}`);
  return realpathSync(path);
}
