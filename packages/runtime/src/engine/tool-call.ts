import type { TextPart, ToolResultPart } from "../protocol/content.ts";
import { RuntimeError } from "../protocol/errors.ts";
import type { InertGit } from "../protocol/permission.ts";
import { pathsFrom, placeIn } from "../tools/working-directory.ts";
import type { ToolDetails, ToolStatus } from "../protocol/events.ts";
import { type ReadCheck, toReadCheck } from "../permissions/read-check.ts";
import type { AfterUse } from "./after-use.ts";
import { forApprovedFiles } from "./approved-files.ts";
import { toNoteParts } from "./hook-notes.ts";
import type { CallDeps } from "./deps.ts";
import { keepingChanges } from "./kept-changes.ts";
import { judgeCall, type Permit } from "./judge-call.ts";
import type { LiveCall } from "./live-call.ts";
import { runningWith } from "./run-with-permit.ts";
import { toSendableContent } from "../model/sendable/sendable-content.ts";
import { type FittedCall, fitInput } from "./fit-input.ts";
import { refuseMasksInCall } from "../tools/hidden-values.ts";
import { limitContent } from "../tools/output-limit.ts";
import { type ListHooks, type Access, type Tool, ToolFailure, type ToolOutput } from "../tools/tool.ts";
import type { Masked } from "../util/masked.ts";
import { maxJsonDepth } from "../util/too-deep.ts";
import { defined } from "../util/defined.ts";
import { messageOf } from "../util/message-of.ts";

/** A call that was judged: what it may touch of the machine is decided. */
type ClearedDeps = CallDeps & { readonly mayRead: ReadCheck | undefined; readonly git?: InertGit | undefined };

export type Attempt = {
  status: ToolStatus;
  output: ToolOutput;
  /** What hooks want the model to know. */
  notes?: readonly TextPart[];
  /** The call as it was run. */
  ran?: LiveCall;
  /** It may have changed something. */
  changes?: boolean;
  /** Real paths of the files it was about. */
  touched?: readonly string[];
  /** Its input as it was understood; absent where it was not. */
  meant?: LiveCall["input"];
};

/** How long a tool may take to stop by itself after an abort before it is left behind. */
const abortGraceMs = 700;

/** How often it is told that a tool still runs: an observer can tell long work from a hanging run. */
const heartbeatMs = 30_000;

/** find → parse → hooks and permission → intent → execute → hooks → limit output. Every refusal is a result the model reads; nothing here throws but a failing store. */
export async function runToolCall(deps: CallDeps, call: LiveCall): Promise<Masked<ToolResultPart>> {
  const startedAt = deps.clock();
  const from = placeIn(deps.memory, deps.workspace).directory;
  const attempted = await attempt(deps, call);
  const { status, output } = attempted;
  const ranMs = Math.round(deps.clock() - startedAt);
  const after: AfterUse =
    attempted.ran && deps.hooks
      ? await (await import("./after-use.ts")).afterUse(deps, attempted.ran, { ...attempted, ranMs })
      : { notes: [] };
  const to = placeIn(deps.memory, deps.workspace).directory;
  // What they set for this place holds from the next command on; an abort is seen there too.
  if (to !== from) await deps.hooks?.ask("CwdChanged", () => ({ from, to }), deps).catch(() => undefined);
  const again = { ...attempted, output: { ...output, ...after } };
  const repeat =
    status === "interrupted"
      ? []
      : (await import("./note-repeat.ts")).noteRepeat(deps, { call, tool: findTool(deps, call.name), ended: again });
  const touched = status === "ok" && (deps.nested || deps.skillsOfFiles) ? (attempted.touched ?? []) : [];
  const nested =
    touched.length === 0 ? undefined : await (await import("./nested-notes.ts")).noteTouched(deps, call.callId, touched);
  const hide = deps.redactor.value;
  const sendable = await toSendableContent(after.content ?? output.content);
  // Also before it is cut: half a key could not be told from a word.
  const limited = await limitContent(hide(sendable), {
    limit: findTool(deps, call.name)?.outputLimit ?? deps.outputLimit,
    save: (text) => deps.workspace.saveOverflow(`${call.name}-${call.callId}.txt`, text),
  });
  const details: ToolDetails = {
    ...output.details,
    ...nested?.details,
    ...defined({ fullOutputPath: limited.fullOutputPath, fullOutputBytes: limited.fullOutputBytes }),
  };
  const notes = [...(attempted.notes ?? []), ...after.notes, ...repeat, ...(nested?.notes ?? [])];
  const result = hide<ToolResultPart>({
    type: "tool-result",
    callId: call.callId,
    name: call.name,
    // Beside the limit: what a hook has to say is not cut because the tool said much.
    content: [...limited.content, ...notes],
    isError: status !== "ok",
  });
  const durationMs = Math.round(deps.clock() - startedAt);
  deps.emit({
    type: "tool.ended",
    callId: call.callId,
    name: call.name,
    status,
    result,
    ...(notes.length > 0 && { notes: notes.length }),
    durationMs,
    ...(Object.keys(details).length > 0 && { details }),
  });
  return result;
}

