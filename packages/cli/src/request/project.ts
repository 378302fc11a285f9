import { resolve } from "node:path";
import { existingFolder, openProject, parseSettingSources, type SettingsLayer, surroundingsOf } from "@outrider/runtime/host";
import type { TrustJudgement } from "@outrider/runtime/admin";

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
  readonly claudeHome: string | undefined;
  readonly layers: readonly SettingsLayer[];
  readonly trust: TrustJudgement;
};

/** The same way to settings and trust that a run takes. */
export async function lookAtProject({ cwd = ".", settings, settingSources, trustProject }: ProjectFlags): Promise<Project> {
  const around = surroundingsOf();
  const sources = settingSources === undefined ? undefined : parseSettingSources(settingSources);
  const request = {
    cwd: existingFolder("--cwd", resolve(cwd)),
    settings,
    settingsName: "--settings",
    settingSources: sources,
    trustProject: trustProject || undefined,
  };
  const project = await openProject(request, around);
  const { userHome: home, outriderHome, claudeHome } = around;
  return { ...project, home, outriderHome, claudeHome, trust: await project.trust() };
}
