import { isJsonObject, type JsonObject, type JsonValue } from "../protocol/content.ts";
import type { Emit, HookEventName } from "../protocol/events.ts";
import type { Workspace } from "../workspace/workspace.ts";
import type { HookExports } from "./exports.ts";
import type { Hook, HookAction } from "./hook.ts";
import { type HookOutput, type HookReading, parseHookOutput, parseJudgement, readHookOutput } from "./output.ts";
import { runCommandHook, saysAsync } from "./run-command.ts";
import { runHttpHook } from "./run-http.ts";
import { defined } from "../util/defined.ts";
import { messageOf } from "../util/message-of.ts";

export type ServerCall = {
  readonly server: string;
  readonly tool: string;
  readonly input: JsonObject;
  readonly signal: AbortSignal;
};

export type ModelQuestion = {
  readonly prompt: string;
  readonly model: string | undefined;
  readonly signal: AbortSignal;
  /** What the answer costs is told here. */
  readonly emit: Emit;
};

/** What hooks need of the session they belong to. */
export type HookPorts = {
  readonly workspace: Workspace;
  /** The words of a model that is asked once. */
  readonly askModel: (question: ModelQuestion) => Promise<string>;
  /** The last words of an agent that may look around, and nothing else. */
  readonly runAgent: (question: ModelQuestion & { readonly maxTurns: number | undefined }) => Promise<string>;
  /** The text of what a tool of an MCP server answers. Rejects when there is none, or when it answers with an error. */
  readonly callServer: (call: ServerCall) => Promise<string>;
  /** Where http hooks find the variables their headers name. */
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** The fields every hook gets. `promptId`: where it is not the prompt that is worked on. */
  readonly common: (event: HookEventName, promptId: string | undefined) => JsonObject;
  /** Takes in what commands set for later ones; absent where they cannot. */
  readonly exports?: HookExports | undefined;
  readonly newId: () => string;
  readonly clock: () => number;
};

export type HookResult = {
  /** `blocked`: it said no. */
  readonly status: "ok" | "blocked" | "failed" | "timeout" | "cancelled";
  readonly output: HookOutput;
  /** Why it could not say anything. */
  readonly problem?: string;
  readonly exitCode?: number;
  readonly stdout: string;
  readonly stderr: string;
  /** Bytes of its output that were left out. */
  readonly lost: number;
};

export type HookTask = {
  readonly input: JsonObject;
  readonly callId: string | undefined;
  readonly signal: AbortSignal;
  readonly emit: Emit;
  /** A command said that it goes on by itself: nobody need wait for it any longer. */
  onDetached(): void;
};

const nothingWritten = { stdout: "", stderr: "", lost: 0 };

/** One run of one hook to its end. Never rejects: what went wrong is in the result. */
export async function performHook(hook: Hook, task: HookTask, ports: HookPorts): Promise<HookResult> {
  if (hook.action.type === "command") return await performCommand(hook, hook.action, { task, ports });
  const { action } = hook;
  const end = await withinTime((signal) => act(action, { ...task, signal }, { ports, event: hook.event }), {
    timeoutMs: hook.timeoutMs,
    signal: task.signal,
  });
  const isServer = action.type === "mcp_tool"; // told as if it were a command
  if (end.type === "done") {
    const result = toResult(end.value.reading, { stdout: end.value.body, stderr: "", lost: 0 });
    return isServer ? { ...result, exitCode: 0 } : result;
  }
  if (end.type === "timeout") return { status: "timeout", output: {}, problem: afterTime(hook), ...nothingWritten };
  if (end.type === "aborted") return { status: "cancelled", output: {}, ...nothingWritten };
  const failed: HookResult = { status: "failed", output: {}, problem: end.problem, ...nothingWritten };
  return isServer ? { ...failed, exitCode: 1, stderr: end.problem } : failed;
}

async function performCommand(
  hook: Hook,
  action: HookAction & { type: "command" },
  { task, ports }: { task: HookTask; ports: HookPorts },
): Promise<HookResult> {
  const exportsFile = await ports.exports?.fileFor(hook.event, task.input);
  const { end, exitCode, problem, ...written } = await runCommandHook({
    workspace: ports.workspace,
    action,
    exportsFile,
    input: task.input,
    timeoutMs: hook.timeoutMs,
    signal: task.signal,
    onDetached: task.onDetached,
  });
  if (exportsFile !== undefined) await ports.exports?.take(task.emit, task.signal);
  if (end === "timeout") return { status: "timeout", output: {}, problem: afterTime(hook), ...written };
  if (end === "aborted") return { status: "cancelled", output: {}, ...written };
  if (end === "failed") return { status: "failed", output: {}, ...defined({ problem }), ...written };
  const code = exitCode ?? 0;
  if (code === 2 && hook.event !== "SessionStart") {
    const reason = written.stderr.trim() || "it ended with exit code 2 and gave no reason";
    return { status: "blocked", output: { decision: "deny", reason }, exitCode: code, ...written };
  }
  if (code === 0 && saysAsync(written.stdout)) return { status: "ok", output: { background: true }, exitCode: code, ...written };
  if (code === 0) return { ...toResult(parseHookOutput(written.stdout, hook.event), written), exitCode: code };
  // It failed by its exit code, and yet said what it wants in words that can be understood.
  const reading = written.stdout.trim().startsWith("{") ? parseHookOutput(written.stdout, hook.event) : undefined;
  if (reading?.ok) return { ...toResult(reading, written), exitCode: code };
  const said = written.stderr.trim().split("\n", 1)[0];
  return { status: "failed", output: {}, problem: `exit code ${code}${said ? `: ${said}` : ""}`, exitCode: code, ...written };
}

