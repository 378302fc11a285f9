import type { JsonObject } from "../protocol/content.ts";
import type { HookEventName } from "../protocol/events.ts";
import type { Hook, HookRequest, HookRunner, HookSet, HookVerdict } from "./hook.ts";
import { type HookPorts, type HookResult, performHook } from "./perform.ts";
import { consequenceOf, Verdict } from "./verdict.ts";
import { defined } from "../util/defined.ts";

const shownOutput = 16 * 1024;

/** Runs the hooks of a session. Each moment's hooks run one after the other, and each sees what the one before made of the input. */
export function createHookRunner(set: HookSet, ports: HookPorts): HookRunner {
  let { hooks } = set;
  const events = new Set<HookEventName>(hooks.map((hook) => hook.event));
  const background = new Set<Promise<unknown>>();
  const spent = new Set<Hook>();
  const closing = new AbortController();

  const run = async (request: HookRequest): Promise<HookVerdict> => {
    const verdict = new Verdict(request.event);
    const { event, promptId } = request;
    let input: JsonObject = { ...ports.common(event, promptId), hook_event_name: event, ...request.input };
    const done = new Set<string>();
    for (const hook of hooks) {
      if (spent.has(hook) || !(await isDue(hook, request, input["tool_input"])) || isAgain(hook, done)) continue;
      if (hook.once) spent.add(hook);
      const result = await start(hook, { ...request, input });
      if (result) tell(hook, request, result);
      request.signal.throwIfAborted();
      if (!result) continue; // it runs on by itself
      verdict.add(hook, result);
      if (verdict.settled) break;
      if (verdict.updatedInput) input = { ...input, tool_input: verdict.updatedInput };
    }
    return verdict.toHookVerdict();
  };

  /** Undefined when nobody is to wait for it. */
  const start = async (hook: Hook, request: HookRequest): Promise<HookResult | undefined> => {
    let detach = (): void => {};
    const detached = new Promise<undefined>((resolve) => {
      detach = () => resolve(undefined);
    });
    const stop = new AbortController();
    const onAbort = (): void => stop.abort();
    const onClosing = (): void => stop.abort();
    const leave = (): void => {
      request.signal.removeEventListener("abort", onAbort); // from here on it outlives its turn
      detach();
    };
    closing.signal.addEventListener("abort", onClosing, { once: true });
    request.signal.addEventListener("abort", onAbort, { once: true });
    if (closing.signal.aborted || request.signal.aborted) stop.abort();
    const running = record(hook, request, { signal: stop.signal, onDetached: leave }).finally(() => {
      closing.signal.removeEventListener("abort", onClosing);
      request.signal.removeEventListener("abort", onAbort);
    });
    const owned = running.catch(() => undefined).finally(() => background.delete(owned));
    background.add(owned);
    if (hook.background) leave();
    return await Promise.race([running, detached]);
  };

  /** A hook's run between its two events. A callback is a part of the program that listens, so it gets none. */
  const record = async (
    hook: Hook,
    request: HookRequest,
    task: { signal: AbortSignal; onDetached(): void },
  ): Promise<HookResult> => {
    const { event, callId, emit, input } = request;
    const about = { hookId: ports.newId(), event, name: nameOf(request), ...defined({ callId }) };
    const silent = hook.action.type === "callback";
    const startedAt = ports.clock();
    if (!silent) emit({ type: "hook.started", ...about, background: hook.background });
    const result = await performHook(hook, { input, callId, emit, ...task }, ports);
    const { status, exitCode } = result;
    const shown = { stdout: shorten(result), stderr: result.stderr.slice(0, shownOutput) };
    const durationMs = Math.round(ports.clock() - startedAt);
    if (!silent) emit({ type: "hook.ended", ...about, status, ...defined({ exitCode }), ...shown, durationMs });
    return result;
  };

  return {
    has: (event) => events.has(event),
    list: () => hooks,
    run,
    notify(request) {
      const running = run({ ...request, signal: closing.signal })
        .catch(() => undefined) // it can only have been cut off by the end of the session
        .finally(() => background.delete(running));
      background.add(running);
    },
    add(more) {
      const all = [...hooks, ...more];
      hooks = [...all.filter(({ guard }) => !guard), ...all.filter(({ guard }) => guard)];
      for (const { event } of more) events.add(event);
    },
    remove(some) {
      hooks = hooks.filter((hook) => !some.includes(hook));
    },
    async close(graceMs) {
      let timer: NodeJS.Timeout | undefined;
      const patience = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, graceMs);
      });
      await Promise.race([Promise.all(background), patience]);
      clearTimeout(timer);
      closing.abort();
      await Promise.all(background);
    },
  };
}

/** A tool that people know under other names, or that does what those do, is matched under all of them. */
const otherNames: Readonly<Record<string, readonly string[]>> = {
  Agent: ["Task"],
  Task: ["Agent"],
  Shell: ["Bash"],
  BashTool: ["Bash"],
  apply_patch: ["Edit", "Write"],
};

async function isDue(hook: Hook, request: HookRequest, toolInput: unknown): Promise<boolean> {
  if (hook.event !== request.event || (request.only === "guards" && !hook.guard)) return false;
  if (hook.agentId !== undefined && hook.agentId !== request.input["agent_id"]) return false;
  const { subject = "" } = request;
  const others = (Object.hasOwn(otherNames, subject) && otherNames[subject]) || [];
  if (![subject, ...others].some((name) => hook.matches(name))) return false;
  if (!hook.condition || !request.concerns) return true;
  return await request.concerns(hook.condition, toolInput);
}

/** The same thing written twice, by two files or under two matchers, is done once at each moment. A callback is only like itself. */
function isAgain({ action, guard, onFailure, background }: Hook, done: Set<string>): boolean {
  if (action.type === "callback") return false;
  const what = JSON.stringify([action, guard, onFailure, background]);
  const again = done.has(what);
  done.add(what);
  return again;
}

/** What the hook could not say, and what it wants a person to know. */
function tell(hook: Hook, request: HookRequest, { status, output, problem, lost }: HookResult): void {
  const name = `${nameOf(request)} hook of ${hook.source}`;
  if (problem !== undefined) {
    const consequence = consequenceOf(hook, { status }) === "block" ? "so it blocks" : "and was passed over";
    request.emit({
      type: "warning.raised",
      message: `The ${name} ${status === "timeout" ? "timed out" : "failed"} (${problem}), ${consequence}`,
    });
  } else if (hook.event === "SessionEnd" && status !== "ok") {
    const what = status === "blocked" ? `said no (${output.reason}), which changes nothing` : "took too long and was ended";
    request.emit({ type: "warning.raised", message: `The ${name} ${what}` });
  } else if (lost > 0) {
    request.emit({ type: "warning.raised", message: `The ${name} wrote too much: ${lost} bytes of its output were left out` });
  }
  if (output.title !== undefined && naming.has(hook.event)) request.emit({ type: "session.named", name: output.title });
  if (output.message !== undefined) request.emit({ type: "warning.raised", message: output.message, hook: nameOf(request) });
}

/** The moments whose hooks may name the session. */
const naming: ReadonlySet<HookEventName> = new Set<HookEventName>(["SessionStart", "UserPromptSubmit"]);

function nameOf({ event, subject }: Pick<HookRequest, "event" | "subject">): string {
  return subject ? `${event}:${subject}` : event;
}

function shorten({ stdout, lost }: HookResult): string {
  const left = lost + Math.max(0, stdout.length - shownOutput);
  return left > 0 ? `${stdout.slice(0, shownOutput)}\n[${left} more were left out]` : stdout;
}
