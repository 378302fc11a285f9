import type { AgentEvent, Outcome, Usage } from "@outrider/runtime";
import { toValue } from "./cut.ts";
import { firstLine, headline, shorten } from "./describe-call.ts";
import { toldEdits } from "./edits.ts";
import { addTokens, known, noTokens, type RunFacts, StepList, toRunModel } from "./run-builder.ts";
import type { HookRow, PermissionRow, Picture, RunModel, RunOutcome, TokenCounts } from "./run-model.ts";

export type EventOptions = {
  /** What an answer cost in US dollars; null when nobody knows its price, undefined when it is told later (`RunReducer.cost`). */
  readonly priceOf?: (call: AgentEvent<"message.ended" | "side-call.ended">) => number | null | undefined;
};

/** The model of a run, event by event: a report is given all of them, a live page each as it comes. */
export class RunReducer {
  readonly #options: EventOptions;
  #list = new StepList();
  #facts: RunFacts = { id: "", source: "session", agent: "Outrider" };
  #began: number | undefined;
  #lastAt = 0;
  #outcome: RunOutcome | undefined;
  /** The turn runs a command, and no model has answered in it. */
  #isUnsaid = false;
  #hasUnknownPrice = false;
  readonly #permissions: PermissionRow[] = [];
  readonly #hooks = new Map<string, HookRow>();
  readonly #lists = new Map<string, { list: StepList; agent: { name: string; durationMs?: number } }>();
  readonly #asked = new Map<string, { callId: string; at: number; list: StepList }>();
  readonly #waited = new Map<string, number>();
  #side: { usage: TokenCounts; modelMs: number; costUsd: number } = { usage: noTokens, modelMs: 0, costUsd: 0 };
  #events = 0;
  /** Answers whose cost is told later, by the number of their event. */
  readonly #unpriced = new Map<number, (costUsd: number) => void>();

  constructor(options: EventOptions = {}) {
    this.#options = options;
  }

