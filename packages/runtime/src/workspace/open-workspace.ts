import { resolve } from "node:path";
import type { Editor } from "./editor.ts";
import { knowSandbox } from "./known-sandbox.ts";
import { createLocalWorkspace, type LocalWorkspace, type LocalWorkspaceOptions } from "./local.ts";
import { withOtherRoots } from "./other-roots.ts";
import type { SandboxOptions } from "./sandbox.ts";
import type { SandboxClient } from "./sandbox-client.ts";
import { unboxedVariables } from "./unboxed-variables.ts";
import type { NetworkReach, ProgramCommand, Workspace } from "./workspace.ts";
import type { WorkspaceManifest } from "./workspace-manifest.ts";
import { isBoxRunningOver } from "./running-boxes.ts";
import { isInside } from "../util/is-inside.ts";

export type OpenWorkspaceOptions = LocalWorkspaceOptions & {
  readonly sandbox?: SandboxOptions | undefined;
  /** Another machine; commands and files are then there, not here. */
  readonly sandboxClient?: SandboxClient | undefined;
  /** What a fresh sandbox of the client is to hold. */
  readonly workspaceManifest?: WorkspaceManifest | undefined;
  /** The state the client's sandbox is to be brought to; the manifest is not applied then. */
  readonly sandboxSnapshotId?: string | undefined;
  /** Who shows files and programs of this machine to the user meanwhile. */
  readonly editor?: Editor | undefined;
  readonly isPublicAddress: (address: string) => boolean | Promise<boolean>;
  /** Do most commands run in the box? Asked each time: the mode may change. */
  readonly livesInBox?: () => boolean;
};

/** Where a session's commands run: what everybody is told about it. */
export type CommandPlaces = {
  readonly sandbox: "bubblewrap" | "client" | "none";
  /** `unasked`: what nothing but the mode lets run. */
  readonly boxed: "everything" | "unasked" | "nothing";
  /** That of commands in the box; the machine's where there is none. */
  readonly network: NetworkReach;
  /** Names of the variables that a command does not get, by what lets it run. */
  readonly withheld: (by: "mode" | "user") => readonly string[];
  /** Why there is no box. */
  readonly reason?: string;
};

export type OpenedWorkspace = {
  readonly workspace: Workspace;
  readonly places: CommandPlaces;
  readonly warnings: readonly string[];
  /** What turns out only when commands run. */
  onWarning(listener: (message: string) => void): void;
};

/** The machine a session works on: this one, this one with a box for commands, or another one. */
export async function openWorkspace(options: OpenWorkspaceOptions): Promise<OpenedWorkspace> {
  let listener = (_message: string): void => {};
  const warn = (message: string): void => listener(message);
  const heard = {
    warnings: [],
    onWarning(next: (message: string) => void): void {
      listener = next;
    },
  };
  if (options.sandboxClient) {
    const places: CommandPlaces = { sandbox: "client", boxed: "everything", network: "open", withheld: () => [] };
    return { workspace: await openClient(options.sandboxClient, options), places, ...heard };
  }
  const { sandbox, editor } = options;
  const alone = createLocalWorkspace(options);
  const local = editor ? (await import("./with-editor.ts")).withEditor(alone, editor, options) : alone;
  const careful = (): readonly string[] => options.carefulEnv?.().withheld ?? [];
  const unboxed = (reason: string): CommandPlaces => ({
    ...{ sandbox: "none", boxed: "nothing", network: "open", reason },
    withheld: (by) => (by === "user" && !options.untrusted ? [] : careful()),
  });
  if (sandbox === undefined) return { workspace: local, places: unboxed("none is set up"), ...heard };
  if (sandbox.mode === "off") return { workspace: local, places: unboxed("the sandbox is turned off"), ...heard };

  const inBox = (): string[] => [...new Set([...careful(), ...unboxedVariables.filter((name) => options.env[name])])].sort();
  const livesInBox = options.livesInBox ?? (() => sandbox.mode === "require");
  const open = async (local: LocalWorkspace, overflowDirectory: string): Promise<Workspace> => {
    const { createSandboxedWorkspace } = await import("./sandbox.ts");
    return await createSandboxedWorkspace({
      sandbox,
      local,
      home: options.home ?? options.env["HOME"],
      env: options.env,
      overflowDirectory,
      withheld: inBox,
      livesInBox,
      isPublicAddress: options.isPublicAddress,
      onWarning: warn,
    });
  };
  const opened = needsNoCheck(sandbox, local.root) ? undefined : await open(local, options.overflowDirectory);
  const known = await knowSandbox(local.root, sandbox.memoryFile);
  if (!known.works) {
    return { workspace: withoutBox(local, { reason: known.reason, warn }), places: unboxed(known.reason), ...heard };
  }
  const network = sandbox.network?.allowed ? "open" : sandbox.network?.domains?.length ? "domains" : "none";
  const boxed = sandbox.mode === "require" ? "everything" : "unasked";
  return {
    workspace: opened ?? boxOnDemand(local, { overflowDirectory: options.overflowDirectory, livesInBox, open }),
    places: {
      ...{ sandbox: "bubblewrap", boxed, network },
      withheld: (by) => (by === "user" && boxed === "unasked" ? unboxed("").withheld(by) : inBox()),
    },
    ...heard,
  };
}

