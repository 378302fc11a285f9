import type { HookPlace } from "../hooks/hook.ts";
import type { Answer } from "../permissions/gate.ts";
import type { Decision } from "../permissions/policy.ts";
import type { Tool } from "../tools/tool.ts";
import { defined } from "../util/defined.ts";
import type { JudgeDeps } from "./judge-call.ts";
import { type LiveCall, liveInputOf } from "./live-call.ts";

export type Answered = Answer & { readonly by: "hook" | "user" | "policy"; readonly reason: string; readonly text?: string };

type Asking = {
  readonly call: LiveCall;
  readonly tool: Tool;
  readonly decision: Decision & { readonly isHooks?: boolean };
  /** It would not be asked in this mode. */
  readonly mode: "acceptEdits" | undefined;
  readonly place: HookPlace;
};

/** Asks a person. With nobody there, or when nobody can answer any more, it is a no. */
export async function askSomebody(deps: JudgeDeps, { call, tool, decision, mode, place }: Asking): Promise<Answered> {
  const { reason, rule, path, isHooks } = decision;
  const { callId } = call;
  const requestId = deps.newId();
  const named = { requestId, callId, tool: tool.name, input: liveInputOf(call), reason };
  const asked = { ...named, ...defined({ rule }), ...(isHooks && { by: "hook" as const }) };
  const waiting = deps.answerable ? deps.gate.ask({ ...asked, ...defined({ path, mode }) }, deps.signal) : undefined;
  deps.emit({ type: "permission.requested", ...asked });
  if (waiting) {
    const message = `${tool.name} waits for permission: ${reason}`;
    deps.hooks?.tell("Notification", () => ({ kind: "permission_prompt", message }), place);
  }
  const heard = (await waiting) ?? { unanswered: "nobody is here to give it" };
  const resolved = { type: "permission.resolved", requestId, callId, reason } as const;
  if ("unanswered" in heard) {
    deps.emit({ ...resolved, decision: "deny", by: "policy" });
    const remedy = rule ? ` A rule that would allow it: ${rule}` : "";
    const alone = `${reason}, and ${heard.unanswered}`;
    return { decision: "deny", by: "policy", reason: alone, text: `Not permitted: ${alone}.${remedy}` };
  }
  deps.emit({ ...resolved, decision: heard.decision, by: "user" });
  const said = heard.decision === "allow" ? "the user said yes" : "the user said no";
  return { ...heard, by: "user", reason: said, ...defined({ text: heard.message }) };
}
