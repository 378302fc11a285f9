import { finalDiff } from "./final-diff.ts";
import { isCut, toValue } from "./cut.ts";
import { firstLine, inputText, kindOf, previewOf, resultOf, shorten } from "./describe-call.ts";
import type {
  Call,
  CallNote,
  CallStatus,
  ChangedFile,
  FileEdit,
  HookRow,
  ModelRow,
  PermissionRow,
  Picture,
  RunModel,
  RunOutcome,
  RunTotals,
  Step,
  Subagent,
  TokenCounts,
} from "./run-model.ts";

type Mutable<T> = { -readonly [K in keyof T]: T[K] };
type CallDraft = Omit<Mutable<Call>, "subagent" | "notes"> & { notes?: CallNote[]; child?: StepList; agent?: SubagentFacts };
type StepDraft = Omit<Mutable<Step>, "calls"> & { calls: CallDraft[] };
type SubagentFacts = {
  readonly name: string;
  readonly model?: string | undefined;
  readonly at?: number | undefined;
  durationMs?: number;
};

/** `at` is milliseconds since the run began; absent where a source does not say. */
export type PromptFacts = {
  readonly text: string;
  readonly at?: number | undefined;
  readonly images?: readonly Picture[];
  readonly who?: string;
};
export type AnswerFacts = {
  readonly text: string;
  readonly reasoning: string;
  readonly calls: readonly { readonly id: string; readonly name: string; readonly input: unknown }[];
  readonly images?: readonly Picture[];
  readonly at?: number | undefined;
  readonly modelMs?: number | undefined;
  readonly model?: string | undefined;
  readonly usage?: TokenCounts | undefined;
  /** Null: nobody knows the price. */
  readonly costUsd?: number | null | undefined;
};
export type EndFacts = {
  readonly status: CallStatus;
  readonly output: string;
  readonly at?: number | undefined;
  readonly images?: readonly Picture[];
  readonly tookMs?: number | undefined;
  readonly exitCode?: number | undefined;
  readonly edits?: readonly FileEdit[];
};

export const noTokens: TokenCounts = { input: 0, cached: 0, written: 0, output: 0 };

export function addTokens(a: TokenCounts, b: TokenCounts): TokenCounts {
  return { input: a.input + b.input, cached: a.cached + b.cached, written: a.written + b.written, output: a.output + b.output };
}

/** The steps of a run, or of a subagent in it, as they come in. */
export class StepList {
  readonly steps: StepDraft[] = [];
  readonly #calls = new Map<string, { call: CallDraft; step: StepDraft }>();
  readonly #cwd: string | undefined;
  #retry: { count: number; waitMs: number; why: string } | undefined;

  constructor(cwd?: string) {
    this.#cwd = cwd;
  }

  prompt({ text, at, images, who }: PromptFacts): void {
    this.#add({ kind: "prompt", text: toValue(text), ...known({ at, who }), ...(images?.length && { images }) });
  }

