import { join } from "node:path";
import { dataFolderName } from "./plugin-name.ts";

/** What texts, hooks and servers of a bundle may speak of. */
export function pluginVariables({ root, data }: { readonly root: string; readonly data: string }): Record<string, string> {
  return {
    CLAUDE_PLUGIN_ROOT: root,
    CLAUDE_PLUGIN_DATA: data,
    OUTRIDER_PLUGIN_ROOT: root,
    OUTRIDER_PLUGIN_DATA: data,
  };
}

/** Where a bundle may keep what it writes. */
export function pluginData(pluginHome: string, id: string): string {
  return join(pluginHome, "data", dataFolderName(id));
}

/** `${NAME}` and `${user_config.KEY}` of these; everything else stays as it is. */
export function fillIn(text: string, variables: Readonly<Record<string, string>>): string {
  return text.replace(/\$\{([A-Z_]+|user_config\.\w+)\}/g, (whole, name: string) =>
    Object.hasOwn(variables, name) ? (variables[name] ?? whole) : whole,
  );
}