  push(event: AgentEvent): void {
    this.#events++;
    const time = Date.parse(event.at);
    this.#began ??= time;
    const at = Math.max(0, time - this.#began);
    // A session that nobody uses is closed long after its run is over.
    if (event.type !== "session.ended") this.#lastAt = Math.max(this.#lastAt, at);
    this.#take(event, event.taskId === undefined ? this.#list : (this.#lists.get(event.taskId)?.list ?? this.#list), at);
  }

  /** What the answer of this event cost; null when nobody knows. */
  cost(seq: number, costUsd: number | null): void {
    const put = this.#unpriced.get(seq);
    if (!put) return;
    this.#unpriced.delete(seq);
    if (costUsd === null) this.#hasUnknownPrice = true;
    else put(costUsd);
  }

  model(): RunModel {
    return toRunModel(this.#list, {
      ...this.#facts,
      ...known({ outcome: this.#outcome }),
      ...(this.#began !== undefined && { startedAt: new Date(this.#began).toISOString(), durationMs: this.#lastAt }),
      ...{ permissions: this.#permissions, hooks: [...this.#hooks.values()], side: this.#side },
      hasUnknownPrice: this.#hasUnknownPrice,
      notes: [`${this.#events.toLocaleString("en-US")} events.`],
    });
  }

  #take(event: AgentEvent, list: StepList, at: number): void {
    switch (event.type) {
      case "session.started":
        return this.#opened(event, at);
      case "session.named":
        this.#facts = { ...this.#facts, title: event.name };
        return;
      case "session.changed":
        if (event.model) list.rule({ kind: "change", title: `Model changed to ${event.model.id}` }, { at });
        if (event.permissionMode)
          list.rule({ kind: "change", title: `Permission mode changed to ${event.permissionMode}` }, { at });
        return;
      case "session.rewound":
        return list.rule(
          { kind: "change", title: "The session was rewound: what is above is no part of the conversation from here on" },
          { at },
        );
      case "turn.started":
        if (event.taskId === undefined) this.#tellEnd(list, at);
        if (event.taskId === undefined) this.#isUnsaid = event.command !== undefined;
        return list.prompt({
          text: event.displayInput ?? textIn(event.input),
          at,
          images: picturesIn(event.input),
          ...(event.tasks && { who: "Background task" }),
        });
      case "input.added":
        return list.prompt({ text: textIn(event.input), at, images: picturesIn(event.input), who: origins[event.origin] });
      case "retry.scheduled":
        return list.retry(event.delayMs, event.error.message);
      case "fallback.used":
        return list.rule(
          { kind: "change", title: `${event.to} was asked instead of ${event.from}`, detail: toValue(event.error.message) },
          { at },
        );
      case "message.ended":
        if (event.taskId === undefined) this.#isUnsaid = false;
        return this.#answered(event, list, at);
      case "tool.started":
        return list.startCall(event.callId, at);
      case "tool.ended":
        return this.#ended(event, list, at);
      case "tool.progress":
        return list.updateCall(event.callId, { output: event.text });
      case "permission.requested":
        this.#asked.set(event.requestId, { callId: event.callId, at, list });
        return list.updateCall(event.callId, { status: "waiting" });
      case "permission.resolved":
        return this.#resolved(event, at);
      case "permission.decided":
        return this.#decided(event, list);
      case "hook.ended":
        return this.#hooked(event, list);
      case "side-call.ended":
        this.#side = {
          usage: addTokens(this.#side.usage, tokensOf(event.message.usage)),
          modelMs: this.#side.modelMs + event.durationMs,
          costUsd: this.#side.costUsd + (this.#price(event, (cost) => this.#addSideCost(cost)) ?? 0),
        };
        return;
      case "compaction.ended":
        return this.#compacted(event, list, at);
      case "context.cleared":
        return list.rule(
          {
            kind: "compaction",
            title: `${event.results.length} old results left the context`,
            detail: toValue(tokenChange(event)),
          },
          { at },
        );
      case "task.started": {
        const agent = { name: event.agent, model: event.model.id, at };
        const child = list.openSubagent(event.callId, agent);
        child.prompt({ text: event.prompt, at });
        this.#lists.set(event.taskId, { list: child, agent });
        return;
      }
      case "task.ended": {
        const task = this.#lists.get(event.taskId);
        if (task) task.agent.durationMs = event.durationMs;
        return;
      }
      case "warning.raised":
        return list.rule({ kind: "warning", title: shorten(firstLine(event.message), 200) }, { at });
      case "turn.ended":
        return event.taskId === undefined ? this.#over(event, list, at) : undefined;
    }
  }

  /** How the turn before ended, where its last words do not say it: the head of the page only tells of the latest. */
  #tellEnd(list: StepList, at: number): void {
    const before = this.#outcome;
    this.#outcome = undefined;
    if (before === undefined || before.state === "completed") return;
    const title = `${endWords[before.state]}: ${before.what}`;
    list.rule(
      { kind: before.state === "failed" ? "warning" : "change", title, ...(before.cause && { detail: toValue(before.cause) }) },
      { at },
    );
  }

  /** What a command answers is said by nobody but its end. What was still asked then is answered by nobody. */
  #over({ outcome }: AgentEvent<"turn.ended">, list: StepList, at: number): void {
    this.#outcome = toOutcome(outcome);
    if (this.#isUnsaid && outcome.type === "completed" && outcome.text !== "")
      list.answer({ text: outcome.text, reasoning: "", calls: [], at });
    list.endOpenCalls();
    for (const asked of this.#asked.values()) asked.list.updateCall(asked.callId, { status: "unknown" });
    this.#asked.clear();
  }

  #opened(event: AgentEvent<"session.started">, at: number): void {
    const { sessionId, cwd, permissionMode, version, resumed } = event;
    if (this.#facts.id === "") {
      this.#list = new StepList(cwd);
      this.#facts = { ...this.#facts, id: sessionId, cwd, agent: `Outrider ${version}`, ...known({ commit: event.commit }) };
    } else if (resumed) this.#list.rule({ kind: "resume", title: "Session resumed" }, { at });
    this.#facts = { ...this.#facts, mode: permissionMode, ...known({ model: event.model?.id }) }; // a log from elsewhere may lack it
  }

  #answered(event: AgentEvent<"message.ended">, list: StepList, at: number): void {
    const { message, durationMs } = event;
    const text = (type: "text" | "reasoning"): string =>
      message.content.map((part) => (part.type === type && "text" in part ? part.text : "")).join("");
    const calls = message.content.flatMap((part) =>
      part.type === "tool-call" ? [{ id: part.callId, name: part.name, input: part.malformedInput ?? part.input }] : [],
    );
    const step = list.answer({
      ...{ text: text("text"), reasoning: text("reasoning"), calls, modelMs: durationMs, model: message.model.id },
      ...{
        at: Math.max(0, at - durationMs),
        usage: tokensOf(message.usage),
        costUsd: this.#price(event, (cost) => {
          step.costUsd = cost;
        }),
      },
    });
  }

  #ended(event: AgentEvent<"tool.ended">, list: StepList, at: number): void {
    const { callId, status, result, durationMs, details } = event;
    const output = result.content
      .map((part) => (part.type === "text" ? part.text : ""))
      .join("\n")
      .trimEnd();
    // The time of a call counts from its announcement: what it waited for an answer is told by itself.
    const { at: began, waitMs = 0 } = list.find(callId)?.call ?? {};
    const tookMs = began === undefined ? Math.max(0, durationMs - waitMs) : Math.min(durationMs, at - began);
    list.endCall(callId, {
      ...{
        status,
        output,
        tookMs,
        at,
        exitCode: details?.exitCode,
        edits: toldEdits(details, this.#facts.cwd),
        images: picturesIn(result),
      },
    });
    if (details?.fullOutputPath)
      list.noteCall(callId, {
        kind: "warn",
        text: `The model saw a shortened output; all of it is in ${details.fullOutputPath}`,
      });
    if (details?.backgroundTaskId)
      list.noteCall(callId, { kind: "hook", text: `Goes on in the background as ${details.backgroundTaskId}` });
  }

  #resolved({ requestId, callId, decision, by, reason }: AgentEvent<"permission.resolved">, at: number): void {
    const asked = this.#asked.get(requestId);
    if (!asked) return;
    this.#asked.delete(requestId);
    const waited = at - asked.at;
    if (by === "user") this.#waited.set(callId, (this.#waited.get(callId) ?? 0) + waited);
    asked.list.updateCall(callId, { status: "unknown" });
    if (by === "user" || waited >= 1_000) asked.list.waitCall(callId, waited); // else nobody was there to wait for
    if (by === "user")
      asked.list.noteCall(callId, {
        kind: decision === "deny" ? "denied" : "permission",
        text: `${decision === "deny" ? "Denied" : "Allowed"} by the user${reason ? `: ${reason}` : ""}`,
      });
  }

  #decided(event: AgentEvent<"permission.decided">, list: StepList): void {
    const { callId, tool, effect, by, reason, rule, source } = event;
    const place = list.find(callId);
    const isTold = by === "user" && this.#waited.has(callId);
    if (effect === "deny" && !isTold) list.noteCall(callId, { kind: "denied", text: `Denied by ${deciders[by]}: ${reason}` });
    // What the mode lets by itself is no news.
    if (effect === "allow" && by === "mode") return;
    this.#permissions.push({
      ...{ step: place?.step ?? 0, tool, preview: place?.call.preview ?? "", allowed: effect === "allow", by: deciders[by] },
      ...{ reason: rule ?? reason, ...known({ source, waitMs: this.#waited.get(callId) }) },
    });
  }

  #hooked({ event, name, status, durationMs, callId }: AgentEvent<"hook.ended">, list: StepList): void {
    const key = `${event} ${name}`;
    const row = this.#hooks.get(key) ?? { event, name, runs: 0, failed: 0, blocked: 0, ms: 0 };
    const failed = status === "failed" || status === "timeout";
    this.#hooks.set(key, {
      ...row,
      ...{
        runs: row.runs + 1,
        failed: row.failed + (failed ? 1 : 0),
        blocked: row.blocked + (status === "blocked" ? 1 : 0),
        ms: row.ms + durationMs,
      },
    });
    if (callId !== undefined && status !== "ok")
      list.noteCall(callId, { kind: "hook", text: `Hook ${name} (${event}): ${status}` });
  }

  #compacted({ result, preTokens, durationMs }: AgentEvent<"compaction.ended">, list: StepList, at: number): void {
    const facts = { at, tookMs: durationMs };
    if (result.type === "compacted") {
      const title = `Compaction · ${count(preTokens)} → ${count(result.postTokens)} tokens, ${result.replaced} messages summarised`;
      return list.rule({ kind: "compaction", title, detail: toValue(result.summary) }, facts);
    }
    const why = result.type === "failed" ? result.error.message : result.type === "refused" ? result.reason : "cancelled";
    list.rule({ kind: "warning", title: `Compaction did not happen: ${why}` }, facts);
  }

  #addSideCost(costUsd: number): void {
    this.#side = { ...this.#side, costUsd: this.#side.costUsd + costUsd };
  }

  #price(event: AgentEvent<"message.ended" | "side-call.ended">, later: (costUsd: number) => void): number | null {
    const price = this.#options.priceOf ? this.#options.priceOf(event) : null;
    if (price === null) this.#hasUnknownPrice = true;
    if (price === undefined) this.#unpriced.set(event.seq, later);
    return price ?? null;
  }
}

