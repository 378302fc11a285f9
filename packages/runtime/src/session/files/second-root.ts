import type { SessionDeps } from "../../engine/deps.ts";
import { policyAt } from "../../permissions/policy-at.ts";
import type { Workspace } from "../../workspace/workspace.ts";
import { outputsShown } from "../events/shown-outputs.ts";
import { type Given, groundOf } from "../session-policy.ts";
import type { SessionOptions } from "../session-options.ts";
import { TurnCheckpoints, type TurnKeeper } from "./turn-checkpoints.ts";

/** Another folder in which part of a session's work is done. */
export type SecondRoot = {
  readonly deps: SessionDeps;
  /** Keeps files as they were before this work, apart from those of the session. */
  readonly keeper: TurnKeeper | undefined;
  /** With everything that was started there. */
  close(): Promise<void>;
};

export type SecondRootSetting = Pick<SessionOptions, "checkpoints" | "sandboxClient"> &
  Pick<Given, "permissions"> & {
    /** What commands find in their environment now. */
    readonly env: () => Given["env"];
  };

/** The session's parts from `root` on: paths, box and processes, rules and checkpoints are those of that folder. */
export async function openSecondRoot(
  { root, taskId, prompt }: { root: string; taskId: string; prompt: string },
  deps: SessionDeps,
  { checkpoints, sandboxClient, env, permissions }: SecondRootSetting,
): Promise<SecondRoot> {
  const workspace: Workspace = outputsShown(await deps.workspace.at(root), deps.redactor);
  const ground = groundOf(workspace, { env: env(), roots: [deps.workspace.root, ...(permissions?.additionalDirectories ?? [])] });
  const kept =
    checkpoints && !sandboxClient
      ? new TurnCheckpoints(() => checkpoints(workspace.root), { resumed: false, past: () => [] })
      : undefined;
  return {
    deps: { ...deps, workspace, policy: () => ({ ...policyAt(deps.policy(), workspace.root), ...ground }) },
    keeper: kept?.forTurn({ turnId: taskId, prompt }),
    close: () => workspace.close(),
  };
}
