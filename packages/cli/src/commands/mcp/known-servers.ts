import { openProject, resolveProject, surroundingsOf } from "@outrider/runtime/host";
import { childEnvironment, planServers, type ServerPlan, type WrittenServer, writtenServers } from "@outrider/runtime/admin";
import { lookAtProject } from "../../request/project.ts";

export type KnownServers = {
  /** Those that a run in this folder would start. */
  readonly plan: ServerPlan;
  readonly written: readonly WrittenServer[];
  readonly cwd: string;
  readonly isTrusted: boolean;
  /** What servers that are programs see. */
  readonly env: Readonly<Record<string, string>>;
};

/** The same way to servers that a run takes. */
export async function knownServers(cwd: string | undefined): Promise<KnownServers> {
  const around = surroundingsOf();
  const looked = await lookAtProject({ cwd });
  const project = await openProject({ cwd: looked.cwd }, around);
  const resolved = await resolveProject(project);
  const plan = await planServers({}, { resolved, project, around });
  const { env = {} } = childEnvironment({}, resolved, { keySource: "none", around });
  return { plan, written: writtenServers(looked), cwd: looked.cwd, isTrusted: looked.trust.trusted, env };
}
