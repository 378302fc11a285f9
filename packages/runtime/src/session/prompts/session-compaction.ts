import { defaultThreshold, checkThreshold, type CompactionSettings } from "../../context/compaction-limits.ts";
import type { Compactor } from "../../context/compactor.ts";
import { type Fit, fitOnDemand } from "../../context/fit.ts";
import { forgetNested } from "../../context/nested-state.ts";
import type { SessionDeps } from "../../engine/deps.ts";
import type { Transcript } from "../../journal/transcript.ts";
import { addUsage, noUsage, type UserMessage } from "../../protocol/content.ts";
import { RuntimeError } from "../../protocol/errors.ts";
import type { AgentEvent, CompactionResult, Emit, EventBody } from "../../protocol/events.ts";
import { factsAmong } from "../../tools/builtin/facts.ts";

export type SessionCompactionOptions = {
  readonly settings: Partial<CompactionSettings>;
  readonly deps: SessionDeps;
  /** Milliseconds since 1970. */
  readonly now: () => number;
};

type Turn = { readonly emit: Emit; readonly signal: AbortSignal; readonly transcript: Transcript };

/** Compaction bound to a session: its model, budget, files, rules and hooks. Loads its work only when there is some. */
export class SessionCompaction {
  readonly #options: SessionCompactionOptions;
  readonly #past: AgentEvent<"compaction.ended">[] = [];
  /** What hooks want the model to know now that it has forgotten, until it is told. */
  #notes: UserMessage[] = [];
  #compactor: Promise<Compactor> | undefined;
  #threshold: number | false;

  constructor(options: SessionCompactionOptions) {
    this.#options = options;
    this.#threshold = checkThreshold(options.settings.threshold ?? defaultThreshold);
  }

  get threshold(): number | false {
    return this.#threshold;
  }

  /** From the next turn on. */
  async setThreshold(threshold: number | false): Promise<void> {
    this.#threshold = checkThreshold(threshold);
    (await this.#compactor)?.setThreshold(threshold);
  }

  /** A stored event of a resumed session. */
  remember(event: AgentEvent): void {
    if (event.type === "compaction.ended") this.#past.push(event);
  }

  fit({ emit, signal, transcript }: Turn): Fit {
    const { deps } = this.#options;
    // As it is now: the session's own goes on with the turn's events.
    const { prompt, measuredFrom, hasSummary } = transcript;
    let usage = { ...noUsage };
    const counted: Emit = (event) => {
      if (event.type === "side-call.ended") usage = addUsage(usage, event.message.usage);
      forgetGone(deps, event);
      emit(event);
    };
    return fitOnDemand({
      threshold: this.#threshold,
      request: deps.request,
      contextWindow: deps.contextWindow,
      transcript: { measuredFrom },
      open: async () => (await this.#open()).fit({ emit: counted, signal, transcript: { prompt, measuredFrom, hasSummary } }),
      usage: () => usage,
    });
  }

  /** Because somebody asked for it. Answers undefined when there is nothing to summarise; rejects when it failed. */
  async compact({ emit, signal, transcript }: Turn, instructions?: string): Promise<Compacted | undefined> {
    const { deps } = this.#options;
    const told: Emit = (event) => {
      forgetGone(deps, event);
      emit(event);
    };
    const fit = (await this.#open()).fit({ emit: told, signal, transcript });
    const result = await fit.compact(transcript.messages, instructions);
    if (result?.type === "failed") throw new RuntimeError(result.error.code, result.error.message, result.error);
    if (result?.type === "refused") throw new RuntimeError("usage", `A hook refused the compaction: ${result.reason}`);
    for (const note of this.takeNotes()) emit({ type: "input.added", ...note }); // the session may end before there is a next turn
    return result?.type === "compacted" ? result : undefined;
  }

  takeNotes(): Omit<EventBody<"input.added">, "type">[] {
    return this.#notes.splice(0).map((input) => ({ input, origin: "hook" }));
  }

  #open(): Promise<Compactor> {
    this.#compactor ??= this.#openOnce();
    return this.#compactor;
  }

  async #openOnce(): Promise<Compactor> {
    const { deps, now, settings } = this.#options;
    const [{ Compactor }, { toHooks, toReader }] = await Promise.all([
      import("../../context/compactor.ts"),
      import("./compaction-surroundings.ts"),
    ]);
    const compactor = new Compactor({
      provider: deps.provider,
      request: deps.request,
      settings: { ...settings, threshold: this.#threshold },
      contextWindow: deps.contextWindow,
      redactor: deps.redactor,
      readText: toReader(deps),
      hooks: ({ emit, signal }) => toHooks(deps, { emit, signal, note: (message) => this.#notes.push(message) }),
      now,
      clock: deps.clock,
      newId: deps.newId,
      factsOf: factsAmong(deps.tools),
    });
    for (const event of this.#past) compactor.remember(event);
    return compactor;
  }
}

/** Instructions that came with results which are no more come again when they are needed. */
function forgetGone({ nested, skillsOfFiles }: SessionDeps, event: EventBody): void {
  const isCompacted = event.type === "compaction.ended" && event.result.type === "compacted";
  if (isCompacted) skillsOfFiles?.forget();
  if (!nested) return;
  if (event.type === "context.cleared") forgetNested(nested, new Set(event.results.map(({ callId }) => callId)));
  if (isCompacted) forgetNested(nested);
}

export type Compacted = CompactionResult & { type: "compacted" };