/** The files that a call is about, where it is about files: a search through a folder touches none. */
function touchedBy(tool: Tool, { kind, resources }: Access): readonly string[] {
  if (kind === "edit") return resources;
  return kind === "look" && tool.facts?.fields?.file !== undefined ? resources : [];
}

async function attempt(deps: CallDeps, call: LiveCall): Promise<Attempt> {
  if (deps.signal.aborted) return refuse("interrupted", "Not run: the turn was interrupted before this call started.");
  const halted = deps.halted();
  if (halted) {
    const who = halted.limit === "hook" ? "a hook ended the turn" : "the turn ended";
    return refuse("interrupted", `Not run: ${who} before this call started (${halted.reason}).`);
  }
  const tool = findTool(deps, call.name);
  if (!tool) return refuse("error", `There is no tool named ${call.name}. The tools are: ${namesOf(deps.tools).join(", ")}.`);
  const { malformedInput: text, ...rest } = call;
  const fitted = await fitInput(tool, { ...rest, name: tool.name, ...(text !== undefined && { input: text }) });
  if (!fitted.ok && text !== undefined) return refuse("error", malformed(text));
  if (!fitted.ok) return refuse("error", `Invalid input for ${call.name}: ${fitted.message}`);
  return { ...(await attemptFitted(deps, call, { tool, fitted })), meant: fitted.call.input };
}

async function attemptFitted(
  deps: CallDeps,
  call: LiveCall,
  { tool, fitted }: { readonly tool: Tool; readonly fitted: Extract<FittedCall, { ok: true }> },
): Promise<Attempt> {
  try {
    const placed = await placeInput(deps, fitted.call, tool);
    const judgement = await judgeCall(deps, placed, tool);
    const notes = [...fitted.notes, ...toNoteParts("PreToolUse", judgement.notes)];
    if (judgement.type === "refused") return { ...refuse("denied", judgement.text, judgement.details), notes };
    const { access, call: judged, permit } = judgement;
    const acts = access.kind !== "look" && access.kind !== "note";
    if (acts && !tool.checksMasks) refuseMasksInCall(judged.input, deps.redactor.standsFor);
    const workspace = runningWith(deps.workspace, permit, traceparentOf(deps, call));
    const cleared: ClearedDeps = { ...clear({ ...deps, workspace }, tool, access), git: permit.git };
    if (access.kind === "run") await deps.keeper?.noteUncovered(call.callId, access.resources.join("\n"));
    // The intent is on record before anything happens, so that a crash can never hide that it may have happened.
    const started = { type: "tool.started", callId: call.callId, name: call.name, input: judged.input } as const;
    const areEnded = access.kind === "run" && (await deps.workspace.endsProcesses?.());
    deps.emit(access.kind === "run" ? { ...started, processes: areEnded ? "ended" : "may-run" } : started);
    await deps.flush();
    return {
      ...(await runTool(cleared, judged, tool)),
      notes,
      changes: mayChange(deps, access, permit),
      touched: touchedBy(tool, access),
    };
  } catch (error) {
    return explain(deps, call, error);
  }
}

/** Everybody who judges, watches or runs the call sees the file it means. */
async function placeInput({ memory, workspace }: CallDeps, call: LiveCall, tool: Tool): Promise<LiveCall> {
  const here = tool.placed && pathsFrom(memory, workspace);
  return here && tool.placed ? { ...call, input: await tool.placed(call.input, here) } : call;
}

/** By its name, by another name the host gave it, or by its name in other letters if only one is meant by that. */
function findTool({ tools, toolAliases = {} }: CallDeps, called: string): Tool | undefined {
  const bare = tools.has(called) ? called : called.trim().replace(/^(?:functions|tools|default_api)\./, ""); // as some models write it
  const name = (Object.hasOwn(toolAliases, bare) && toolAliases[bare]) || bare;
  const exact = tools.get(name);
  if (exact) return exact;
  const alike = [...tools.keys()].filter((known) => known.toLowerCase() === name.toLowerCase());
  return alike.length === 1 ? tools.get(alike[0] ?? "") : undefined;
}

/** A command that these modes let run without a rule only looks. */
const lookingModes: ReadonlySet<string> = new Set(["default", "dontAsk", "plan"]);

function mayChange({ policy }: CallDeps, { kind, resources }: Access, { by }: Permit): boolean {
  if (kind === "run") return !(by === "mode" && lookingModes.has(policy().mode));
  if (kind === "note") return resources.length > 0; // an agent, whose work this call stands for
  return kind !== "look";
}

