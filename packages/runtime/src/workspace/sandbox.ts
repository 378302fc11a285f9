import { resolve as resolvePath } from "node:path";
import { RuntimeError } from "../protocol/errors.ts";
import { isBoxItself } from "./box/bubblewrap-arguments.ts";
import { Box } from "./box/box.ts";
import { writableDirectories } from "./box/box-plan.ts";
import { parseDomainRule } from "./box/domain-rules.ts";
import { isBoxRunningOver } from "./running-boxes.ts";
import { isInside } from "../util/is-inside.ts";
import type { SandboxLimits } from "./box/start-script.ts";
import { detectSandboxFor } from "./detect-sandbox.ts";
import type { LocalWorkspace } from "./local.ts";
import { withOtherRoots } from "./other-roots.ts";
import type { NetworkReach, ProgramCommand, Workspace } from "./workspace.ts";

export type SandboxOptions = {
  /**
   * `auto`: what nothing but the mode lets run is boxed where bubblewrap works, the rest runs outside. `require`: everything is boxed,
   * and nothing runs without. `off`: nothing is boxed.
   */
  readonly mode: "auto" | "require" | "off";
  /** None when absent. `allowed` is the network of the machine; `domains` are the only hosts that can be reached. */
  readonly network?: { readonly allowed?: boolean; readonly domains?: readonly string[] } | undefined;
  /** Directories beside the workspace, which must exist; `~/` is the home directory. */
  readonly allowWrite?: readonly string[] | undefined;
  /** Files and directories to hide beside homes and credentials. */
  readonly denyRead?: readonly string[] | undefined;
  /** Files and directories, where commands may write, that stay as they are. */
  readonly denyWrite?: readonly string[] | undefined;
  readonly limits?: SandboxLimits | undefined;
  /** A file that remembers that bubblewrap works here, so that not every start has to try it out. */
  readonly memoryFile?: string | undefined;
};

/** Is it for outside? What the user has let run is, unless everything is to be boxed. */
function runsOutside({ unboxed, place }: ProgramCommand, { mode }: SandboxOptions): boolean {
  return unboxed === true || mode === "off" || (place === "outside" && mode === "auto");
}

function networkOf({ network }: SandboxOptions): NetworkReach {
  if (network?.allowed) return "open";
  return network?.domains?.length ? "domains" : "none";
}

export type SandboxSetting = {
  readonly sandbox: SandboxOptions;
  /** The workspace of this machine. */
  readonly local: LocalWorkspace;
  readonly home: string | undefined;
  readonly env: Readonly<Record<string, string>>;
  readonly overflowDirectory: string;
  /** Names of the variables that commands in the box do not get. */
  readonly withheld?: () => readonly string[];
  /** Do most commands run in the box? Then new files below /tmp are meant to be in the box's own. They do when absent. */
  readonly livesInBox?: () => boolean;
  /** Whether listed domains may lead to this address. */
  readonly isPublicAddress: (address: string) => boolean | Promise<boolean>;
  /** What the user should know about, once each. */
  onWarning?(message: string): void;
};

/** This machine, with every program in a bubblewrap box of its own. Files are read and written as without. */
export async function createSandboxedWorkspace(setting: SandboxSetting): Promise<Workspace> {
  const { local, sandbox } = setting;
  const rules = (sandbox.network?.domains ?? []).map(parseDomainRule);
  const visible = [
    ...writableDirectories({ root: local.root, home: setting.home, allowWrite: sandbox.allowWrite ?? [] }),
    resolvePath(local.root, setting.overflowDirectory),
  ];
  let box: Promise<Box | undefined> | undefined;
  const openBox = async (): Promise<Box | undefined> => {
    const found = await detectSandboxFor(local.root);
    if (found.available) return new Box({ ...setting, bubblewrap: found, rules });
    if (sandbox.mode === "require") throw unavailable(found.reason);
    setting.onWarning?.(`Commands run without a sandbox: ${found.reason}.`);
    return undefined;
  };
  const boxOf = (): Promise<Box | undefined> => {
    box ??= openBox();
    return box;
  };
  if (sandbox.mode === "require") await boxOf();

  /** Commands in the box have a /tmp of their own; files are found where commands see them. */
  const place = async (path: string): Promise<string> => {
    const full = resolvePath(local.root, path);
    if (path.startsWith("~") || !isInside("/tmp", full) || visible.some((folder) => isInside(folder, full))) return path;
    const livesInBox = setting.livesInBox?.() ?? true;
    if (!livesInBox && !box) return path;
    return (await boxOf())?.placeOf(full, livesInBox ? "box" : "host") ?? path;
  };
  const placeProgram = async <Command extends ProgramCommand>(command: Command): Promise<{ box?: Box; program: Command }> => {
    if (runsOutside(command, sandbox)) {
      await (await box?.catch(() => undefined))?.settle();
      return { program: command };
    }
    const opened = await boxOf();
    if (!opened) return { program: command };
    command.onPlace?.({
      place: "box",
      network: networkOf(sandbox),
      withheld: setting.withheld?.() ?? [],
      mayLeave: sandbox.mode === "auto",
    });
    return { box: opened, program: { ...command, onPlace: undefined, place: "box" } };
  };

  const workspace: Omit<Workspace, "at"> = {
    root: local.root,
    resolve: async (path) => local.resolve(await place(path)),
    stat: async (path, use) => local.stat(await place(path), use),
    readFile: async (path, options) => local.readFile(await place(path), options),
    writeFile: async (path, content, use) => local.writeFile(await place(path), content, use),
    removeFile: async (path, use) => local.removeFile(await place(path), use),
    readDirectory: async (path, use) => local.readDirectory(await place(path), use),
    async run(command) {
      const { box, program } = await placeProgram(command);
      return await (box ? box.run(program) : local.run(program));
    },
    async start(command) {
      const { box, program } = await placeProgram(command);
      return await (box ? box.start(program) : local.start(program));
    },
    saveOverflow: (name, content) => local.saveOverflow(name, content),
    async close() {
      const opened = await box?.catch(() => undefined);
      await opened?.retire();
      await local.close();
      await opened?.close();
    },
    // A box may take a moment to go. It is ours, and no command has left it.
    stopped: () => (local.stopped?.() ?? []).filter((line) => !isBoxItself(line)),
    ...(local.watch && { watch: local.watch }),
    endsProcesses: async () => (await local.endsProcesses?.()) ?? false,
    mayPathsMove: () => sandbox.mode === "auto" && isBoxRunningOver(visible),
  };
  return withOtherRoots<Workspace>(workspace, {
    overflowDirectory: resolvePath(local.root, setting.overflowDirectory),
    open: async (other) => await createSandboxedWorkspace({ ...setting, ...other, local: local.beside(other) }),
  });
}

function unavailable(reason: string): RuntimeError {
  return new RuntimeError("config", `A sandbox is required, and there is none: ${reason}.`, {
    hint: "Install bubblewrap (package bubblewrap), or do not require a sandbox",
  });
}
