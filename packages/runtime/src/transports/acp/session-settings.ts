import { RuntimeError } from "../../protocol/errors.ts";
import type { Effort } from "../../model/model.ts";
import { isPermissionMode, type PermissionMode } from "../../protocol/permission.ts";
import type { ConfigOption, SessionModes } from "./wire.ts";
import { defined } from "../../util/defined.ts";

/** What a client may choose from, and what is chosen. */
export type SettingsState = {
  readonly mode: PermissionMode;
  readonly mayBypass: boolean;
  readonly model: string;
  /** What the provider is known to have; another name may be chosen all the same. */
  readonly models: readonly { readonly id: string; readonly description?: string }[];
  readonly effort: Effort | undefined;
};

export function sessionModes({ mode, mayBypass }: SettingsState): SessionModes {
  return { currentModeId: mode, availableModes: offeredModes(mayBypass) };
}

/** Each model takes some of them; what it does not take is asked for as the nearest that it does. */
const efforts: readonly Effort[] = ["minimal", "low", "medium", "high", "xhigh", "max"];
const usual = "default";

/** Undefined for what the model does by itself. */
export function parseEffort(value: string): Effort | undefined {
  if (value === usual) return undefined;
  const effort = efforts.find((word) => word === value);
  if (effort) return effort;
  throw new RuntimeError("usage", `There is no effort ${JSON.stringify(value)}. Choose from: ${[usual, ...efforts].join(", ")}`);
}

/** Mode and model once more: clients that know options look at nothing else. */
export function configOptions(state: SettingsState): ConfigOption[] {
  const { model, models } = state;
  const known = models.some(({ id }) => id === model) ? models : [{ id: model }, ...models];
  return [
    {
      type: "select",
      id: "mode",
      name: "Permissions",
      description: "What may happen without asking",
      category: "mode",
      currentValue: state.mode,
      options: offeredModes(state.mayBypass).map(({ id, name, description }) => ({ value: id, name, description })),
    },
    {
      type: "select",
      id: "model",
      name: "Model",
      description: "Who is asked",
      category: "model",
      currentValue: model,
      options: known.map(({ id, description }) => ({ value: id, name: id, ...defined({ description }) })),
    },
    {
      type: "select",
      id: "effort",
      name: "Effort",
      description: "How hard the model thinks, as far as it can be told",
      category: "thought_level",
      currentValue: state.effort ?? usual,
      options: [usual, ...efforts].map((value) => ({ value, name: value })),
    },
  ];
}

export function parseMode(value: string, { mayBypass }: SettingsState): PermissionMode {
  if (isPermissionMode(value) && (mayBypass || value !== "bypassPermissions")) return value;
  const choices = offeredModes(mayBypass).map(({ id }) => id);
  throw new RuntimeError("usage", `There is no mode ${JSON.stringify(value)} here. Choose from: ${choices.join(", ")}`, {
    ...(value === "bypassPermissions" && { hint: "Start the agent with --allow-dangerously-skip-permissions to offer it" }),
  });
}

function offeredModes(mayBypass: boolean): SessionModes["availableModes"] {
  return mayBypass ? modes : modes.filter(({ id }) => id !== "bypassPermissions");
}

const modes: SessionModes["availableModes"] = [
  { id: "default", name: "Default", description: "Looks at files; asks before it changes or runs anything that no rule allows" },
  { id: "acceptEdits", name: "Accept edits", description: "Also changes files of the project without asking" },
  { id: "sandboxed", name: "Sandboxed", description: "Runs what the sandbox contains without asking" },
  { id: "plan", name: "Plan", description: "Only looks" },
  { id: "dontAsk", name: "Don't ask", description: "Never asks: what no rule allows is denied" },
  { id: "bypassPermissions", name: "Bypass permissions", description: "Does everything but what a rule denies" },
] satisfies (SessionModes["availableModes"][number] & { id: PermissionMode })[];
