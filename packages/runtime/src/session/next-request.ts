import type { SessionDeps } from "../engine/deps.ts";
import type { ModelRef, ToolDefinition } from "../protocol/content.ts";
import type { SessionFacts } from "../protocol/events.ts";
import { defined } from "../util/defined.ts";
import type { CommandPlaces } from "../workspace/open-workspace.ts";
import { placeFacts } from "./files/command-places.ts";
import { windowOf } from "./prompts/context-window.ts";
import type { Controlled } from "./session-controls.ts";
import { toSessionFacts } from "./session-facts.ts";
import type { SessionOptions } from "./session-options.ts";
import type { SessionPolicy } from "./session-policy.ts";
import { isOffered, type SessionPrompt } from "./session-prompt.ts";

export type RequestGround = {
  /** The one that is asked in the mode of now. */
  readonly model: ModelRef;
  readonly prompt: Pick<SessionPrompt, "system" | "retell" | "commit">;
  readonly tools: Controlled["tools"];
  readonly definitions: readonly ToolDefinition[];
  readonly rules: SessionPolicy;
  readonly root: string;
  readonly places: CommandPlaces;
  /** The names of the subagents that the model may start; absent where it may start none. */
  readonly agents: string[] | undefined;
};

/** What the next request holds, and what everybody is told of it. Both change with the mode, and when a host chooses. */
export type NextRequest = Pick<Controlled, "facts" | "refresh" | "followMode"> & {
  readonly request: Controlled["request"] & SessionDeps["request"];
  readonly contextWindow: () => Promise<number>;
};

export function openRequest(options: SessionOptions, ground: RequestGround): NextRequest {
  const { model, prompt, tools, definitions, rules, root, places, agents } = ground;
  const offered = (): ToolDefinition[] => definitions.filter(({ name }) => isOffered(tools.get(name), rules.current));
  const isShown = ({ name }: ToolDefinition): boolean => !tools.get(name)?.deferred;
  const request: NextRequest["request"] = {
    model: model.id,
    system: prompt.system,
    tools: offered().filter(isShown),
    ...defined({
      maxOutputTokens: options.maxOutputTokens,
      temperature: options.temperature,
      thinkingTokens: options.thinkingTokens,
      effort: options.effort,
      options: options.providerOptions,
    }),
  };
  const names = offered().map(({ name }) => name);
  const { commit } = prompt;
  const facts = toSessionFacts(options, { root, model, tools: names, mode: rules.current.mode, places, agents, commit });

  const refresh = (): void => {
    request.system = prompt.retell(request.system, request.model);
    const all = offered();
    const loaded = new Set(request.tools.map(({ name }) => name));
    const later = all.filter((tool) => !isShown(tool) && loaded.has(tool.name)); // at the end, as when they were loaded
    request.tools.splice(0, request.tools.length, ...all.filter(isShown), ...later);
    facts.tools = all.map(({ name }) => name);
  };
  const followMode = (): Partial<SessionFacts> & Pick<SessionFacts, "permissionMode"> => {
    const { mode } = rules.current;
    refresh();
    const usual = options.model ?? options.provider.model;
    const isPlanned = options.planModel !== undefined && [options.planModel, usual].includes(request.model); // nobody has chosen another
    if (isPlanned) request.model = modelIn(mode, options);
    const changes = {
      permissionMode: mode,
      ...defined({ places: placeFacts(places, mode).places }),
      ...(isPlanned && { model: { ...model, id: request.model } }),
    };
    Object.assign(facts, changes);
    return changes;
  };

  let known: { readonly id: string; readonly window: Promise<number> } | undefined; // asked for after every answer
  const contextWindow = (): Promise<number> => {
    const { model: id } = request; // a host may have chosen another one
    if (known?.id !== id) known = { id, window: windowOf(options, { ...model, id }) };
    return known.window;
  };
  return { request, facts, refresh, followMode, contextWindow };
}

/** Which model is asked in this permission mode. */
export function modelIn(mode: string, { model, planModel, provider }: SessionOptions): string {
  const usual = model ?? provider.model;
  return mode === "plan" ? (planModel ?? usual) : usual;
}
