import { createLocalWorkspace, type LocalWorkspaceOptions } from "./local.ts";
import type { SandboxOptions } from "./sandbox.ts";
import type { SandboxClient } from "./sandbox-client.ts";
import type { Workspace } from "./workspace.ts";
import type { WorkspaceManifest } from "./workspace-manifest.ts";

export type OpenWorkspaceOptions = LocalWorkspaceOptions & {
  readonly sandbox?: SandboxOptions | undefined;
  /** Another machine; commands and files are then there, not here. */
  readonly sandboxClient?: SandboxClient | undefined;
  /** What a fresh sandbox of the client is to hold. */
  readonly workspaceManifest?: WorkspaceManifest | undefined;
  /** The state the client's sandbox is to be brought to; the manifest is not applied then. */
  readonly sandboxSnapshotId?: string | undefined;
  readonly isPublicAddress: (address: string) => boolean;
};

export type OpenedWorkspace = {
  readonly workspace: Workspace;
  /** What commands are boxed in, as far as that is known before the first one. */
  readonly sandbox?: string;
  readonly warnings: readonly string[];
  /** What turns out only when commands run. */
  onWarning(listener: (message: string) => void): void;
};

/** The machine a session works on: this one, this one with every command in a box, or another one. */
export async function openWorkspace(options: OpenWorkspaceOptions): Promise<OpenedWorkspace> {
  let listener = (_message: string): void => {};
  const heard = {
    onWarning(next: (message: string) => void): void {
      listener = next;
    },
  };
  if (options.sandboxClient) {
    return { workspace: await openClient(options.sandboxClient, options), sandbox: "client", warnings: [], ...heard };
  }
  const local = createLocalWorkspace(options);
  const { sandbox } = options;
  if (sandbox === undefined || sandbox.mode === "off") return { workspace: local, warnings: [], ...heard };

  const { createSandboxedWorkspace } = await import("./sandbox.ts");
  const { findBubblewrap } = await import("./detect-sandbox.ts");
  const workspace = await createSandboxedWorkspace({
    sandbox,
    local,
    home: options.home ?? options.env["HOME"],
    env: options.env,
    overflowDirectory: options.overflowDirectory,
    isPublicAddress: options.isPublicAddress,
    onWarning: (message) => listener(message),
  });
  const isInstalled = findBubblewrap() !== undefined;
  if (!isInstalled) {
    return { workspace: local, warnings: ["Commands run without a sandbox: bubblewrap is not installed."], ...heard };
  }
  return { workspace, sandbox: "bubblewrap", warnings: [], ...heard };
}

async function openClient(client: SandboxClient, options: OpenWorkspaceOptions): Promise<Workspace> {
  const { createClientWorkspace } = await import("./client-workspace.ts");
  const { applyWorkspaceManifest } = await import("./workspace-manifest.ts");
  const { workspaceManifest: manifest, sandboxSnapshotId: snapshotId } = options;
  const canRestore = snapshotId !== undefined && client.restore !== undefined;
  if (canRestore) await client.restore?.(snapshotId);
  else if (manifest) await applyWorkspaceManifest(client, manifest, { hostRoot: options.root });
  return createClientWorkspace({
    client,
    local: createLocalWorkspace(options),
    overflowDirectory: options.overflowDirectory,
    ...(manifest?.root !== undefined && { root: manifest.root }),
  });
}
