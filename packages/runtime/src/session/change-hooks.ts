import { type HookSettings, loadHooks, openHooks } from "../engine/open-hooks.ts";
import type { HookSource } from "../hooks/config.ts";
import type { HooksState } from "./session-hooks.ts";

/** Hooks of other bundles in the place of those there were; the others stay. */
export async function replaceHooks(
  { bound, options, place, added, mayGrow }: HooksState,
  ofPlugins: HookSettings,
): Promise<void> {
  const own = (options.hookSettings?.sources ?? []).filter(({ isForeign }) => !isForeign);
  const sources = [...own, ...ofPlugins.sources, ...added];
  const set = loadHooks({ hooks: options.hooks, hookSettings: { ...ofPlugins, sources } });
  const before = bound.hooks;
  bound.hooks = openHooks(set, { ...place, variables: ofPlugins.variables, mayGrow });
  await before?.close(0);
}

/** Once for each source. Where hooks were left out as a whole, those of skills are too. */
export async function addHooks({ bound, options, place, added }: HooksState, source: HookSource): Promise<readonly string[]> {
  const { hookSettings } = options;
  if (!hookSettings || added.some((known) => known.source === source.source)) return [];
  const more = loadHooks({ hookSettings: { ...hookSettings, sources: [source] } });
  added.push(source);
  if (bound.hooks) bound.hooks.add(more.hooks);
  else bound.hooks = openHooks(more, { ...place, variables: hookSettings.variables });
  return more.warnings;
}
