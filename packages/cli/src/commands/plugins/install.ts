import { RuntimeError } from "@outrider/runtime";
import {
  type BundlePluginInstaller,
  describeSource,
  type InstalledPlugin,
  type InstallerOptions,
  type InstallRequest,
  type MarketplaceClient,
  type PluginExecutor,
  type PluginInspection,
  type PluginSource,
  type PluginSwitch,
  switchPlugin,
} from "@outrider/runtime/plugins";
import { exitCodes } from "../../exit-codes.ts";
import { print, visible } from "../../terminal/visible.ts";

/** What the actions work with. */
export type Desk = {
  readonly installer: BundlePluginInstaller;
  readonly marketplaces: MarketplaceClient;
  readonly hookLimits: InstallerOptions["hookLimits"];
  /** What settings say, by id. */
  readonly enabled: Readonly<Record<string, boolean>>;
  /** The file of the user, whatever the scope. */
  readonly userSettings: string;
  /** Where it is written whether one counts. */
  readonly settings: Pick<PluginSwitch, "path" | "scope">;
  readonly home: string;
  readonly json: boolean;
  readonly yes: boolean;
  readonly older: boolean;
  readonly contentHash: string | undefined;
  readonly ref: string | undefined;
  readonly toSource: (text: string) => PluginSource;
};

type Place = Pick<InstallRequest, "source" | "marketplace" | "entry" | "expected">;

export async function install(desk: Desk, wanted: string): Promise<number> {
  return await put(desk, await placeOf(desk, wanted));
}

/** `NAME@MARKETPLACE`, or a source of its own. */
async function placeOf(desk: Desk, wanted: string): Promise<Place> {
  const [, name, marketplace] = /^([\w][\w.-]*)@([\w][\w.-]*)$/.exec(wanted) ?? [];
  if (name === undefined || marketplace === undefined)
    return { source: withRef(desk.toSource(wanted), desk.ref), marketplace: "direct" };
  return { ...(await desk.marketplaces.find(name, marketplace)), marketplace };
}

function withRef(source: PluginSource, ref: string | undefined): PluginSource {
  if (ref === undefined) return source;
  if (source.type !== "git") throw new RuntimeError("usage", "--ref is for repositories");
  if (!/^\w[\w./+-]{0,200}$/.test(ref) || ref.includes(".."))
    throw new RuntimeError("usage", `${visible(ref)} is no branch, tag or commit`);
  return { ...source, ref };
}

export async function update(desk: Desk, plugins: readonly InstalledPlugin[]): Promise<number> {
  let code: number = exitCodes.success;
  for (const plugin of plugins) code = Math.max(code, await put(desk, await sourceOf(desk, plugin)));
  return code;
}

async function sourceOf(desk: Desk, { id, from }: InstalledPlugin): Promise<Place> {
  if (from) return { source: withRef(from, desk.ref), marketplace: "direct", expected: id };
  const at = id.lastIndexOf("@");
  const marketplace = id.slice(at + 1);
  await desk.marketplaces.update(marketplace);
  return { ...(await desk.marketplaces.find(id.slice(0, at), marketplace)), marketplace, expected: id };
}

async function put(desk: Desk, place: Place): Promise<number> {
  const { installer, json, contentHash, older } = desk;
  const accept = async (inspection: PluginInspection): Promise<boolean> => {
    if (!json) await print(describe(inspection, place.source));
    return desk.yes || contentHash !== undefined || (await confirm());
  };
  const result = await installer.install({ ...place, contentHash, older, accept });
  const { inspection } = result;
  const { id, version, plugin, executors, contentHash: hash, before } = inspection;
  const told = { id, version, contentHash: hash, commit: inspection.commit ?? null, warnings: plugin.warnings, executors };
  if (result.type === "declined") {
    if (json) await print(`${JSON.stringify({ status: "declined", ...told }, null, 2)}\n`);
    process.stderr.write(
      `outrider: ${visible(id)} is not installed. Without a terminal to ask on, --yes says it, or --sha256 ${hash} for exactly this content\n`,
    );
    return exitCodes.error;
  }
  const isOn = before ? (desk.enabled[id] ?? true) : plugin.manifest.defaultEnabled;
  if (result.type === "installed" && isOn) await switchPlugin({ ...desk.settings, id, on: true });
  if (json) await print(`${JSON.stringify({ status: result.type, ...told, enabled: isOn }, null, 2)}\n`);
  else if (result.type === "unchanged") await print(`${visible(id)} ${visible(version)} is what its source has\n`);
  else await print(`${visible(id)} ${visible(version)} is installed${isOn ? "" : ", and counts once it is enabled"}\n`);
  return exitCodes.success;
}

function describe(
  { id, version, plugin, executors, contentHash, commit, before, added, removed }: PluginInspection,
  source: PluginSource,
): string {
  const lines = [
    `Plugin: ${id} ${version}${before ? ` (installed: ${before.version})` : ""}`,
    `From: ${describeSource(source)}${commit === undefined ? "" : ` at ${commit}`}`,
    ...plugin.warnings.map((warning) => `Note: ${warning.replaceAll(`${plugin.path}/`, "")}`),
    ...describeExecutors(executors),
    ...(before && added.length > 0 ? ["New since then:", ...added.map(line)] : []),
    ...(before && removed.length > 0 ? ["No longer:", ...removed.map(line)] : []),
    `Content: ${contentHash}`,
  ];
  return lines.map((text) => `${visible(text)}\n`).join("");
}

/** What it runs and allows, a line each. */
export function describeExecutors(executors: readonly PluginExecutor[]): string[] {
  return executors.length === 0 ? ["It runs nothing."] : ["When it counts, this runs or is allowed:", ...executors.map(line)];
}

function line({ kind, what }: PluginExecutor): string {
  return `  ${kind.padEnd(13)} ${what}`;
}

/** A no without anybody to ask. */
async function confirm(): Promise<boolean> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return false;
  const { createInterface } = await import("node:readline/promises");
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(?:es)?$/i.test((await terminal.question("Install this? [y/N] ")).trim());
  } finally {
    terminal.close();
  }
}
