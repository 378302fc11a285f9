import type { Policy } from "../permissions/policy.ts";
import { carefulVariables } from "../workspace/environment.ts";
import { type CommandPlaces, type OpenedWorkspace, openWorkspace } from "../workspace/open-workspace.ts";
import type { SessionOptions } from "./session-options.ts";
import { SessionPolicy } from "./session-policy.ts";

/** Where a session works, and what it may do there. */
export type SessionGround = { readonly opened: OpenedWorkspace; readonly rules: SessionPolicy };

type Given = {
  /** What commands find in their environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly home: string | undefined;
  readonly overflowDirectory: string;
};

export async function openGround(options: SessionOptions, { env, home, overflowDirectory }: Given): Promise<SessionGround> {
  const boxed = options.permissionMode === "sandboxed" ? await import("./files/sandboxed-mode.ts") : undefined;
  let policy: SessionPolicy | undefined;
  const opened = await openWorkspace({
    root: options.cwd,
    env,
    carefulEnv: carefulVariables(env, options.passEnv ?? []),
    untrusted: options.untrusted,
    overflowDirectory,
    ...(home !== undefined && { home }),
    sandbox: boxed?.sandboxOf(options) ?? options.sandbox,
    livesInBox: () => policy?.current.mode === "sandboxed" || options.sandbox?.mode === "require",
    sandboxClient: options.sandboxClient,
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
    overflowDirectory,
    box: boxOf(options, opened.places),
  });
  return { opened, rules: policy };
}

function boxOf(options: SessionOptions, places: CommandPlaces): Policy["box"] {
  if (places.sandbox === "none") return undefined;
  return async () => {
    const { boxReach, otherMachine } = await import("./files/sandboxed-mode.ts");
    return places.sandbox === "client" ? otherMachine : boxReach(options.sandbox);
  };
}