const origins = {
  continuation: "Nudge to go on",
  "empty-answer": "Nudge after an empty answer",
  "output-schema": "The answer did not fit its schema",
  hook: "Hook",
  user: "Prompt",
  skill: "Skill",
  task: "Background task",
  file: "File named in the prompt",
  parent: "Message to the agent",
} as const;

const deciders = {
  rule: "rule",
  mode: "mode",
  hook: "hook",
  user: "user",
  policy: "policy, nobody was there to ask",
  grant: "earlier grant",
} as const;

const limits = {
  "max-turns": "the limit of turns was reached",
  "max-requests": "the limit of model requests was reached",
  "max-budget": "the budget was used up",
  hook: "a hook ended it",
  loop: "the model went round in circles",
} as const;

const causes = {
  abort: "it was interrupted",
  superseded: "another prompt took its place",
  signal: "a signal ended the process",
  "output-closed": "nobody read its output any more",
  deadline: "the deadline had come",
} as const;

const endWords = {
  failed: "The turn failed",
  stopped: "The turn was stopped",
  interrupted: "The turn was interrupted",
  unfinished: "The turn was cut off",
};

function toOutcome(outcome: Outcome): RunOutcome {
  switch (outcome.type) {
    case "completed":
      return { state: "completed", what: headline(outcome.text) };
    case "failed":
      return { state: "failed", what: shorten(firstLine(outcome.error.message), 160), ...known({ cause: outcome.error.hint }) };
    case "stopped":
      return { state: "stopped", what: limits[outcome.limit], ...known({ cause: outcome.reason }) };
    case "cancelled":
      return { state: "interrupted", what: causes[outcome.cause] };
  }
}

