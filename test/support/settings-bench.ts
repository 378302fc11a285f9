import { parseJsonObject } from "../../packages/runtime/src/settings/json-text.ts";
import type { SettingScope, SettingsLayer } from "../../packages/runtime/src/settings/layers.ts";
import { resolveSettings } from "../../packages/runtime/src/settings/resolve.ts";
import type { ResolvedSettings } from "../../packages/runtime/src/settings/settings.ts";

/** Where a test's settings stand: `user` is Outrider's file of the user, `user-claude` Claude Code's. */
export type Source = `${SettingScope}${"" | "-claude"}`;

/** For tests: settings made of files in memory. Objects are printed with a line for each key, as people write them. */
export function resolveFiles(trusted: boolean, ...files: readonly [Source, object | string][]): ResolvedSettings {
  return resolveSettings(
    files.map(([source, values]) => toLayer(source, values)),
    { trusted },
  );
}

function toLayer(source: Source, values: object | string): SettingsLayer {
  const [scope, dialect] = source.split("-") as [SettingScope, string | undefined]; // what a source is made of
  const path = `/${source}.json`;
  const text = typeof values === "string" ? values : JSON.stringify(values, null, 1);
  return { scope, dialect: dialect ? "claude" : "outrider", path, ...parseJsonObject(text, path) };
}
