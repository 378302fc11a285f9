import type { CommandHostAdapters, CommandResult } from "../commands/command.ts";
import type { SessionOptions } from "../session/session-options.ts";
import type { Settings } from "../settings/settings.ts";
import type { OwnersCommand } from "./owners-commands.ts";
import type { Project } from "./project.ts";
import type { Surroundings } from "./surroundings.ts";

type Ways = Pick<Settings, "outputStyle" | "language"> & { readonly promptsFrom: SessionOptions["promptsFrom"] };

/** What commands of a session do beyond it, with the functions that the command line uses. Loaded when one of them is typed. */
export function hostCommands(
  around: Surroundings,
  project: Project,
  { outputStyle: style, language, promptsFrom }: Ways,
): CommandHostAdapters {
  const { root, cwd } = project;
  const refused = async (command: OwnersCommand, args: string): Promise<CommandResult | undefined> =>
    promptsFrom === "owner" ? undefined : (await import("./owners-commands.ts")).refuseToAnybody(command, args);
  return {
    plugins: async (args) =>
      (await refused("plugins", args)) ??
      (await (await import("./run-plugin-command.ts")).runPluginCommand(args, around, project)),
    outputStyle: async (args) =>
      (await refused("outputStyle", args)) ??
      (await (await import("./output-style.ts")).runOutputStyle(args, style, { around, project })),
    language: async (args) =>
      (await refused("language", args)) ?? (await (await import("./run-language.ts")).runLanguage(args, language, around)),
    repository: async () => await (await import("./git-facts.ts")).repositoryOf(cwd, around.env),
    userLocal: async (args) =>
      (await refused("userLocal", args)) ??
      (await (await import("./run-host-command.ts")).runUserLocalCommand(args, around, root)),
    providerSettings: async (args) =>
      (await refused("providerSettings", args)) ??
      (await (await import("./run-host-command.ts")).runProviderCommand(args, around)),
  };
}
