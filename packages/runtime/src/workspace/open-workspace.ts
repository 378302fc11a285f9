import { resolve } from "node:path";
import { findBubblewrap } from "./find-bubblewrap.ts";
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

  const open = async (): Promise<Workspace> => {
    const { createSandboxedWorkspace } = await import("./sandbox.ts");
    return await createSandboxedWorkspace({
      sandbox,
      local,
      home: options.home ?? options.env["HOME"],
      env: options.env,
      overflowDirectory: options.overflowDirectory,
      isPublicAddress: options.isPublicAddress,
      onWarning: (message) => listener(message),
    });
  };
  const opened = needsNoCheck(sandbox, local.root) ? undefined : await open();
  const isInstalled = findBubblewrap() !== undefined;
  if (!isInstalled) {
    return { workspace: local, warnings: ["Commands run without a sandbox: bubblewrap is not installed."], ...heard };
  }
  return { workspace: opened ?? boxOnDemand(local, options, open), sandbox: "bubblewrap", warnings: [], ...heard };
}

/** What somebody has set is looked at before anything runs, and so is whether there is a box where one is required. */
function needsNoCheck({ mode, network, allowWrite }: SandboxOptions, root: string): boolean {
  return mode === "auto" && root !== "/" && !network?.domains?.length && !allowWrite?.length;
}

/** The box, made ready when the first command runs or a file of its /tmp is asked for: many runs do neither. */
function boxOnDemand(local: Workspace, { overflowDirectory }: OpenWorkspaceOptions, open: () => Promise<Workspace>): Workspace {
  let boxed: Promise<Workspace> | undefined;
  const box = (): Promise<Workspace> => {
    boxed ??= open();
    return boxed;
  };
  const own = [local.root, resolve(local.root, overflowDirectory)];
  const at = async (path: string): Promise<Workspace> => {
    const full = resolve(local.root, path);
    const isElsewhere = !full.startsWith("/tmp/") || own.some((folder) => full === folder || full.startsWith(`${folder}/`));
    return isElsewhere && full !== "/tmp" ? local : await box();
  };
  let stopped: readonly string[] = [];
  return {
    root: local.root,
    resolve: async (path) => (await at(path)).resolve(path),
    stat: async (path, use) => (await at(path)).stat(path, use),
    readFile: async (path, options) => (await at(path)).readFile(path, options),
    writeFile: async (path, content, use) => (await at(path)).writeFile(path, content, use),
    readDirectory: async (path, use) => (await at(path)).readDirectory(path, use),
    run: async (command) => (await box()).run(command),
    saveOverflow: (name, content) => local.saveOverflow(name, content),
    async close() {
      const open = (await boxed?.catch(() => undefined)) ?? local;
      await open.close();
      stopped = open.stopped?.() ?? [];
    },
    stopped: () => stopped,
  };
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
