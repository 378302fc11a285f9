import type { Policy } from "../permissions/policy.ts";
import { carefulVariables } from "../workspace/environment.ts";
import { type CommandPlaces, type OpenedWorkspace, openWorkspace } from "../workspace/open-workspace.ts";
import { ExportedVariables } from "../workspace/exported-variables.ts";
import type { OwnFolder } from "../workspace/own-folder.ts";
import type { SessionOptions } from "./session-options.ts";
import { SessionPolicy } from "./session-policy.ts";

/** Where a session works, and what it may do there. */
export type SessionGround = {
  readonly opened: OpenedWorkspace;
  readonly rules: SessionPolicy;
  /** What hooks have set for commands. */
  readonly exported: ExportedVariables;
};

type Given = {
  /** What commands find in their environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly home: string | undefined;
  readonly overflowDirectory: string;
  /** For temporary files of commands, where the session has a folder of its own. */
  readonly temporaryFolder?: OwnFolder | undefined;
};

export async function openGround(options: SessionOptions, given: Given): Promise<SessionGround> {
  const { env, home, overflowDirectory, temporaryFolder } = given;
  const boxed = options.permissionMode === "sandboxed" ? await import("./files/sandboxed-mode.ts") : undefined;
  const exported = new ExportedVariables(options.passEnv);
  let policy: SessionPolicy | undefined;
  const opened = await openWorkspace({
    root: options.cwd,
    env,
    carefulEnv: carefulVariables(env, options.passEnv ?? []),
    exported,
    untrusted: options.untrusted,
    overflowDirectory,
    temporaryFolder,
    ...(home !== undefined && { home }),
    sandbox: boxed?.sandboxOf(options) ?? options.sandbox,
    livesInBox: () => policy?.current.mode === "sandboxed" || options.sandbox?.mode === "require",
    sandboxClient: options.sandboxClient,
    editor: options.editor,
    workspaceManifest: options.workspaceManifest,
    sandboxSnapshotId: options.sandboxSnapshotId,
    isPublicAddress: async (address) => (await import("../tools/web-address.ts")).isPublicAddress(address), // few boxes reach anything
  });
  boxed?.refuseWithoutBox(options, opened.places);
  policy = await SessionPolicy.load({
    mode: options.permissionMode ?? "default",
    allowedTools: options.allowedTools,
    disallowedTools: options.disallowedTools,
    permissions: options.permissions,
    workspace: opened.workspace,
    env,
    home,
    readable: [overflowDirectory, ...(temporaryFolder ? [temporaryFolder.path] : [])],
    box: boxOf(options, opened.places),
  });
  return { opened, rules: policy, exported };
}

function boxOf(options: SessionOptions, places: CommandPlaces): Policy["box"] {
  if (places.sandbox === "none") return undefined;
  return async () => {
    const { boxReach, otherMachine } = await import("./files/sandboxed-mode.ts");
    return places.sandbox === "client" ? otherMachine : boxReach(options.sandbox);
  };
}