function toResult(reading: HookReading, written: Pick<HookResult, "stdout" | "stderr" | "lost">): HookResult {
  if (reading.ok) return { status: reading.output.decision === "deny" ? "blocked" : "ok", output: reading.output, ...written };
  const problem = written.lost > 0 ? "its output is too long to be read" : reading.problem;
  return { status: "failed", output: {}, problem, ...written };
}

function afterTime(hook: Hook): string {
  return `it did not end within ${hook.timeoutMs / 1000} s`;
}

type Read = { readonly reading: HookReading; readonly body: string };

async function act(
  action: Exclude<HookAction, { type: "command" }>,
  { input, callId, signal, emit }: HookTask,
  { ports, event }: { ports: HookPorts; event: HookEventName },
): Promise<Read> {
  switch (action.type) {
    case "http": {
      const end = await runHttpHook(action, { input: JSON.stringify(input), signal, variables: ports.variables });
      return { reading: end.ok ? parseHookOutput(end.body, event) : { ok: false, problem: end.problem }, body: end.body };
    }
    case "mcp_tool": {
      const { server, tool, input: written } = action;
      const body = await ports.callServer({ server, tool, input: fillIn(written, input), signal });
      return { reading: parseHookOutput(body, event), body };
    }
    case "prompt": {
      const body = await ports.askModel({ prompt: withInput(action.prompt, input), model: action.model, signal, emit });
      return { reading: parseJudgement(body), body };
    }
    case "agent": {
      const { model, maxTurns } = action;
      const body = await ports.runAgent({ prompt: withInput(action.prompt, input), model, maxTurns, signal, emit });
      return { reading: parseJudgement(body), body };
    }
    case "callback": {
      const said = await action.callback(structuredClone(input), { signal, ...defined({ toolUseId: callId }) });
      return { reading: readHookOutput(said), body: "" };
    }
  }
}

/** `${tool_input.command}` stands for what is there in the hook's input, and for nothing where nothing is. */
function fillIn(written: JsonObject, input: JsonObject): JsonObject {
  const fill = (value: JsonValue): JsonValue => {
    if (typeof value === "string") return value.replace(/\$\{([\w.]+)\}/g, (_, path: string) => textAt(input, path));
    if (Array.isArray(value)) return value.map(fill);
    return isJsonObject(value) ? fillAll(value) : value;
  };
  const fillAll = (object: JsonObject): JsonObject =>
    Object.fromEntries(Object.entries(object).map(([name, value]) => [name, fill(value)]));
  return fillAll(written);
}

function textAt(input: JsonObject, path: string): string {
  let value: JsonValue | undefined = input;
  for (const name of path.split("."))
    value =
      isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : Array.isArray(value) ? value[Number(name)] : undefined;
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** `$ARGUMENTS` stands for the hook's input; a prompt that does not say where it goes has it at its end. */
function withInput(prompt: string, input: JsonObject): string {
  const json = JSON.stringify(input);
  return prompt.includes("$ARGUMENTS") ? prompt.split("$ARGUMENTS").join(json) : `${prompt}\n\n${json}`;
}

type Ended<T> =
  | { readonly type: "done"; readonly value: T }
  | { readonly type: "timeout" }
  | { readonly type: "aborted" }
  | { readonly type: "failed"; readonly problem: string };

/** A hook that does not stop in time is left behind. */
async function withinTime<T>(
  work: (signal: AbortSignal) => Promise<T>,
  { timeoutMs, signal }: { timeoutMs: number; signal: AbortSignal },
): Promise<Ended<T>> {
  if (signal.aborted) return { type: "aborted" };
  const own = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let onAbort = (): void => {};
  const cut = new Promise<Ended<T>>((resolve) => {
    const stop = (type: "timeout" | "aborted"): void => {
      resolve({ type });
      own.abort(signal.reason);
    };
    onAbort = () => stop("aborted");
    timer = setTimeout(() => stop("timeout"), timeoutMs);
    signal.addEventListener("abort", onAbort, { once: true });
  });
  const done = work(own.signal).then(
    (value): Ended<T> => ({ type: "done", value }),
    (error: unknown): Ended<T> => ({ type: "failed", problem: messageOf(error) }),
  );
  try {
    return await Promise.race([done, cut]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
  }
}
