import { rmSync } from "node:fs";
import { isJsonObject, type JsonObject, type JsonValue } from "../protocol/content.ts";
import { checkLayer } from "../settings/check-layer.ts";
import { editSettings } from "../settings/edit-settings.ts";
import { readJsonFile } from "../settings/json-file.ts";

/** Whether an installed plugin counts, in one settings file; undefined says nothing about it any more. */
export type PluginSwitch = {
  readonly path: string;
  readonly scope: "user" | "project" | "local";
  readonly id: string;
  readonly on: boolean | undefined;
};

/** A file that says nothing any more goes. */
export async function switchPlugin({ path, scope, id, on }: PluginSwitch): Promise<void> {
  const before = (await readJsonFile(path)).values["enabledPlugins"];
  if (on === undefined && !(isJsonObject(before) && Object.hasOwn(before, id))) return;
  await editSettings(path, {
    check: async (file) => checkLayer({ ...file, scope, dialect: "outrider", path }),
    change: (values) => withSwitch(values, id, on),
    mode: scope === "project" ? 0o644 : 0o600,
  });
  if (on === undefined && Object.keys((await readJsonFile(path)).values).length === 0) rmSync(path);
}

function withSwitch({ enabledPlugins, ...values }: JsonObject, id: string, on: boolean | undefined): JsonObject {
  const { [id]: _, ...others } = isJsonObject(enabledPlugins) ? enabledPlugins : {};
  const switches: JsonObject = on === undefined ? others : { ...others, [id]: on };
  return Object.keys(switches).length === 0 ? values : { ...values, enabledPlugins: switches };
}

/** Sets values that a plugin wants from its user; an empty one takes it back. */
export type PluginValues = { readonly path: string; readonly id: string; readonly values: Readonly<Record<string, JsonValue>> };

export async function configurePlugin({ path, id, values: given }: PluginValues): Promise<void> {
  await editSettings(path, {
    check: async (file) => checkLayer({ ...file, scope: "user", dialect: "outrider", path }),
    change: ({ pluginConfigs, ...values }) => {
      const configs = isJsonObject(pluginConfigs) ? pluginConfigs : {};
      const config = isJsonObject(configs[id]) ? configs[id] : {};
      const before = isJsonObject(config["options"]) ? config["options"] : {};
      const options = Object.fromEntries(Object.entries({ ...before, ...given }).filter(([, value]) => value !== ""));
      return { ...values, pluginConfigs: { ...configs, [id]: { ...config, options } } };
    },
    mode: 0o600,
  });
}