/** What a call may touch of the machine: the files it was given permission for, kept before they change. */
function clear(deps: CallDeps, tool: Tool, { kind, resources }: Access): ClearedDeps {
  const { workspace, keeper, emit } = deps;
  if (kind !== "look" && kind !== "edit") return { ...deps, mayRead: undefined };
  const mayRead = kind === "look" ? toReadCheck(deps.policy(), { tool: tool.name, approved: resources }) : undefined;
  const approved = forApprovedFiles(workspace, resources, mayRead);
  return { ...deps, mayRead, workspace: kind === "edit" && keeper ? keepingChanges(approved, { keeper, emit }) : approved };
}

async function runTool(deps: ClearedDeps, call: LiveCall, tool: Tool): Promise<Attempt> {
  try {
    const output = await execute(deps, call, tool);
    if (output.warning !== undefined) warnOnce(deps, output.warning);
    if (output.followUp !== undefined) deps.followUp?.(output.followUp);
    return { status: output.isError ? "error" : "ok", output, ran: call };
  } catch (error) {
    const failed = explain(deps, call, error);
    return failed.status === "interrupted" ? failed : { ...failed, ran: call };
  }
}

function warnOnce({ memory, emit }: CallDeps, message: string): void {
  const told = memory.slot("warnings", () => new Set<string>());
  if (told.has(message)) return;
  told.add(message);
  emit({ type: "warning.raised", message });
}

/** A tool that does not stop on abort is left behind after a short grace: the turn ends whatever it does. */
async function execute(deps: ClearedDeps, call: LiveCall, tool: Tool): Promise<ToolOutput> {
  const { signal } = deps;
  signal.throwIfAborted();
  let timer: NodeJS.Timeout | undefined;
  let onAbort = (): void => {};
  const leftBehind = new Promise<never>((_, reject) => {
    onAbort = () => {
      timer = setTimeout(() => reject(signal.reason), tool.abortGraceMs ?? abortGraceMs);
    };
    signal.addEventListener("abort", onAbort, { once: true });
  });
  const progress = (text: string): void => deps.emit({ type: "tool.progress", callId: call.callId, text });
  const heartbeat = setInterval(() => progress(""), heartbeatMs).unref();
  const running = tool.execute(call.input, {
    callId: call.callId,
    workspace: deps.workspace,
    memory: deps.memory,
    deferredTools: deps.deferredTools,
    tasks: deps.tasks,
    skills: deps.skills,
    mayRead: deps.mayRead,
    standsForSecret: deps.redactor.standsFor,
    meetSecrets: deps.redactor.meet,
    git: deps.git,
    traceparent: traceparentOf(deps, call),
    listHooks: listHooksOf(deps),
    roots: deps.policy().directories,
    signal,
    progress,
  });
  try {
    return await Promise.race([running, leftBehind]);
  } finally {
    signal.removeEventListener("abort", onAbort);
    clearTimeout(timer);
    clearInterval(heartbeat);
  }
}

function listHooksOf({ hooks, signal, emit }: CallDeps): ListHooks | undefined {
  if (!hooks) return undefined;
  return async (moment, task) => {
    const { stop, decision } = await hooks.ask(moment, () => task, { signal, emit });
    return stop ?? (decision?.effect === "deny" ? decision.reason : undefined);
  };
}

function traceparentOf({ traceparent, agent }: CallDeps, { callId }: LiveCall): string | undefined {
  return traceparent?.(callId, agent?.id);
}

function explain(deps: CallDeps, call: LiveCall, error: unknown): Attempt {
  const failure = error instanceof ToolFailure ? error : undefined;
  if (deps.signal.aborted) return refuse("interrupted", failure?.message ?? "Interrupted before it finished.", failure?.details);
  if (failure) return refuse("error", failure.message, failure.details);
  // Without its record nothing may be done, by this call or any later one: the turn ends, and says why.
  if (error instanceof RuntimeError && error.code === "storage-failed") throw error;
  if (error instanceof RuntimeError && error.code !== "internal") return refuse("error", error.message);
  const message = messageOf(error);
  deps.emit({ type: "warning.raised", message: `The tool ${call.name} failed unexpectedly: ${message}` });
  return refuse("error", `The tool ${call.name} failed unexpectedly: ${message}`);
}

/** Without the other names under which some are understood. */
function namesOf(tools: CallDeps["tools"]): string[] {
  return [...tools].flatMap(([name, tool]) => (tool.name === name && !tool.facts?.isOtherName ? [name] : []));
}

function malformed(raw: string): string {
  const shown = raw.length > 200 ? `${raw.slice(0, 200)}…` : raw;
  return `The input was no JSON object (it was cut off, broken, or nested more than ${maxJsonDepth} levels deep), so the call was not run. Received: ${shown}`;
}

function refuse(status: ToolStatus, text: string, details?: ToolDetails): Attempt {
  return { status, output: { content: [{ type: "text", text }], ...defined({ details }) } };
}
