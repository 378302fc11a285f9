import type { HookEffect, HookFacts, HookPlace, HookRequest, HookVerdict } from "../hooks/hook.ts";
import { decide } from "../permissions/decide.ts";
import type { AllowedBy, Decision, Policy } from "../permissions/policy.ts";
import type { Action, Rule } from "../permissions/rules.ts";
import type { JsonObject } from "../protocol/content.ts";
import type { AgentEvents, ToolDetails } from "../protocol/events.ts";
import type { PermissionMode } from "../protocol/permission.ts";
import { isTooDeep, maxJsonDepth } from "../util/too-deep.ts";
import { checkCallInput } from "./check-call-input.ts";
import { toHookInput } from "../tools/hook-input.ts";
import { messageOf } from "../util/message-of.ts";
import { RuntimeError } from "../protocol/errors.ts";
import { type Access, type Tool, ToolFailure } from "../tools/tool.ts";
import { changeInput, type LiveCall, liveInputOf } from "./live-call.ts";
import type { CallDeps, PermissionDeps } from "./deps.ts";
import { defined } from "../util/defined.ts";

export type JudgeDeps = PermissionDeps &
  Pick<CallDeps, "tools" | "workspace" | "memory" | "hooks" | "redactor" | "newId" | "emit" | "signal" | "interrupt" | "halt">;

/** A call as it may be made, which hooks or an answer may have changed; or why not, in words for the model. */
export type Judgement =
  | {
      readonly type: "allowed";
      readonly call: LiveCall;
      readonly access: Access;
      readonly notes: readonly string[];
      readonly permit: Permit;
    }
  | { readonly type: "refused"; readonly text: string; readonly notes: readonly string[]; readonly details?: ToolDetails };

/** How a call came to be allowed: what it rests on decides where it runs. */
export type Permit = Pick<Decision, "git"> & { readonly by: AllowedBy | "answer"; readonly partly?: true | undefined };

export type Candidate = { readonly call: LiveCall; readonly tool: Tool; readonly access: Access };
type Word = Pick<AgentEvents["permission.decided"], "effect" | "by" | "reason" | "rule" | "source" | "endsTurn">;

/** Stands for a hook where a rule's file would stand. */
const byHook = "PreToolUse hook";

/** hooks → rules and mode → the person or tool that is asked → guards again if the answer changed the call. Exactly one verdict is told. */
export async function judgeCall(deps: JudgeDeps, call: LiveCall, tool: Tool): Promise<Judgement> {
  const given: Candidate = { call, tool, access: await tool.access(call.input, deps.workspace, deps.memory) };
  const hook = await askBefore(deps, given);
  const notes = hook.context;
  const refuse: Refuse = (candidate, word, text) => {
    conclude(deps, candidate, { ...word, effect: "deny" });
    return { type: "refused", text: text ?? `Not permitted: ${word.reason}.`, notes };
  };
  const refusal = haltOrDeny(deps, hook);
  if (refusal !== undefined) return refuse(given, { by: "hook", reason: refusal });
  if (hook.decision?.effect === "defer") return defer(deps, given, refuse);
  const changed = await withInput(deps, given, hook.updatedInput);
  if (typeof changed === "string")
    return refuse(given, { by: "hook", reason: `a PreToolUse hook changed the input, which no longer fits: ${changed}` });

  const decision = await decideCall(deps, changed, hook.decision?.effect);
  if (decision.effect === "deny") return refuse(changed, wordOf(decision, deps.policy()));
  const irreversible = refuseIrreversible(deps, changed, refuse);
  if (irreversible) return irreversible; // before anybody is asked for what cannot be done
  if (decision.effect === "allow") {
    conclude(deps, changed, { ...wordOf(decision, deps.policy()), effect: "allow" });
    return { type: "allowed", call: changed.call, access: changed.access, notes, permit: permitOf(decision) };
  }
  const asked = hook.decision?.effect === "ask" ? { ...decision, reason: hook.decision.reason } : decision;
  const { askPermission, remember } = await import("./ask-permission.ts");
  const answer = await askPermission(deps, changed, {
    decision: { ...asked, isHooks: hook.decision?.effect === "ask" },
    place: placeOf(deps, changed),
    toolUse: () => toolUse(deps, changed),
    allows: async (mode) => (await decideCall(deps, changed, undefined, mode)).effect === "allow",
  });
  if (answer.interrupt) deps.interrupt?.();
  const ends = answer.interrupt && { endsTurn: true as const };
  if (answer.decision !== "allow") return refuse(changed, { by: answer.by, reason: answer.reason, ...ends }, answer.text);
  const final = await withInput(deps, changed, answer.updatedInput);
  if (typeof final === "string")
    return refuse(changed, { by: answer.by, reason: `the input was changed, and no longer fits: ${final}` });
  if (final !== changed) {
    const again = await decideCall(deps, final, undefined);
    if (again.effect === "deny") return refuse(final, wordOf(again, deps.policy()));
    const other = refuseIrreversible(deps, final, refuse);
    if (other) return other;
    const guarded = haltOrDeny(deps, await askBefore(deps, final, "guards"));
    if (guarded !== undefined) return refuse(final, { by: "hook", reason: guarded });
  }
  const kept = answer.remember ? await remember(deps, actionsOf(final.tool, final.access), answer.remember) : "";
  conclude(deps, final, { effect: "allow", by: answer.by, reason: `${answer.reason}${kept}` });
  return { type: "allowed", call: final.call, access: final.access, notes, permit: { by: "answer" } };
}

