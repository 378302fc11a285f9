import type { ToolCallPart, ToolResultPart } from "../protocol/content.ts";
import { RuntimeError } from "../protocol/errors.ts";
import type { Emit, ToolDetails, ToolStatus } from "../protocol/events.ts";
import { decide } from "../permissions/decide.ts";
import type { PermissionGate } from "../permissions/gate.ts";
import type { Decision, Policy } from "../permissions/policy.ts";
import { forApprovedFiles } from "./approved-files.ts";
import { checkInput } from "../tools/input.ts";
import { limitContent } from "../tools/output-limit.ts";
import { type Access, type Tool, ToolFailure, type ToolMemory, type ToolOutput } from "../tools/tool.ts";
import type { Workspace } from "../workspace/workspace.ts";

export type ToolCallDeps = {
  readonly tools: ReadonlyMap<string, Tool>;
  readonly workspace: Workspace;
  readonly memory: ToolMemory;
  /** Read for each call: the mode may change between two of them. */
  readonly policy: () => Policy;
  readonly gate: PermissionGate;
  /** Somebody is there to answer permission questions; else policy answers no, at once. */
  readonly answerable: boolean;
  readonly outputLimit: number;
  readonly emit: Emit;
  /** Resolves when everything emitted so far is stored. */
  readonly flush: () => Promise<void>;
  readonly signal: AbortSignal;
  readonly newId: () => string;
  readonly clock: () => number;
};

type Attempt = { status: ToolStatus; output: ToolOutput };

/** How long a tool may take to stop by itself after an abort before it is left behind. */
const abortGraceMs = 700;

/** find → parse → permission → intent → execute → limit output. Every refusal is a result the model reads; nothing here throws but a failing store. */
export async function runToolCall(deps: ToolCallDeps, call: ToolCallPart): Promise<ToolResultPart> {
  const startedAt = deps.clock();
  const { status, output } = await attempt(deps, call);
  const limited = await limitContent(output.content, {
    limit: deps.outputLimit,
    save: (text) => deps.workspace.saveOverflow(`${call.name}-${call.callId}.txt`, text),
  });
  const details: ToolDetails = {
    ...output.details,
    ...(limited.fullOutputPath !== undefined && { fullOutputPath: limited.fullOutputPath }),
  };
  const result: ToolResultPart = {
    type: "tool-result",
    callId: call.callId,
    name: call.name,
    content: limited.content,
    isError: status !== "ok",
  };
  const durationMs = Math.round(deps.clock() - startedAt);
  deps.emit({
    type: "tool.ended",
    callId: call.callId,
    name: call.name,
    status,
    result,
    durationMs,
    ...(Object.keys(details).length > 0 && { details }),
  });
  return result;
}

async function attempt(deps: ToolCallDeps, call: ToolCallPart): Promise<Attempt> {
  if (deps.signal.aborted) return refuse("interrupted", "Not run: the turn was interrupted before this call started.");
  const tool = deps.tools.get(call.name);
  if (!tool) return refuse("error", `There is no tool named ${call.name}. The tools are: ${[...deps.tools.keys()].join(", ")}.`);
  if (call.malformedInput !== undefined) return refuse("error", malformed(call.malformedInput));
  const checked = await checkInput(tool.inputSchema, call.input);
  if (!checked.ok) return refuse("error", `Invalid input for ${call.name}: ${checked.message}`);
  try {
    const access = await tool.access(call.input, deps.workspace, deps.memory);
    const refusal = await refusalOf(deps, call, access);
    if (refusal) return refuse("denied", refusal);
    const workspace = access.kind === "edit" ? forApprovedFiles(deps.workspace, access.resources) : deps.workspace;
    // The intent is on record before anything happens, so that a crash can never hide that it may have happened.
    deps.emit({ type: "tool.started", callId: call.callId, name: call.name, input: call.input });
    await deps.flush();
    const output = await execute({ ...deps, workspace }, call, tool);
    return { status: output.isError ? "error" : "ok", output };
  } catch (error) {
    return explain(deps, call, error);
  }
}

/** Undefined when the call may run; else why not, in words for the model. */
async function refusalOf(deps: ToolCallDeps, call: ToolCallPart, access: Access): Promise<string | undefined> {
  const { kind, resources, cwd } = access;
  const touched = resources.length > 0 ? resources : [""];
  const decision = await decide(
    deps.policy(),
    touched.map((resource) => ({ tool: call.name, kind, resource, ...(cwd !== undefined && { cwd }) })),
    (path) => deps.workspace.resolve(path),
  );
  if (decision.effect === "allow") return undefined;
  if (decision.effect === "deny") return `Not permitted: ${decision.reason}.`;
  const answer = await ask(deps, call, decision);
  if (answer === "allow") return undefined;
  if (deps.answerable) return "Not permitted: the user said no.";
  const remedy = decision.rule ? ` A rule that would allow it: ${decision.rule}` : "";
  return `Not permitted: ${decision.reason}, and nobody is here to give it.${remedy}`;
}

async function ask(deps: ToolCallDeps, call: ToolCallPart, decision: Decision): Promise<"allow" | "deny"> {
  const requestId = deps.newId();
  const { reason } = decision;
  const answer = deps.answerable ? deps.gate.ask(requestId, deps.signal) : undefined;
  deps.emit({ type: "permission.requested", requestId, callId: call.callId, tool: call.name, input: call.input, reason });
  const answered = (await answer) ?? "deny";
  const by = deps.answerable ? "user" : "policy";
  deps.emit({ type: "permission.resolved", requestId, callId: call.callId, decision: answered, by, reason });
  return answered;
}

/** A tool that does not stop on abort is left behind after a short grace: the turn ends whatever it does. */
async function execute(deps: ToolCallDeps, call: ToolCallPart, tool: Tool): Promise<ToolOutput> {
  const { signal } = deps;
  signal.throwIfAborted();
  let timer: NodeJS.Timeout | undefined;
  let onAbort = (): void => {};
  const leftBehind = new Promise<never>((_, reject) => {
    onAbort = () => {
      timer = setTimeout(() => reject(signal.reason), abortGraceMs);
    };
    signal.addEventListener("abort", onAbort, { once: true });
  });
  const running = tool.execute(call.input, {
    callId: call.callId,
    workspace: deps.workspace,
    memory: deps.memory,
    signal,
    progress: (text) => deps.emit({ type: "tool.progress", callId: call.callId, text }),
  });
  try {
    return await Promise.race([running, leftBehind]);
  } finally {
    signal.removeEventListener("abort", onAbort);
    clearTimeout(timer);
  }
}

function explain(deps: ToolCallDeps, call: ToolCallPart, error: unknown): Attempt {
  const failure = error instanceof ToolFailure ? error : undefined;
  if (deps.signal.aborted) return refuse("interrupted", failure?.message ?? "Interrupted before it finished.", failure?.details);
  if (failure) return refuse("error", failure.message, failure.details);
  if (error instanceof RuntimeError && error.code !== "internal") return refuse("error", error.message);
  const message = error instanceof Error ? error.message : String(error);
  deps.emit({ type: "warning.raised", message: `The tool ${call.name} failed unexpectedly: ${message}` });
  return refuse("error", `The tool ${call.name} failed unexpectedly: ${message}`);
}

function malformed(raw: string): string {
  const shown = raw.length > 200 ? `${raw.slice(0, 200)}…` : raw;
  return `The input was no JSON object (it was cut off or broken), so the call was not run. Received: ${shown}`;
}

function refuse(status: ToolStatus, text: string, details?: ToolDetails): Attempt {
  return { status, output: { content: [{ type: "text", text }], ...(details && { details }) } };
}
