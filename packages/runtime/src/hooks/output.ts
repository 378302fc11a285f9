import { isJsonObject, type JsonObject, type JsonValue } from "../protocol/content.ts";
import type { HookEventName } from "../protocol/events.ts";
import type { ElicitationAnswer, HookEffect } from "./hook.ts";
import { isTooDeep, maxJsonDepth } from "../util/too-deep.ts";
import { defined } from "../util/defined.ts";
import { messageOf } from "../util/message-of.ts";

/** What one hook said. Nothing said is an empty object. */
export type HookOutput = {
  /** A block is a deny, an approval an allow, on every event. */
  readonly decision?: HookEffect;
  readonly reason?: string;
  /** It said `continue: false`; why. */
  readonly stop?: string;
  readonly updatedInput?: JsonObject;
  /** What the model is to read in place of what the tool said. */
  readonly updatedOutput?: JsonValue;
  /** With a yes to a permission question: changes of rules and mode. */
  readonly updatedPermissions?: readonly JsonValue[];
  readonly context?: string;
  /** What the user is to have said first, before the prompt. */
  readonly firstMessage?: string;
  /** What the session is to be called. */
  readonly title?: string;
  /** For the person who runs this. */
  readonly message?: string;
  readonly background?: boolean;
  readonly interrupt?: boolean;
  /** What a server that asks a person something is answered. */
  readonly answer?: ElicitationAnswer;
};

export type HookReading = { readonly ok: true; readonly output: HookOutput } | { readonly ok: false; readonly problem: string };

const maxTitle = 200;

/** Events whose hooks may simply print what the model should know. */
const takesText: ReadonlySet<HookEventName> = new Set<HookEventName>(["SessionStart", "UserPromptSubmit"]);

/** What a hook printed: a JSON object, or plain text. Never throws; what starts like JSON and is none is a problem, not a text. */
export function parseHookOutput(text: string, event: HookEventName): HookReading {
  const printed = text.trim();
  if (printed === "") return { ok: true, output: {} };
  if (!printed.startsWith("{")) return { ok: true, output: takesText.has(event) ? { context: printed } : {} };
  let value: unknown;
  try {
    value = JSON.parse(printed);
  } catch (error) {
    return problem(`its output starts like JSON and is none: ${messageOf(error)}`);
  }
  return readHookOutput(value);
}

/** The same for a value that is JSON already. */
export function readHookOutput(value: unknown): HookReading {
  if (value === undefined || value === null) return { ok: true, output: {} };
  if (!isJsonObject(value)) return problem("its output is no JSON object");
  if (isTooDeep(value)) return problem(`its output is nested more than ${maxJsonDepth} levels deep`);
  const specific = value["hookSpecificOutput"] ?? {};
  if (!isJsonObject(specific)) return problem('"hookSpecificOutput" is no object');
  const answer = specific["decision"] ?? {}; // what a PermissionRequest hook answers with
  if (!isJsonObject(answer)) return problem('"hookSpecificOutput.decision" is no object');
  const wrong =
    misfit(value, { continue: "boolean", async: "boolean", suppressOutput: "boolean", ...texts }) ??
    misfit(specific, {
      permissionDecisionReason: "string",
      additionalContext: "string",
      sessionTitle: "string",
      initialUserMessage: "string",
    }) ??
    misfit(answer, { message: "string", interrupt: "boolean" });
  if (wrong) return problem(wrong);
  const updatedInput = specific["updatedInput"] ?? answer["updatedInput"];
  if (updatedInput !== undefined && !isJsonObject(updatedInput)) return problem('"updatedInput" is no object');
  const decision = strictest([
    pick(value["decision"], decisions, "decision"),
    pick(specific["permissionDecision"], permissionDecisions, "permissionDecision"),
    pick(value["permissionDecision"], permissionDecisions, "permissionDecision"), // a level too high, and meant all the same
    pick(answer["behavior"], behaviors, "behavior"),
  ]);
  if (typeof decision === "object") return problem(decision.problem);
  const updatedOutput = specific["updatedToolOutput"] ?? specific["updatedMCPToolOutput"] ?? undefined;
  const updatedPermissions = answer["updatedPermissions"] ?? undefined;
  if (updatedPermissions !== undefined && !Array.isArray(updatedPermissions)) return problem('"updatedPermissions" is no list');
  const elicited = readAnswer(specific);
  if (elicited === "wrong") return problem('"action" is none of accept, decline, cancel, or "content" is no object');
  const reason =
    specific["permissionDecisionReason"] ?? answer["message"] ?? value["reason"] ?? value["permissionDecisionReason"];
  return {
    ok: true,
    output: {
      ...defined({ decision }),
      ...(isFilled(reason) && { reason }),
      ...(value["continue"] === false && { stop: isFilled(value["stopReason"]) ? value["stopReason"] : "A hook ended the turn" }),
      ...defined({ updatedInput, updatedOutput, updatedPermissions }),
      ...(isFilled(specific["additionalContext"]) && { context: specific["additionalContext"] }),
      ...(isFilled(specific["initialUserMessage"]) && { firstMessage: specific["initialUserMessage"] }),
      ...(isFilled(specific["sessionTitle"]) && { title: specific["sessionTitle"].trim().slice(0, maxTitle) }),
      ...(isFilled(value["systemMessage"]) && { message: value["systemMessage"] }),
      ...(value["async"] === true && { background: true }),
      ...(answer["interrupt"] === true && { interrupt: true }),
      ...defined({ answer: elicited }),
    },
  };
}

