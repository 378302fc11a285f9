import { existsSync } from "node:fs";
import { join } from "node:path";
import type { ReadCheck } from "../permissions/read-check.ts";
import type { SessionOptions } from "../session/session-options.ts";
import type { Settings } from "../settings/settings.ts";
import { branchOf } from "./git-facts.ts";
import type { Project } from "./project.ts";
import type { SessionRequest } from "./session-request.ts";
import type { Surroundings } from "./surroundings.ts";

type NotesPlace = {
  readonly around: Surroundings;
  readonly project: Project;
  readonly settings: Settings;
  /** Claude Code's own memory of the project is not to be read. */
  readonly withoutClaude: boolean;
  /** Refuses files that rules keep from the model. */
  readonly mayRead: ReadCheck | undefined;
};

/** What the project says about itself beside its instructions; with them it is left out. */
export async function projectNotes(
  { without, settingSources: sources }: SessionRequest,
  { around, project, settings, withoutClaude, mayRead }: NotesPlace,
): Promise<Pick<SessionOptions, "projectMemory" | "taskContext" | "memory">> {
  if (without?.includes("instructions")) return {};
  const wantsClaude = settings.autoMemoryEnabled === true && !withoutClaude && (!sources || sources.includes("user"));
  const claude = wantsClaude ? await claudeIndex(around, project, mayRead) : "";
  const isOwn = !sources || sources.includes("project") || sources.includes("local");
  if (!isOwn) return { projectMemory: claude ? `# Project Memory\n\n${claude}` : undefined };
  const has = (name: string): boolean => existsSync(join(project.root, name));
  const memory = has(".outrider/memory/MEMORY.md") ? await import("../context/memory-index.ts") : undefined;
  const tasks = has(".agents/tasks") ? await import("../context/task-context.ts") : undefined;
  const found = tasks?.loadTaskContext(project.root, { currentBranch: branchOf(project.cwd), mayRead }) ?? [];
  const index = memory?.loadMemoryIndex(project.root, mayRead) ?? "";
  return {
    projectMemory: [index || (claude && "# Project Memory"), claude].filter(Boolean).join("\n\n") || undefined,
    taskContext: tasks?.formatTaskContext(found) || undefined,
    memory: { root: project.root, isOffered: has(".outrider/memory") },
  };
}

/** What Claude Code has noted about the project, in a folder of the user's. */
async function claudeIndex(
  { userHome, claudeHome = join(userHome, ".claude") }: Surroundings,
  { root }: Project,
  mayRead: ReadCheck | undefined,
): Promise<string> {
  const folder = join(claudeHome, "projects", root.replace(/[^a-zA-Z0-9]/g, "-"), "memory");
  const path = join(folder, "MEMORY.md");
  return existsSync(path) ? (await import("../context/memory-index.ts")).loadIndexFile(path, { within: folder, mayRead }) : "";
}
