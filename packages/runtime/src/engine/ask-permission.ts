import type { HookFacts, HookPlace } from "../hooks/hook.ts";
import type { GrantScope } from "../permissions/grants.ts";
import type { Decision } from "../permissions/policy.ts";
import type { Action } from "../permissions/rules.ts";
import type { JsonValue } from "../protocol/content.ts";
import { toRuntimeError } from "../protocol/errors.ts";
import type { PermissionMode } from "../protocol/permission.ts";
import { defined } from "../util/defined.ts";
import { type Answered, askSomebody } from "./ask-somebody.ts";
import type { Candidate, JudgeDeps } from "./judge-call.ts";

type Question = {
  readonly decision: Decision & { readonly isHooks?: boolean };
  readonly place: HookPlace;
  readonly toolUse: () => HookFacts["PreToolUse"];
  /** Would the call be allowed in another mode? */
  readonly allows: (mode: PermissionMode) => Promise<boolean>;
};

/** Hooks may answer first, also where nobody else is there; then a person; then, with nobody there, it is a no. */
export async function askPermission(
  deps: JudgeDeps,
  candidate: Candidate,
  { decision, place, toolUse, allows }: Question,
): Promise<Answered> {
  const { call, tool } = candidate;
  const { reason } = decision;
  const question = (): HookFacts["PermissionRequest"] => ({ ...toolUse(), reason, rule: decision.rule });
  const hooks = (await deps.hooks?.ask("PermissionRequest", question, place)) ?? { context: [] };
  if (hooks.stop !== undefined) deps.halt({ limit: "hook", reason: hooks.stop });
  const effect = hooks.stop === undefined ? hooks.decision?.effect : "deny";
  if (effect === "allow" || effect === "deny") {
    const answer = effect === "allow" ? "yes" : "no";
    const said = `a PermissionRequest hook said ${answer}: ${hooks.stop ?? hooks.decision?.reason}`;
    const { updatedInput, interrupt, updatedPermissions } = hooks;
    if (effect === "allow" && updatedPermissions) await updatePermissions(deps, updatedPermissions);
    return { decision: effect, by: "hook", reason: said, ...defined({ updatedInput }), ...(interrupt && { interrupt }) };
  }
  const mode = await modeThatAllows(deps, decision, allows);
  return await askSomebody(deps, { call, tool, decision, mode, place });
}

/** The mode that a person may change to instead of answering such questions; what a hook or a rule asks about is asked in every mode. */
async function modeThatAllows(
  deps: JudgeDeps,
  { isHooks, path }: Question["decision"],
  allows: Question["allows"],
): Promise<"acceptEdits" | undefined> {
  if (!deps.answerable || isHooks || path === undefined || deps.policy().mode !== "default") return undefined;
  return (await allows("acceptEdits")) ? "acceptEdits" : undefined;
}

/** What a hook wants for later calls. The yes to this one holds also where that is not possible. */
async function updatePermissions(deps: JudgeDeps, updates: readonly JsonValue[]): Promise<void> {
  try {
    for (const note of (await deps.updatePermissions?.(updates, deps.emit)) ?? [])
      deps.emit({ type: "warning.raised", message: note });
  } catch (error) {
    const message = `What a PermissionRequest hook wants for later calls is not done: ${toRuntimeError(error).message}`;
    deps.emit({ type: "warning.raised", message });
  }
}

/** The yes holds for this call also where it cannot be kept for others. */
export async function remember(deps: JudgeDeps, actions: readonly Action[], scope: GrantScope): Promise<string> {
  try {
    const covered = (await deps.remember?.(actions, scope)) ?? [];
    return covered.length === 0 ? "" : `, for this ${scope} too: ${covered.join(", ")}`;
  } catch (error) {
    deps.emit({ type: "warning.raised", message: `The answer is not remembered: ${toRuntimeError(error).message}` });
    return "";
  }
}
