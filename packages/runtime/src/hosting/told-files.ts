import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { type Instructions, loadInstructions } from "../context/instructions.ts";
import type { ReadCheck } from "../permissions/read-check.ts";
import type { SessionOptions } from "../session/session-options.ts";
import { isOn } from "../settings/claude-variables.ts";
import type { Settings } from "../settings/settings.ts";
import { defined } from "../util/defined.ts";
import type { Project } from "./project.ts";
import type { SessionRequest } from "./session-request.ts";
import type { Surroundings } from "./surroundings.ts";

type FilesPlace = {
  readonly around: Surroundings;
  readonly project: Project;
  readonly settings: Settings;
  /** The variables around, and those of settings that count. */
  readonly said: Surroundings["env"];
};

type ToldFiles = Pick<SessionOptions, "instructions" | "projectMemory" | "taskContext" | "memory">;

/** The files whose text every session begins with. Those that the rules among `options` keep from the model are left out. */
export async function toldFiles(request: SessionRequest, place: FilesPlace, options: SessionOptions): Promise<ToldFiles> {
  const { permissions: { deny = [], ask = [] } = {}, disallowedTools = [] } = options;
  const hasRules = deny.length + ask.length + disallowedTools.length > 0;
  const mayRead = hasRules ? (await import("./read-rules.ts")).readCheckOf(options) : undefined;
  return { instructions: instructionsOf(request, place, mayRead), ...(await notesOf(request, place, mayRead)) };
}

/** What a host gives in their place. */
export function ownFiles({ instructions, projectMemory, taskContext, memory }: ToldFiles): ToldFiles {
  return defined({ instructions, projectMemory, taskContext, memory });
}

/** Whose settings files count says whose instruction files do. */
function instructionsOf(
  { options, without, settingSources: sources }: SessionRequest,
  { around, project, said }: FilesPlace,
  mayRead: ReadCheck | undefined,
): Instructions | undefined {
  if (without?.includes("instructions") || isOn(said, "CLAUDE_CODE_DISABLE_CLAUDE_MDS")) return undefined;
  const { userHome, outriderHome, claudeHome } = around;
  const scopes = (["user", "project"] as const).filter(
    (scope) => !sources || sources.includes(scope) || (scope === "project" && sources.includes("local")),
  );
  const isBesideWanted = isOn(said, "CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD");
  const beside = isBesideWanted ? options?.permissions?.additionalDirectories : undefined;
  return loadInstructions({
    cwd: project.cwd,
    root: project.root,
    userHome,
    outriderHome,
    claudeHome,
    scopes,
    ...defined({ mayRead, beside: beside?.map((path) => resolve(around.cwd, path)) }),
  });
}

/** What the project says about itself beside its instructions, where there is anything. */
async function notesOf(request: SessionRequest, place: FilesPlace, mayRead: ReadCheck | undefined): Promise<ToldFiles> {
  const { project, settings, said } = place;
  const hasNotes =
    settings.autoMemoryEnabled || [".outrider/memory", ".agents/tasks"].some((name) => existsSync(join(project.root, name)));
  if (!hasNotes) return request.bare ? {} : { memory: { root: project.root, isOffered: false } };
  const { projectNotes } = await import("./project-notes.ts");
  return await projectNotes(request, { ...place, mayRead, withoutClaude: isOn(said, "CLAUDE_CODE_DISABLE_AUTO_MEMORY") });
}
