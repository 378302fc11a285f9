import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import type { CommandResult } from "../commands/command.ts";
import {
  builtinStyles,
  findStyle,
  type FoundStyles,
  loadOutputStyles,
  type OutputStyle,
  type StyleFolder,
} from "../context/output-styles.ts";
import type { LoadedBundlePlugin } from "../plugins/plugin.ts";
import type { SessionOptions } from "../session/session-options.ts";
import { checkLayer } from "../settings/check-layer.ts";
import { editSettings } from "../settings/edit-settings.ts";
import { nearest } from "../util/nearest.ts";
import type { Project } from "./project.ts";
import type { SessionRequest } from "./session-request.ts";
import type { Surroundings } from "./surroundings.ts";

type StylePlace = {
  readonly around: Surroundings;
  readonly project: Project;
  readonly settingSources?: SessionRequest["settingSources"];
};

/** The style that settings name, or that a bundle insists on; nothing for ours. One that is not there is told, and ours stays. */
async function styleOptions(
  wanted: string | undefined,
  place: StylePlace,
  plugins: readonly LoadedBundlePlugin[] = [],
): Promise<{ readonly outputStyle?: SessionOptions["outputStyle"]; readonly warnings: readonly string[] }> {
  const { styles, warnings } = await findOutputStyles(place, plugins);
  const forced = styles.find(({ isForced }) => isForced);
  if (!forced && (wanted === undefined || wanted.toLowerCase() === "default")) return { warnings };
  const style = forced ?? findStyle(styles, wanted ?? "");
  if (style) return { outputStyle: toOption(style), warnings };
  const names = [...styles, ...builtinStyles].map(({ name }) => name);
  const guess = nearest(wanted ?? "", names);
  const help = guess === undefined ? `there are ${names.join(", ")}` : `did you mean ${guess}?`;
  return { warnings: [...warnings, `There is no output style ${JSON.stringify(wanted)}; ${help}`] };
}

/** Over what a host wants nothing is put. */
export async function withStyle(
  options: SessionOptions,
  wanted: string | undefined,
  place: StylePlace,
  plugins: readonly LoadedBundlePlugin[] = [],
): Promise<SessionOptions> {
  if (options.outputStyle) return options;
  const { outputStyle, warnings } = await styleOptions(wanted, place, plugins);
  return { ...options, ...(outputStyle && { outputStyle }), warnings: [...(options.warnings ?? []), ...warnings] };
}

function toOption({ name, text, keepsCoding }: OutputStyle): NonNullable<SessionOptions["outputStyle"]> {
  return { name, text, keepsCoding };
}

/**
 * Those in files: of the project, the nearest folder first, then of the user, then of bundles. A style takes the place of words of ours, so that
 * those of a project count only where it is trusted.
 */
async function findOutputStyles(
  { around, project, settingSources: sources }: StylePlace,
  plugins: readonly LoadedBundlePlugin[] = [],
): Promise<FoundStyles> {
  const { outriderHome, userHome, claudeHome = join(userHome, ".claude") } = around;
  const isWanted = (scope: "user" | "project"): boolean => !sources || sources.includes(scope);
  const ofProject = isWanted("project") ? projectFolders(project).filter(({ path }) => existsSync(path)) : [];
  const counts = ofProject.length > 0 && (await project.trust()).trusted;
  const ofUser = [outriderHome, claudeHome].map((home): StyleFolder => ({ path: join(home, "output-styles") }));
  const ofPlugins = plugins.flatMap(({ name, path, outputStyles }) =>
    outputStyles.map((folder): StyleFolder => ({ path: folder, within: path, plugin: name })),
  );
  const found = await loadOutputStyles([...(counts ? ofProject : []), ...(isWanted("user") ? ofUser : []), ...ofPlugins]);
  const warning = "The output styles of the project count once it is trusted";
  return ofProject.length > 0 && !counts ? { ...found, warnings: [...found.warnings, warning] } : found;
}

export async function styleNames(place: StylePlace): Promise<string[]> {
  const { styles } = await findOutputStyles(place);
  return [...builtinStyles, ...styles].map(({ name }) => name);
}

function projectFolders({ cwd, root }: Project): StyleFolder[] {
  const folders: StyleFolder[] = [];
  for (let folder = cwd; ; folder = dirname(folder)) {
    for (const name of [".outrider", ".claude"]) folders.push({ path: join(folder, name, "output-styles"), within: root });
    if (folder === root || dirname(folder) === folder) return folders;
  }
}

/** `/output-style`: which there are, or another one for the sessions that begin from now on. */
export async function runOutputStyle(args: string, current: string | undefined, place: StylePlace): Promise<CommandResult> {
  const { styles } = await findOutputStyles(place);
  const wanted = args.trim();
  if (wanted === "") {
    const ours = { name: "default", description: "Ours" };
    const rows = [ours, ...builtinStyles, ...styles].map(({ name, description }) => ({ name, description }));
    const isCurrent = (name: string): boolean => name === (current ?? "default");
    const lines = rows.map(
      ({ name, description }) => `${isCurrent(name) ? "*" : " "} ${name}${description && `: ${description}`}`,
    );
    return { success: true, message: lines.join("\n"), data: { styles: rows, current: current ?? "default" } };
  }
  const isOurs = wanted.toLowerCase() === "default";
  const style = isOurs ? undefined : findStyle(styles, wanted);
  if (!isOurs && !style) return { success: false, message: `There is no output style ${wanted}; /output-style lists them` };
  const path = join(place.around.outriderHome, "settings.json");
  await editSettings(path, {
    check: async (file) => checkLayer({ ...file, scope: "user", dialect: "outrider", path }),
    change: ({ outputStyle: _, ...values }) => (style ? { ...values, outputStyle: style.name } : values),
    mode: 0o600,
  });
  const name = style?.name ?? "default";
  return {
    success: true,
    message: `The output style is ${name} from the next session on (${path})`,
    data: { outputStyle: name },
  };
}