/** The call waits, and the turn with it: whoever has the session goes on when it can be decided. */
function defer(deps: JudgeDeps, given: Candidate, refuse: Refuse): Judgement {
  const { callId, name } = given.call;
  const { input } = toolUse(deps, given);
  deps.halt({ limit: "hook", reason: `a PreToolUse hook has put off a call of ${name}`, deferred: { callId, name, input } });
  const text = "Not run yet: it has been put off, and the turn ends here. Make this call again when the conversation goes on.";
  return refuse(given, { by: "hook", reason: "a PreToolUse hook has put it off" }, text);
}

function permitOf({ by = "mode", source, partly, git }: Decision): Permit {
  return { by: source === byHook ? "hook" : by, partly, ...(git && { git }) };
}

type Refuse = (candidate: Candidate, word: Omit<Word, "effect">, text?: string) => Judgement & { type: "refused" };

function refuseIrreversible(deps: JudgeDeps, candidate: Candidate, refuse: Refuse): Judgement | undefined {
  const report = deps.irreversible?.(candidate.call);
  if (!report) return undefined;
  const refused = refuse(candidate, { by: "policy", reason: report.message }, `Not run: ${report.message}`);
  return { ...refused, details: { reversibleSafety: report } };
}

const nothing: HookVerdict = { context: [] };

async function askBefore(deps: JudgeDeps, candidate: Candidate, only?: "guards"): Promise<HookVerdict> {
  const place = { ...placeOf(deps, candidate), ...(only && { only }) };
  return (await deps.hooks?.ask("PreToolUse", () => toolUse(deps, candidate), place)) ?? nothing;
}

function placeOf(deps: JudgeDeps, { call, access }: Candidate): HookPlace {
  return { signal: deps.signal, emit: deps.emit, callId: call.callId, concerns: concernsOf(deps, call, access) };
}

function toolUse({ workspace }: JudgeDeps, { call, tool }: Candidate): HookFacts["PreToolUse"] {
  const input = toHookInput(liveInputOf(call), workspace.root);
  return { tool: tool.name, input, callId: call.callId, server: tool.server };
}

/** Why the hooks do not let it happen. */
function haltOrDeny(deps: JudgeDeps, verdict: HookVerdict): string | undefined {
  if (verdict.stop !== undefined) {
    deps.halt({ limit: "hook", reason: verdict.stop });
    return `a PreToolUse hook ended the turn: ${verdict.stop}`;
  }
  return verdict.decision?.effect === "deny" ? `a PreToolUse hook said no: ${verdict.decision.reason}` : undefined;
}

