import type { CommandHostAdapters } from "../commands/command.ts";
import type { Settings } from "../settings/settings.ts";
import type { Project } from "./project.ts";
import type { Surroundings } from "./surroundings.ts";

/** What commands of a session do beyond it, with the functions that the command line uses. Loaded when one of them is typed. */
export function hostCommands(
  around: Surroundings,
  project: Project,
  { outputStyle: style, language }: Pick<Settings, "outputStyle" | "language">,
): CommandHostAdapters {
  const { root, cwd } = project;
  return {
    plugins: async (args) => await (await import("./run-plugin-command.ts")).runPluginCommand(args, around, project),
    outputStyle: async (args) => await (await import("./output-style.ts")).runOutputStyle(args, style, { around, project }),
    language: async (args) => await (await import("./run-language.ts")).runLanguage(args, language, around),
    repository: async () => await (await import("./git-facts.ts")).repositoryOf(cwd, around.env),
    userLocal: async (args) => await (await import("./run-host-command.ts")).runUserLocalCommand(args, around, root),
    providerSettings: async (args) => await (await import("./run-host-command.ts")).runProviderCommand(args, around),
  };
}