/** What an Elicitation hook answers in a person's place. */
function readAnswer({ action, content }: JsonObject): ElicitationAnswer | "wrong" | undefined {
  if (action === undefined || action === null) return undefined;
  if (action !== "accept" && action !== "decline" && action !== "cancel") return "wrong";
  if (content !== undefined && !isJsonObject(content)) return "wrong";
  return { action, ...(action === "accept" && defined({ content })) };
}

/** What a model answered that was asked for `{"ok": true}` or `{"ok": false, "reason": "…"}`, perhaps with words around it. */
export function parseJudgement(text: string): HookReading {
  const json = text.slice(text.indexOf("{"), text.lastIndexOf("}") + 1);
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    return problem('the model did not answer with {"ok": …}');
  }
  if (!isJsonObject(value) || typeof value["ok"] !== "boolean") return problem('the model did not answer with {"ok": …}');
  if (value["ok"]) return { ok: true, output: {} };
  return { ok: true, output: { decision: "deny", reason: isFilled(value["reason"]) ? value["reason"] : "No reason was given" } };
}

type Decision = HookOutput["decision"];
type Picked = Decision | { readonly problem: string };

const texts = { stopReason: "string", systemMessage: "string", reason: "string", permissionDecisionReason: "string" } as const;
const decisions: Readonly<Record<string, Decision>> = {
  block: "deny",
  deny: "deny",
  approve: "allow",
  allow: "allow",
  ask: "ask",
};
const permissionDecisions: Readonly<Record<string, Decision>> = { allow: "allow", deny: "deny", ask: "ask", defer: "defer" };
const behaviors: Readonly<Record<string, Decision>> = { allow: "allow", deny: "deny" };

function pick(value: unknown, words: Readonly<Record<string, Decision>>, name: string): Picked {
  if (value === undefined || value === null) return undefined;
  if (typeof value === "string" && Object.hasOwn(words, value)) return words[value];
  return { problem: `"${name}" is ${shorten(JSON.stringify(value))}; expected one of ${Object.keys(words).join(", ")}` };
}

function strictest(picked: readonly Picked[]): Picked {
  const wrong = picked.find((one) => typeof one === "object");
  return wrong ?? (["deny", "defer", "ask", "allow"] as const).find((effect) => picked.includes(effect));
}

function misfit(object: JsonObject, types: Readonly<Record<string, "string" | "boolean">>): string | undefined {
  const wrong = Object.entries(types).find(([name, type]) => {
    const value = Object.hasOwn(object, name) ? object[name] : undefined;
    return value !== undefined && value !== null && typeof value !== type;
  });
  return wrong && `"${wrong[0]}" is no ${wrong[1]}`;
}

function problem(text: string): HookReading {
  return { ok: false, problem: text };
}

function isFilled(value: unknown): value is string {
  return typeof value === "string" && value.trim() !== "";
}

function shorten(text: string | undefined): string {
  return text === undefined ? "nothing" : text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