function tokensOf({ inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens }: Usage): TokenCounts {
  const input = Math.max(0, inputTokens - cacheReadTokens - cacheWriteTokens);
  return { input, cached: cacheReadTokens, written: cacheWriteTokens, output: outputTokens };
}

type Parts = { readonly content: readonly { readonly type: string }[] };

function textIn({ content }: Parts): string {
  return content.map((part) => (part.type === "text" && "text" in part ? String(part.text) : "")).join("\n");
}

function picturesIn({ content }: Parts): Picture[] {
  return content.flatMap((part) =>
    part.type === "image" ? [toPicture(part as { mediaType?: string; data?: string; url?: string })] : [],
  );
}

function toPicture({ mediaType = "", data = "", url }: { mediaType?: string; data?: string; url?: string }): Picture {
  return picture(mediaType, data, url);
}

/** Pictures that a page may show by their data; the others are told in words. */
const shown = /^image\/(?:png|jpeg|gif|webp)$/;
const maxPictureChars = 2_000_000;

export function picture(mediaType: string, data: string, place?: string): Picture {
  const size = data === "" ? "" : `, ${Math.round((data.length * 3) / 4 / 1024).toLocaleString("en-US")} kB`;
  const note = `${mediaType || "file"}${size}${place ? `, ${place}` : ""}`;
  const isShown = shown.test(mediaType) && data !== "" && data.length <= maxPictureChars && /^[A-Za-z0-9+/=\s]+$/.test(data);
  return { mediaType, note, ...(isShown && { data: data.replace(/\s/g, "") }) };
}

function tokenChange({ preTokens, postTokens }: { preTokens: number; postTokens: number }): string {
  return `${count(preTokens)} → ${count(postTokens)} tokens`;
}

function count(tokens: number): string {
  return tokens >= 10_000 ? `${Math.round(tokens / 1000)} k` : String(Math.round(tokens));
}
