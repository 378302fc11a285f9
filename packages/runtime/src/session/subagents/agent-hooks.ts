import type { HookSource } from "../../hooks/config.ts";
import type { JsonObject } from "../../protocol/content.ts";
import type { AgentDefinition } from "../../tasks/agent-definition.ts";

/** An agent's hooks as settings would have them. What it calls Stop is its own end: `stop` is the name of that moment. */
export function hooksOfAgent({ hooks, source }: AgentDefinition, stop: "Stop" | "SubagentStop"): HookSource | undefined {
  if (!hooks) return undefined;
  const { Stop, ...others } = hooks;
  const own = Array.isArray(others[stop]) ? others[stop] : [];
  const value: JsonObject = Stop === undefined ? others : { ...others, [stop]: Array.isArray(Stop) ? [...own, ...Stop] : Stop };
  return { value, source, trusted: true, isForeign: true };
}
