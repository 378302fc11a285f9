import { statSync } from "node:fs";
import { resolve as resolvePath } from "node:path";
import { RuntimeError } from "../protocol/errors.ts";
import { Box } from "./box/box.ts";
import { writableDirectories } from "./box/box-plan.ts";
import { parseDomainRule } from "./box/domain-rules.ts";
import { isInside } from "./box/host-files.ts";
import type { SandboxLimits } from "./box/start-script.ts";
import { detectSandbox, type SandboxAvailability } from "./detect-sandbox.ts";
import type { RunCommand, RunResult, Workspace } from "./workspace.ts";

export type SandboxOptions = {
  /** `auto`: where it works, else without and with a warning. `require`: not at all without. */
  readonly mode: "auto" | "require" | "off";
  /** None when absent. `allowed` is the network of the machine; `domains` are the only hosts that can be reached. */
  readonly network?: { readonly allowed?: boolean; readonly domains?: readonly string[] };
  /** Directories beside the workspace, which must exist; `~/` is the home directory. */
  readonly allowWrite?: readonly string[];
  /** Files and directories to hide beside homes and credentials. */
  readonly denyRead?: readonly string[];
  readonly limits?: SandboxLimits;
};

export type SandboxSetting = {
  readonly sandbox: SandboxOptions;
  /** The workspace of this machine. */
  readonly local: Workspace;
  readonly home: string | undefined;
  readonly env: Readonly<Record<string, string>>;
  readonly overflowDirectory: string;
  /** Whether listed domains may lead to this address. */
  readonly isPublicAddress: (address: string) => boolean;
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
    const found = await availability(local.root);
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

  /** Commands have a /tmp of their own; files are found where commands see them. */
  const place = async (path: string): Promise<string> => {
    const full = resolvePath(local.root, path);
    if (path.startsWith("~") || !isInside("/tmp", full) || visible.some((folder) => isInside(folder, full))) return path;
    return (await boxOf())?.placeOf(full) ?? path;
  };

  return {
    root: local.root,
    resolve: async (path) => local.resolve(await place(path)),
    stat: async (path, use) => local.stat(await place(path), use),
    readFile: async (path, options) => local.readFile(await place(path), options),
    writeFile: async (path, content, use) => local.writeFile(await place(path), content, use),
    readDirectory: async (path, use) => local.readDirectory(await place(path), use),
    run: async (command): Promise<RunResult> => runIn(command.unboxed ? undefined : await boxOf(), command, local),
    saveOverflow: (name, content) => local.saveOverflow(name, content),
    async close() {
      const opened = await box?.catch(() => undefined);
      await opened?.retire();
      await local.close();
      await opened?.close();
    },
  };
}

function runIn(box: Box | undefined, command: RunCommand, local: Workspace): Promise<RunResult> {
  return box ? box.run(command) : local.run(command);
}

async function availability(root: string): Promise<SandboxAvailability> {
  const owner = statSync(root).uid;
  if (process.getuid?.() === 0 && owner !== 0) {
    const reason = `${root} belongs to another user (uid ${owner}), and in a box root has power over its own files only`;
    return { available: false, reason };
  }
  return detectSandbox();
}

function unavailable(reason: string): RuntimeError {
  return new RuntimeError("config", `A sandbox is required, and there is none: ${reason}.`, {
    hint: "Install bubblewrap (package bubblewrap), or do not require a sandbox",
  });
}
