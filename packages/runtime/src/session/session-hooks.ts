import type { SessionDeps } from "../engine/deps.ts";
import type { HookSettings } from "../engine/open-hooks.ts";
import type { HookSource } from "../hooks/config.ts";
import type { HookSet } from "../hooks/hook.ts";
import type { SessionOptions } from "./session-options.ts";
import type { SessionSkills } from "./skills/session-skills.ts";

type Opening = typeof import("../engine/open-hooks.ts");
type HookPlace = Omit<Parameters<Opening["openHooks"]>[1], "variables" | "mayGrow">;

/** Hooks as they were written, checked. */
export type LoadedHooks = { readonly set: HookSet; readonly opening: Opening; readonly mayGrow: boolean };

/** What of a session's hooks may become other than it was at its opening. */
export type ChangingHooks = {
  /** Hooks of other bundles, from the next turn on. */
  readonly replace: (ofPlugins: HookSettings) => Promise<void>;
  /** Hooks that come with something that is used, once, until the session ends. Answers what a person should hear; throws for one that is wrong. */
  readonly add: (source: HookSource) => Promise<readonly string[]>;
};

type BoundDeps = Omit<SessionDeps, "hooks"> & { hooks?: SessionDeps["hooks"] };

/** Undefined where there are none and none can come with a skill or an agent, so that they cost nothing. */
export async function loadSessionHooks(options: SessionOptions, skills: SessionSkills): Promise<LoadedHooks | undefined> {
  const mayCome = [...skills.all, ...(options.agents ?? [])].some(({ hooks }) => hooks !== undefined);
  const mayGrow = options.hookSettings !== undefined && mayCome;
  if (!options.hooks && !options.hookSettings?.sources.length && !mayGrow) return undefined;
  const opening = await import("../engine/open-hooks.ts");
  return { set: opening.loadHooks(options), opening, mayGrow };
}

/** What changes of hooks work on. */
export type HooksState = {
  readonly bound: BoundDeps;
  readonly options: SessionOptions;
  readonly place: HookPlace;
  /** Those that came with something that was used. */
  readonly added: HookSource[];
  readonly mayGrow: boolean;
};

type Binding = {
  readonly options: SessionOptions;
  readonly set: LoadedHooks | undefined;
  readonly place: HookPlace;
};

/** What the session works with, and the ways in which its hooks may change. */
export function bindHooks(deps: SessionDeps, { options, set: loaded, place }: Binding): ChangingHooks & { bound: BoundDeps } {
  const { hookSettings } = options;
  const { variables } = hookSettings ?? {};
  const hooks = loaded?.opening.openHooks(loaded.set, { ...place, variables, mayGrow: loaded.mayGrow });
  const bound: BoundDeps = hooks ? { ...deps, hooks } : { ...deps };
  const state: HooksState = { bound, options, place, added: [], mayGrow: loaded?.mayGrow ?? false };
  const change = (): Promise<typeof import("./change-hooks.ts")> => import("./change-hooks.ts"); // few sessions do
  return {
    bound,
    replace: async (ofPlugins) => await (await change()).replaceHooks(state, ofPlugins),
    add: async (source) => await (await change()).addHooks(state, source),
  };
}
