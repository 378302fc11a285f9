/**
 * What a page shows of one run, whatever it was read from. Plain JSON: a report has it inside, and a live page builds it from events.
 * Times of steps are milliseconds since the run began. What nobody knows is absent, never 0.
 */
export type RunModel = {
  readonly id: string;
  readonly source: RunSource;
  readonly title?: string;
  readonly cwd?: string;
  readonly commit?: string;
  readonly branch?: string;
  readonly agent: string;
  readonly models: readonly string[];
  readonly mode?: string;
  readonly startedAt?: string;
  readonly durationMs?: number;
  readonly task: string;
  readonly outcome: RunOutcome;
  readonly totals: RunTotals;
  readonly steps: readonly Step[];
  readonly files: readonly ChangedFile[];
  readonly permissions: readonly PermissionRow[];
  readonly hooks: readonly HookRow[];
  readonly byModel: readonly ModelRow[];
  /** Sentences on what is missing: cut, masked, unread. */
  readonly notes: readonly string[];
};

export type RunSource = "session" | "trajectory" | "stream-json" | "transcript";

export type RunOutcome = {
  readonly state: "completed" | "failed" | "stopped" | "interrupted" | "unfinished";
  /** What happened, in a few words. */
  readonly what: string;
  readonly cause?: string;
  /** The last call that failed before the end. */
  readonly failure?: { readonly step: number; readonly tool: string; readonly preview: string; readonly result: string };
};

export type RunTotals = {
  readonly modelMs: number;
  readonly toolMs: number;
  readonly waitMs: number;
  readonly retryMs: number;
  readonly subagentMs: number;
  readonly usage: TokenCounts;
  /** Absent when the price of a part is not known. */
  readonly costUsd?: number;
  readonly calls: number;
  readonly errors: number;
  readonly added: number;
  readonly removed: number;
};

/** `input` is what was neither read from a cache nor written to one. */
export type TokenCounts = { readonly input: number; readonly cached: number; readonly written: number; readonly output: number };

export type Step = {
  readonly n: number;
  readonly kind: "prompt" | "answer" | "rule";
  readonly at?: number;
  readonly tookMs?: number;
  readonly modelMs?: number;
  readonly costUsd?: number;
  readonly model?: string;
  readonly usage?: TokenCounts;
  /** Who says it, where that is not plain from the kind. */
  readonly who?: string;
  readonly text?: Value;
  readonly reasoning?: Value;
  readonly images?: readonly Picture[];
  readonly calls: readonly Call[];
  readonly retries?: { readonly count: number; readonly waitMs: number; readonly why: string };
  /** A line across the list: the context was summarised, the model changed, the session was resumed. */
  readonly rule?: {
    readonly kind: "compaction" | "change" | "resume" | "warning";
    readonly title: string;
    readonly detail?: Value;
  };
  readonly isFinal?: true;
};

export type CallStatus = "ok" | "error" | "denied" | "interrupted" | "unknown" | "running" | "waiting" | "queued";

export type Call = {
  readonly id: string;
  readonly tool: string;
  readonly kind: CallKind;
  /** What it was about, in one line. */
  readonly preview: string;
  /** How it went, in a few words. */
  readonly result: string;
  readonly status: CallStatus;
  readonly at?: number;
  readonly tookMs?: number;
  readonly waitMs?: number;
  readonly input: Value;
  readonly output?: Value;
  readonly images?: readonly Picture[];
  readonly edits?: readonly FileEdit[];
  readonly exitCode?: number;
  readonly notes?: readonly CallNote[];
  readonly subagent?: Subagent;
};

export type CallKind = "bash" | "read" | "edit" | "search" | "web" | "list" | "subagent" | "plug";
export type CallNote = { readonly kind: "permission" | "denied" | "hook" | "warn"; readonly text: string };
export type Picture = { readonly mediaType: string; readonly data?: string; readonly note: string };

export type Subagent = {
  readonly name: string;
  readonly model?: string;
  readonly at?: number;
  readonly durationMs?: number;
  readonly costUsd?: number;
  readonly steps: readonly Step[];
};

/** A long text is kept by its beginning and its end: `cut` says what is not there. */
export type Value = {
  readonly text: string;
  readonly cut?: { readonly bytes: number; readonly lines: number; readonly tail: string };
};

export type DiffRow = { readonly sign: "+" | "-" | " " | "@"; readonly text: string; readonly line?: number };
export type FileEdit = {
  readonly path: string;
  readonly rows: readonly DiffRow[];
  readonly added: number;
  readonly removed: number;
  readonly created?: true;
  readonly gone?: true;
};
export type ChangedFile = {
  readonly path: string;
  readonly added: number;
  readonly removed: number;
  readonly created: boolean;
  readonly edits: readonly { readonly step: number; readonly edit: FileEdit }[];
  /** What several edits came to, with the steps whose lines are there now; absent where that is not known. */
  readonly final?: { readonly edit: FileEdit; readonly steps: readonly number[] };
};

export type PermissionRow = {
  readonly step: number;
  readonly tool: string;
  readonly preview: string;
  readonly allowed: boolean;
  readonly by: string;
  readonly reason: string;
  readonly source?: string;
  readonly waitMs?: number;
};

export type HookRow = {
  readonly event: string;
  readonly name: string;
  readonly runs: number;
  readonly failed: number;
  readonly blocked: number;
  readonly ms: number;
};

export type ModelRow = {
  readonly model: string;
  readonly requests: number;
  readonly usage: TokenCounts;
  readonly costUsd?: number;
};
