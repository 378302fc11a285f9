import {
  ignoredWords,
  modelKeys,
  ownKeys,
  planSession,
  type SessionPlan,
  type SessionRequest,
  type Surroundings,
  surroundingsOf,
} from "@outrider/runtime/host";
import type { FlagValues } from "../flags/flags.ts";
import { toSessionRequest } from "./session-request.ts";
import { withdrawKeys } from "./withdraw-keys.ts";

/** Plans the session that the flags ask for, and takes the keys for models out of what other processes can see of this one. */
export async function planRun(
  flags: FlagValues,
  warn: (line: string) => void,
  toPlan = (request: SessionRequest): Promise<SessionPlan> => planSession(request, { around: surroundings(), warn }),
): Promise<SessionPlan> {
  const visible = withdrawKeys(modelKeys); // before anything is started, and before anybody keeps the environment
  const more = flagsOfHosts.some((name) => flags[name] !== undefined) ? await import("./host-flags.ts") : undefined;
  const request = await toSessionRequest(flags, warn);
  const planned = await toPlan(more?.withManaged(request, flags) ?? request);
  const plan = more?.withAnthropicFlags(planned, flags) ?? planned;
  const { ignoredSettings, warnings = [] } = plan.options;
  if (ignoredSettings) warn(ignoredWords(ignoredSettings));
  const others = ownKeys(plan.keySource).filter((name) => !modelKeys.includes(name));
  const exposed = visible ?? withdrawKeys(others);
  return exposed === undefined ? plan : { ...plan, options: { ...plan.options, warnings: [...warnings, exposed] } };
}

const flagsOfHosts = ["managed-settings", "betas", "task-budget", "thinking-display", "thinking"] as const;

/** Those of this process, in a copy: keys are taken out of the original later. */
export function surroundings(): Surroundings {
  return surroundingsOf({ ...process.env });
}