/** The same call with another input, if there is one; a text when that does not fit the tool. */
async function withInput(deps: JudgeDeps, candidate: Candidate, input: JsonObject | undefined): Promise<Candidate | string> {
  if (input === undefined) return candidate;
  if (isTooDeep(input)) return `it is nested more than ${maxJsonDepth} levels deep`;
  const { tool } = candidate;
  const call = await changeInput(candidate.call, input, deps.redactor);
  if (typeof call === "string") return call;
  const checked = await checkCallInput(tool, call.input);
  if (!checked.ok) return checked.message;
  return { call, tool, access: await tool.access(call.input, deps.workspace, deps.memory) };
}

/** A hook's yes counts like an allow rule for this call: it beats neither deny nor ask rules, nor plan mode, nor protected places. */
async function decideCall(
  deps: JudgeDeps,
  { call, tool, access }: Candidate,
  hook: HookEffect | undefined,
  mode: PermissionMode = deps.policy().mode,
): Promise<Decision> {
  const { inertGit, ...others } = { ...deps.policy(), mode, mayPathsMove: () => deps.workspace.mayPathsMove?.() ?? false };
  const policy: Policy = tool.takesGit ? { ...others, inertGit } : others;
  const rule: Rule = { text: tool.name, tool: tool.name, pattern: undefined, source: byHook };
  const asked = hook === "allow" ? { ...policy, allow: [...policy.allow, rule] } : policy;
  const decision = await decide(asked, actionsOf(tool, access, call.input), (path) => deps.workspace.resolve(path));
  if (hook !== "ask" || decision.effect !== "allow") return decision;
  const reason = "a PreToolUse hook wants to be asked";
  if (policy.mode === "dontAsk")
    return { effect: "deny", reason: `${reason}, and mode dontAsk denies what would be asked`, source: byHook };
  return { effect: "ask", reason };
}

/** Would a rule catch this call? In doubt it would: what hangs on it is whether a hook gets to see the call. */
export function concernsOf(deps: JudgeDeps, call: LiveCall, known?: Access): NonNullable<HookRequest["concerns"]> {
  return async (rule, input) => {
    const tool = deps.tools.get(call.name);
    if (!tool) return true;
    try {
      const access = known && input === call.input ? known : await tool.access(input, deps.workspace, deps.memory);
      const policy: Policy = { ...deps.policy(), mode: "bypassPermissions", allow: [], ask: [], deny: [rule] };
      return (await decide(policy, actionsOf(tool, access, input), (path) => deps.workspace.resolve(path))).effect !== "allow";
    } catch {
      return true;
    }
  };
}

function actionsOf(tool: Tool, { kind, resources, cwd, outside, isInput }: Access, input?: unknown): Action[] {
  const touched = resources.length > 0 ? resources : [""];
  const where = { ...defined({ cwd, input }), ...(outside && { outside }), ...(isInput && { isInput }) };
  return touched.map((resource) => ({ tool: tool.name, kind, resource, ...where }));
}

/** Whose word a decision is. Only a rule that decided has a source; one that would have helped has none. */
function wordOf({ effect, by, reason, rule, source }: Decision, { mode }: Policy): Omit<Word, "effect"> {
  if (source === byHook) return { by: "hook", reason: effect === "allow" ? "a PreToolUse hook allows it" : reason };
  if (source !== undefined) {
    return { by: by === "grant" ? "grant" : "rule", reason, source, ...defined({ rule }) };
  }
  const byMode = effect === "allow" || mode === "plan" || mode === "dontAsk";
  return { by: byMode ? "mode" : "policy", reason };
}

function conclude(deps: JudgeDeps, { call, tool, access }: Candidate, word: Word): void {
  const entry = { callId: call.callId, tool: tool.name, ...word };
  deps.emit({ type: "permission.decided", ...entry });
  try {
    deps.audit?.({ ...entry, resource: access.resources.join("\n") });
  } catch (error) {
    if (error instanceof RuntimeError) throw error; // the log itself: nothing happens that cannot be recorded
    const message = `The call of ${tool.name} is not made, because its verdict could not be audited: ${messageOf(error)}`;
    deps.emit({ type: "warning.raised", message });
    throw new ToolFailure(message);
  }
}