/** What somebody has set is looked at before anything runs, and so is whether there is a box where one is required. */
function needsNoCheck({ mode, network, allowWrite }: SandboxOptions, root: string): boolean {
  return mode === "auto" && root !== "/" && !network?.domains?.length && !allowWrite?.length;
}

/** Where a box would have been only extra care: commands run without, and the first one says so. */
function withoutBox(local: Workspace, { reason, warn }: { reason: string; warn: (message: string) => void }): Workspace {
  let told = false;
  const tell = ({ unasked }: ProgramCommand): void => {
    if (told || unasked !== "whole") return;
    told = true;
    warn(`Commands run without a sandbox: ${reason}.`);
  };
  return {
    ...local,
    run(command) {
      tell(command);
      return local.run(command);
    },
    start(command) {
      tell(command);
      return local.start(command);
    },
    at: async (root) => withoutBox(await local.at(root), { reason, warn }),
  };
}

type OnDemand = {
  readonly overflowDirectory: string;
  readonly livesInBox: () => boolean;
  readonly open: (local: LocalWorkspace, overflowDirectory: string) => Promise<Workspace>;
};

/** The box, made ready when the first command needs it or a file of its /tmp is asked for: many runs do neither. */
function boxOnDemand(local: LocalWorkspace, { overflowDirectory, livesInBox, open }: OnDemand): Workspace {
  let boxed: Promise<Workspace> | undefined;
  const box = (): Promise<Workspace> => {
    boxed ??= open(local, overflowDirectory);
    return boxed;
  };
  const own = [local.root, resolve(local.root, overflowDirectory)];
  const at = async (path: string): Promise<Workspace> => {
    const full = resolve(local.root, path);
    const isElsewhere = !full.startsWith("/tmp/") || own.some((folder) => isInside(folder, full));
    if (isElsewhere && full !== "/tmp") return local;
    return boxed || livesInBox() ? await box() : local;
  };
  // Once there is a box it also decides about what runs outside: something in it may still live.
  const placeOf = async ({ unboxed, place }: ProgramCommand): Promise<Workspace> =>
    boxed === undefined && (unboxed || place === "outside") ? local : await box();
  let stopped: readonly string[] = [];
  const workspace: Omit<Workspace, "at"> = {
    root: local.root,
    resolve: async (path) => (await at(path)).resolve(path),
    stat: async (path, use) => (await at(path)).stat(path, use),
    readFile: async (path, options) => (await at(path)).readFile(path, options),
    writeFile: async (path, content, use) => (await at(path)).writeFile(path, content, use),
    removeFile: async (path, use) => (await at(path)).removeFile(path, use),
    readDirectory: async (path, use) => (await at(path)).readDirectory(path, use),
    run: async (command) => (await placeOf(command)).run(command),
    start: async (command) => (await placeOf(command)).start(command),
    saveOverflow: (name, content) => local.saveOverflow(name, content),
    async close() {
      const open = (await boxed?.catch(() => undefined)) ?? local;
      await open.close();
      stopped = open.stopped?.() ?? [];
    },
    stopped: () => stopped,
    ...(local.watch && { watch: local.watch }),
    endsProcesses: async () => (await local.endsProcesses?.()) ?? false,
    mayPathsMove: () => isBoxRunningOver(own),
  };
  return withOtherRoots<Workspace>(workspace, {
    overflowDirectory: resolve(local.root, overflowDirectory),
    open: async (other) => boxOnDemand(local.beside(other), { overflowDirectory: other.overflowDirectory, livesInBox, open }),
  });
}

async function openClient(client: SandboxClient, options: OpenWorkspaceOptions): Promise<Workspace> {
  const { createClientWorkspace } = await import("./client-workspace.ts");
  const { applyWorkspaceManifest } = await import("./workspace-manifest.ts");
  const { workspaceManifest: manifest, sandboxSnapshotId: snapshotId } = options;
  if (snapshotId !== undefined && client.restore) await (await import("./restore-sandbox.ts")).restoreSandbox(client, snapshotId);
  else if (manifest) await applyWorkspaceManifest(client, manifest, { hostRoot: options.root });
  return createClientWorkspace({
    client,
    local: createLocalWorkspace(options),
    overflowDirectory: options.overflowDirectory,
    ...(manifest?.root !== undefined && { root: manifest.root }),
  });
}