  /** Answers where its cost can be put when that is known later. */
  answer(facts: AnswerFacts): { costUsd?: number } {
    const { at, modelMs, model, usage, costUsd, images } = facts;
    const step = this.#add({
      kind: "answer",
      ...(facts.text.trim() !== "" && { text: toValue(facts.text) }),
      ...(facts.reasoning.trim() !== "" && { reasoning: toValue(facts.reasoning) }),
      ...(images?.length && { images }),
      ...known({ at, modelMs, model, usage, costUsd: costUsd ?? undefined }),
      ...(this.#retry && { retries: this.#retry }),
    });
    this.#retry = undefined;
    for (const { id, name, input } of facts.calls) {
      const call: CallDraft = {
        ...{ id, tool: name, kind: kindOf(name), preview: previewOf(input, this.#cwd), input: toValue(inputText(input)) },
        ...{ result: "", status: "unknown" },
      };
      step.calls.push(call);
      this.#calls.set(id, { call, step });
    }
    return step;
  }

  retry(waitMs: number, why: string): void {
    this.#retry = { count: (this.#retry?.count ?? 0) + 1, waitMs: (this.#retry?.waitMs ?? 0) + waitMs, why };
  }

  rule(rule: NonNullable<Step["rule"]>, facts: { at?: number; tookMs?: number; costUsd?: number } = {}): void {
    this.#add({ kind: "rule", rule, ...known(facts) });
  }

  startCall(id: string, at: number | undefined): void {
    const found = this.#calls.get(id);
    if (found) Object.assign(found.call, { status: "running" }, known({ at }));
  }

  /** What a call that has not ended says of itself, and whether somebody is asked about it. */
  updateCall(id: string, now: { readonly status?: CallStatus; readonly output?: string }): void {
    const found = this.#calls.get(id);
    if (!found) return;
    const { status, output } = now;
    if (status) Object.assign(found.call, { status, result: status === "waiting" ? "waiting for you" : "" });
    if (output) found.call.output = toValue(output);
  }

  endCall(id: string, facts: EndFacts): void {
    const found = this.#calls.get(id);
    if (!found) return;
    const { call } = found;
    const { status, output, tookMs, exitCode, edits, images } = facts;
    Object.assign(call, known({ tookMs, exitCode }), { status, result: resultOf({ ...call, status, output, exitCode }) });
    if (call.at === undefined && facts.at !== undefined) call.at = Math.max(0, facts.at - (tookMs ?? 0));
    if (output !== "") call.output = toValue(output);
    if (edits?.length) call.edits = edits;
    if (images?.length) call.images = images;
  }

  /** No result will come any more. */
  endOpenCalls(): void {
    for (const { call } of this.#calls.values())
      if (call.status === "running") Object.assign(call, { status: "interrupted", result: "No result" });
  }

  noteCall(id: string, note: CallNote): void {
    const found = this.#calls.get(id);
    if (found) found.call.notes = [...(found.call.notes ?? []), note];
  }

  waitCall(id: string, waitMs: number): void {
    const found = this.#calls.get(id);
    if (found) found.call.waitMs = (found.call.waitMs ?? 0) + waitMs;
  }

  /** The list in which what a subagent does is told. */
  openSubagent(callId: string, facts: SubagentFacts): StepList {
    const found = this.#calls.get(callId);
    const child = new StepList(this.#cwd);
    if (found) Object.assign(found.call, { child, agent: facts, kind: "subagent" });
    return child;
  }

  find(callId: string): { readonly step: number; readonly call: Call } | undefined {
    const found = this.#calls.get(callId);
    return found && { step: found.step.n, call: found.call };
  }

  finish(): Step[] {
    for (const step of this.steps) {
      const ends = step.calls.map(({ at, tookMs }) => (at !== undefined && tookMs !== undefined ? at + tookMs : undefined));
      const last = Math.max(...ends.filter((end) => end !== undefined), (step.at ?? 0) + (step.modelMs ?? 0));
      if (step.kind === "answer" && step.at !== undefined && last > step.at) step.tookMs = last - step.at;
    }
    return this.steps.map((step) => ({ ...step, calls: step.calls.map(toCall) }));
  }

  #add(step: Omit<StepDraft, "n" | "calls">): StepDraft {
    const whole = { n: this.steps.length + 1, calls: [], ...step };
    this.steps.push(whole);
    return whole;
  }
}

function toCall({ child, agent, ...call }: CallDraft): Call {
  if (!child || !agent) return call;
  const steps = child.finish();
  const cost = sumOfKnown(steps.map((step) => step.costUsd));
  const subagent: Subagent = { ...known(agent), name: agent.name, steps, ...known({ costUsd: cost }) };
  const result = call.status === "ok" ? `${steps.length} ${steps.length === 1 ? "step" : "steps"}` : call.result;
  return { ...call, result, subagent };
}

export type RunFacts = Pick<RunModel, "id" | "source" | "agent"> &
  Partial<Pick<RunModel, "title" | "cwd" | "commit" | "branch" | "mode" | "startedAt" | "durationMs">> & {
    readonly outcome?: RunOutcome | undefined;
    /** The one that was to be asked, where none has answered. */
    readonly model?: string | undefined;
    readonly permissions?: readonly PermissionRow[];
    readonly hooks?: readonly HookRow[];
    readonly notes?: readonly string[];
    /** Where the source knows it better than the sum of its steps. */
    readonly costUsd?: number | undefined;
    readonly hasUnknownPrice?: boolean;
    /** Of what was asked beside the conversation: summaries, hooks. */
    readonly side?: { readonly usage: TokenCounts; readonly modelMs: number; readonly costUsd: number };
  };

export function toRunModel(list: StepList, facts: RunFacts): RunModel {
  const steps = list.finish();
  const final = steps.findLast((step) => step.kind === "answer" && step.text && step.calls.length === 0);
  const marked = steps.map((step): Step => (step === final && step === steps.at(-1) ? { ...step, isFinal: true } : step));
  const { outcome, model, permissions = [], hooks = [], notes = [], costUsd, hasUnknownPrice, side, ...head } = facts;
  const files = changedFiles(marked);
  const byModel = modelRows(marked);
  const failure = lastFailure(marked);
  const told = outcome ?? { state: "unfinished" as const, what: `it ends at step ${marked.length}` };
  const task = taskStep(marked)?.text?.text ?? "";
  const cost =
    costUsd ??
    (hasUnknownPrice
      ? undefined
      : addKnown(sumOfKnown(allSteps(marked).map((step) => step.costUsd)), side?.costUsd || undefined));
  return {
    ...head,
    models: byModel.length === 0 && model !== undefined ? [model] : byModel.map((row) => row.model),
    ...{ task: shorten(firstLine(task).replace(/\*\*|__/g, ""), 240) },
    outcome: { ...told, ...(told.state !== "completed" && failure && { failure }) },
    totals: { ...totalsOf(marked, files, side), ...known({ costUsd: cost }) },
    ...{ steps: marked, files, permissions, hooks, byModel },
    notes: [...notes, ...cutNotes(marked), ...maskNotes(marked)],
  };
}

/** What a person asked for first: a system prompt and notes of programs are none of that. */
export function taskStep(steps: readonly Step[]): Step | undefined {
  const prompts = steps.filter((step) => step.kind === "prompt");
  return prompts.find((step) => step.who === undefined) ?? prompts[0];
}

function totalsOf(steps: readonly Step[], files: readonly ChangedFile[], side: RunFacts["side"]): RunTotals {
  const calls = steps.flatMap((step) => step.calls);
  const sum = <T>(list: readonly T[], of: (item: T) => number | undefined): number =>
    list.reduce((all, item) => all + (of(item) ?? 0), 0);
  const own = calls.filter((call) => !call.subagent);
  return {
    modelMs: sum(steps, (step) => step.modelMs) + (side?.modelMs ?? 0),
    toolMs: sum(own, (call) => call.tookMs),
    waitMs: sum(calls, (call) => call.waitMs),
    retryMs: sum(steps, (step) => step.retries?.waitMs),
    subagentMs: sum(calls, (call) => call.subagent && (call.subagent.durationMs ?? call.tookMs)),
    usage: allSteps(steps).reduce((all, step) => addTokens(all, step.usage ?? noTokens), side?.usage ?? noTokens),
    calls: calls.length,
    errors: calls.filter(isBad).length,
    added: sum(files, (file) => file.added),
    removed: sum(files, (file) => file.removed),
  };
}

/** A call that a reader looks for: it failed, or was not let. */
export function isBad({ status }: Call): boolean {
  return status === "error" || status === "denied" || status === "unknown";
}

/** Steps of subagents too. */
export function allSteps(steps: readonly Step[]): Step[] {
  return steps.flatMap((step) => [step, ...step.calls.flatMap((call) => allSteps(call.subagent?.steps ?? []))]);
}

function changedFiles(steps: readonly Step[]): ChangedFile[] {
  const files = new Map<string, Mutable<ChangedFile> & { edits: { step: number; edit: FileEdit }[] }>();
  const take = (step: number, calls: readonly Call[]): void => {
    for (const call of calls) {
      for (const edit of call.status === "ok" ? (call.edits ?? []) : []) {
        const file = files.get(edit.path) ?? { path: edit.path, added: 0, removed: 0, created: edit.created === true, edits: [] };
        files.set(edit.path, {
          ...file,
          added: file.added + edit.added,
          removed: file.removed + edit.removed,
          edits: [...file.edits, { step, edit }],
        });
      }
      for (const inner of call.subagent?.steps ?? []) take(step, inner.calls);
    }
  };
  for (const step of steps) take(step.n, step.calls);
  return [...files.values()].map(withFinal);
}

/** Lines that came and went again are no change of the file. */
function withFinal(file: ChangedFile): ChangedFile {
  const final = file.edits.length > 1 ? finalDiff(file.edits) : undefined;
  return final ? { ...file, final, added: final.edit.added, removed: final.edit.removed } : file;
}

function modelRows(steps: readonly Step[]): ModelRow[] {
  const rows = new Map<string, ModelRow>();
  for (const { model, usage, costUsd } of allSteps(steps)) {
    if (model === undefined) continue;
    const row = rows.get(model) ?? { model, requests: 0, usage: noTokens };
    const cost = addKnown(row.costUsd, costUsd);
    rows.set(model, {
      ...row,
      requests: row.requests + 1,
      usage: addTokens(row.usage, usage ?? noTokens),
      ...known({ costUsd: cost }),
    });
  }
  return [...rows.values()];
}

function lastFailure(steps: readonly Step[]): RunOutcome["failure"] {
  for (const step of steps.toReversed()) {
    const call = step.calls.findLast(isBad);
    if (call) return { step: step.n, tool: call.tool, preview: call.preview, result: call.result };
  }
  return undefined;
}

function cutNotes(steps: readonly Step[]): string[] {
  const values = allSteps(steps).flatMap((step) => [
    step.text,
    step.reasoning,
    ...step.calls.flatMap((call) => [call.input, call.output]),
  ]);
  const count = values.filter(isCut).length;
  return count === 0 ? [] : [`${count} ${count === 1 ? "value is" : "values are"} cut at 64 kB; the session has all of it.`];
}

/** Masks that stand in the place of secrets, by their kind. */
function maskNotes(steps: readonly Step[]): string[] {
  const masks = JSON.stringify(steps).match(/\[redacted:[\w-]+\]/g) ?? [];
  if (masks.length === 0) return [];
  const kinds = [...new Set(masks)].map((mask) => mask.slice("[redacted:".length, -1)).join(", ");
  return [`${masks.length} ${masks.length === 1 ? "secret is" : "secrets are"} masked (${kinds}).`];
}

/** Undefined when none is known. */
function sumOfKnown(costs: readonly (number | undefined)[]): number | undefined {
  return costs.reduce<number | undefined>(addKnown, undefined);
}

function addKnown(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined ? b : b === undefined ? a : a + b;
}

/** Without the keys whose value is undefined. */
export function known<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}
