import { type JsonObject, RuntimeError } from "@outrider/runtime";
import type { SessionPlan, SessionRequest } from "@outrider/runtime/host";
import type { FlagValues } from "../flags/flags.ts";
import { positiveInteger } from "../flags/numbers.ts";
import { readManagedSettings } from "./managed-settings.ts";

/** The rules of the host beside those of the request. */
export function withManaged(request: SessionRequest, flags: FlagValues): SessionRequest {
  const text = flags["managed-settings"];
  if (text === undefined) return request;
  const { warnings, permissions, mayBypass } = readManagedSettings(text, flags);
  const { options = {} } = request;
  const { mayBypass: asked = false } = options.permissions ?? {};
  return {
    ...request,
    options: {
      ...options,
      warnings: [...(options.warnings ?? []), ...warnings],
      permissions: { ...options.permissions, ...permissions, mayBypass: asked && mayBypass },
    },
  };
}

/** What only Anthropic's API can be told. Other providers are asked without it, and a warning says so. */
export function withAnthropicFlags(plan: SessionPlan, flags: FlagValues): SessionPlan {
  const { options } = plan;
  const { warnings = [], fallback, providerOptions } = options;
  const own = optionsOf(flags);
  const name = options.provider.name;
  if (name !== "anthropic") return { ...plan, options: { ...options, warnings: [...warnings, ...unheard(flags, name)] } };
  const isOwn = fallback?.provider?.name === name;
  return {
    ...plan,
    options: {
      ...options,
      providerOptions: merged(providerOptions, own),
      fallback: fallback && isOwn ? { ...fallback, options: merged(fallback.options, own) } : fallback,
    },
  };
}

/** Fields of the request's body; the beta features become a header. */
function optionsOf(flags: FlagValues): JsonObject {
  const { betas = "", thinking } = flags;
  const budget = flags["task-budget"] === undefined ? undefined : positiveInteger("--task-budget", flags["task-budget"]);
  const names = betas.split(",").map((name) => name.trim());
  const wrong = names.find((beta) => !/^[\w.-]*$/.test(beta));
  if (wrong !== undefined)
    throw new RuntimeError("usage", `--betas takes names of beta features, and ${JSON.stringify(wrong)} is none`);
  const features = [...names.filter(Boolean), ...(budget === undefined ? [] : ["task-budgets-2026-03-13"])];
  const display = flags["thinking-display"];
  const thinks = { ...(thinking === "adaptive" && { type: "adaptive" }), ...(display !== undefined && { display }) };
  return {
    ...(features.length > 0 && { anthropic_beta: features }),
    ...(budget !== undefined && { output_config: { task_budget: { type: "tokens", total: budget } } }),
    ...(Object.keys(thinks).length > 0 && { thinking: thinks }),
  };
}

function merged(one: JsonObject = {}, other: JsonObject): JsonObject {
  const both = Object.keys(other).map((key) => {
    const [before, after] = [one[key], other[key] ?? null];
    return [key, isObject(before) && isObject(after) ? { ...before, ...after } : after] as const;
  });
  return { ...one, ...Object.fromEntries(both) };
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const meanings = {
  betas: "the beta features were not asked for",
  "task-budget": "the model is not told a budget of tokens (--max-turns, --max-budget-usd and --deadline limit a run)",
  "thinking-display": "what the model thinks is shown as it is sent",
} as const;

function unheard(flags: FlagValues, provider: string): string[] {
  return Object.entries(meanings).flatMap(([name, meaning]) =>
    flags[name as keyof typeof meanings] === undefined
      ? []
      : [`--${name} is for Anthropic's API; ${provider} is asked, so ${meaning}`],
  );
}
