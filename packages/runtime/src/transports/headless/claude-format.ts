import type { CatalogOverride } from "../../model/catalog-override.ts";
import { noUsage } from "../../protocol/content.ts";
import { type AgentEvent, isEphemeral } from "../../protocol/events.ts";
import type { Outcome } from "../../protocol/outcome.ts";
import { BackgroundFrames } from "./background-frames.ts";
import { AssistantFrames } from "./assistant-frames.ts";
import { apiErrorWord } from "../../protocol/api-error-word.ts";
import { ClaudeLines, type Frame } from "./claude-frame.ts";
import { type InitFacts, toInitFields } from "./claude-init.ts";
import { isBuiltin, toResultFields, uuidFields } from "./claude-result.ts";
import { toClaudeUsage } from "./claude-usage.ts";
import { commandsLine, blockedPromptLine, compactionLines, hookEndedLine, hookStartedLine, showsHook } from "./notice-frames.ts";
import type { OutputFormat, OutputFormatName } from "./output-format.ts";
import type { PartialMessages, PartialWriter } from "./partial-messages.ts";
import { RunLedger } from "./price-run.ts";
import { ProgressFrames } from "./progress-frames.ts";
import { type ModelCall, RunTotals } from "./run-totals.ts";
import { createTextFormat } from "./text-format.ts";
import { defined } from "../../util/defined.ts";
import { addedInputLine, interruptLine, toolResultLine } from "./user-frames.ts";

export type ClaudeFormatOptions = InitFacts & {
  readonly sessionId: string;
  readonly newId: () => string;
  /** Frames for every run of a hook, not only for those of the start. */
  readonly includeHookEvents?: boolean | undefined;
  /** Also what subagents in the background were told; of others it is always shown. */
  readonly forwardSubagentText?: boolean | undefined;
  /** Prices and windows beside the built-in ones. */
  readonly catalogOverride?: CatalogOverride | undefined;
  /** Model calls of the session before this run: what they cost goes on. Asked for once, when there is a result. */
  readonly earlierCalls?: (() => Promise<Iterable<ModelCall>>) | undefined;
  /** Frames for single deltas; without it only whole messages. */
  readonly partialMessages?: MakePartial | undefined;
  /** A provider's failure, a hook's end and a command that was refused are a `success`, as Claude Code has them. */
  readonly claudeResults?: boolean | undefined;
  /** Where values that are too long for a line are kept; without it their rest is lost, and the frame says so. */
  readonly spillFolder?: string | undefined;
};

type MakePartial = (out: PartialWriter) => PartialMessages;

/** Few runs ask for deltas. */
export async function loadPartialMessages(): Promise<MakePartial> {
  const { PartialMessages } = await import("./partial-messages.ts");
  return (out) => new PartialMessages(out);
}

/** Claude Code's headless shapes: scripts, jq filters and clients written for it read ours. See docs/contract.md. */
export function createClaudeFormat(name: OutputFormatName, options: ClaudeFormatOptions): OutputFormat {
  if (name === "text") return createTextFormat();
  const run = new RunTotals();
  const lines = new ClaudeLines(options);
  const ledger = new RunLedger(options.catalogOverride);
  const shownInPieces = options.partialMessages !== undefined;
  let { earlierCalls } = options;
  let results = 0;
  const result = async (outcome: Outcome): Promise<string> => {
    const prompts = options.prompts?.() ?? { uuids: [], waiting: 0 }; // as it is now: what is waited for takes time
    const earlier = earlierCalls;
    earlierCalls = undefined;
    if (earlier) await ledger.add([...(await earlier())]);
    const costs = await ledger.add(run.takeCalls());
    const asClaude = options.claudeResults ?? false;
    const fields = toResultFields(outcome, { run, costs, prompts, shownInPieces, asClaude, index: results++ });
    run.usage = noUsage; // a message that joined the turn has a result too, and hosts add them up
    return lines.line("result", fields);
  };
  if (name === "json")
    return {
      event(event) {
        if (!isEphemeral(event.type)) run.apply(event);
        return "";
      },
      end: result,
    };
  const stream = new ClaudeStream({ run, lines, options });
  return { event: (event) => stream.event(event), end: result };
}

type Parts = { readonly run: RunTotals; readonly lines: ClaudeLines; readonly options: ClaudeFormatOptions };

class ClaudeStream {
  readonly #run: RunTotals;
  readonly #lines: ClaudeLines;
  readonly #options: ClaudeFormatOptions;
  readonly #assistant: AssistantFrames;
  readonly #progress: ProgressFrames;
  readonly #background = new BackgroundFrames();
  readonly #partial: PartialMessages | undefined;
  /** Warnings of the opening: a reader expects init before everything else. */
  #early = "";
  /** Nothing of the turn has been shown yet: as a message, and as an event of one. */
  #silent = { message: false, event: false };

  constructor({ run, lines, options }: Parts) {
    this.#run = run;
    this.#lines = lines;
    this.#options = options;
    this.#assistant = new AssistantFrames(lines, () => this.#firstMarks("message"));
    this.#progress = new ProgressFrames(lines);
    const model = (): string => run.facts?.model.id ?? "";
    this.#partial = options.partialMessages?.({
      write: (json, fields) => lines.streamEvent(json, fields),
      block: (block) => this.#assistant.early(block, { model: model() }),
      model,
      usage: (usage) => toClaudeUsage(usage ?? noUsage),
      opening: (at) => ({
        ttft_ms: Math.max(0, Date.parse(at) - Date.parse(run.lastAt ?? at)),
        ...this.#firstMarks("event"),
      }),
    });
  }

  event(event: AgentEvent): string {
    const partial = event.taskId === undefined ? this.#partial : undefined; // what subagents say comes as whole messages only
    if (isEphemeral(event.type)) {
      const notice = this.#notice(event);
      return partial ? partial.before(event, notice) : notice;
    }
    this.#run.apply(event);
    this.#progress.apply(event);
    if (event.type === "turn.started" && event.taskId === undefined) this.#silent = { message: true, event: true };
    const [own, tasks] = [this.#frames(event), this.#taskFrames(event)];
    // How far a subagent is comes before what it calls, where somebody waits for it.
    const isStep = event.type === "message.ended" && !this.#background.has(event.taskId);
    const frames = (partial?.before(event) ?? "") + (isStep ? tasks + own : own + tasks);
    return frames + (partial?.after(event) ?? "") + (partial && this.#asks(event) ? this.#requesting() : "");
  }

  #frames(event: AgentEvent): string {
    const run = this.#run;
    const lines = this.#lines;
    switch (event.type) {
      case "turn.started":
        return (run.facts ? lines.system("init", toInitFields(run.facts, this.#options)) : "") + this.#takeEarly();
      case "message.ended":
        return this.#assistant.whole(event, run.tasks.marksOf(event));
      case "tool.ended":
        return toolResultLine(event, run, lines) + (event.details?.moreSkills ? commandsLine(this.#options, lines) : "");
      case "input.added":
        return addedInputLine(event, run, lines);
      case "retry.scheduled":
        this.#assistant.giveUp();
        return lines.system("api_retry", {
          attempt: event.attempt,
          max_retries: event.maxRetries,
          retry_delay_ms: event.delayMs,
          error_status: event.error.httpStatus ?? null,
          error: apiErrorWord(event.error) ?? "unknown",
          error_code: event.error.code,
          message: event.error.message,
          ...run.tasks.agentOf(event),
        });
      case "fallback.used":
        this.#assistant.giveUp();
        return lines.system("model_fallback", {
          trigger: apiErrorWord(event.error) ?? event.error.code,
          original_model: event.from,
          fallback_model: event.to,
          content: event.error.message,
          ...run.tasks.agentOf(event),
        });
      case "permission.decided":
        if (event.effect === "allow") return "";
        return lines.system("permission_denied", {
          tool_name: event.tool,
          tool_use_id: event.callId,
          message: event.reason,
          decision_reason_type: event.by,
          decision_reason: event.rule ?? event.reason,
          decided_by: event.by,
          ...run.tasks.agentOf(event),
        });
      case "hook.started":
        return showsHook(event, this.#options) ? hookStartedLine(event, lines) : "";
      case "hook.ended":
        return showsHook(event, this.#options) ? hookEndedLine(event, lines) : "";
      case "compaction.started":
        return event.taskId === undefined ? lines.system("status", { status: "compacting" }) : "";
      case "compaction.ended":
        return event.taskId === undefined ? compactionLines(event, lines) : "";
      case "warning.raised":
        if (event.hook === undefined) return this.#warning(lines.system("warning", { message: event.message }));
        return lines.system("informational", { content: `${event.hook} says: ${event.message}`, level: "notice" });
      case "session.rewound":
        return event.taskId === undefined && run.command !== undefined ? this.#reset(event.at) : "";
      case "session.named": // one that is opened under a name says so in no frame
        return run.startedAt === undefined ? "" : lines.system("session_title_changed", { title: event.name });
      case "turn.ended":
        return event.taskId === undefined ? this.#ending(event) : "";
      default:
        return "";
    }
  }

  /** The conversation begins anew, under the id of its session. What works in the background goes on. */
  #reset(timestamp: string): string {
    const reset = this.#lines.line("conversation_reset", {
      new_conversation_id: this.#options.newId(),
      trigger: "clear",
      timestamp,
      ...userUuid(this.#options),
    });
    const { subtype, ...fields } = this.#background.changed();
    return reset + this.#lines.system(subtype, fields);
  }

  #warning(line: string): string {
    if (this.#run.facts === undefined || this.#run.startedAt !== undefined) return line;
    this.#early += line;
    return "";
  }

  #takeEarly(): string {
    const early = this.#early;
    this.#early = "";
    return early;
  }

  #notice(event: AgentEvent): string {
    if (event.type === "tool.progress") return this.#progress.toolStillRuns(event, this.#run.tasks.marksOf(event));
    return event.type === "reasoning.delta" && event.taskId === undefined ? this.#progress.thinks(event) : "";
  }

  /** The first words of a turn name the messages they answer. */
  #firstMarks(kind: "message" | "event"): Frame {
    if (!this.#silent[kind] || !this.#options.prompts) return {};
    this.#silent[kind] = false;
    return uuidFields(this.#options.prompts());
  }

  #ending({ outcome, at, modelCalls }: AgentEvent<"turn.ended">): string {
    const { command, commandArgs: args } = this.#run;
    if (command !== undefined && outcome.type === "completed" && outcome.text !== "")
      return this.#assistant.local(outcome.text, { at, run: isBuiltin(command) ? { command, args } : undefined });
    if (command !== undefined && outcome.type === "failed")
      return this.#assistant.local(outcome.error.message, { at, run: { command, args }, failed: true });
    if (outcome.type === "stopped" && outcome.limit === "hook" && modelCalls === 0)
      return blockedPromptLine(outcome.reason ?? "", this.#lines);
    if (outcome.type === "failed") return this.#assistant.apiError(outcome.error, at);
    if (outcome.type !== "cancelled" || !["abort", "superseded", "signal"].includes(outcome.cause)) return "";
    return interruptLine(this.#run.abortedDuring, at, this.#lines);
  }

  #taskFrames(event: AgentEvent): string {
    const told = event.type.startsWith("background.") ? this.#background.frames(event) : this.#run.tasks.frames(event);
    const frames = told.map(({ subtype, ...fields }) => this.#lines.system(subtype, fields));
    const isShown = this.#options.forwardSubagentText || !this.#background.has(event.taskId);
    if (event.type !== "task.started" || !isShown) return frames.join("");
    const message = { role: "user", content: [{ type: "text", text: event.prompt }] };
    return frames.join("") + this.#lines.line("user", { message, ...this.#run.tasks.marksOf(event), timestamp: event.at });
  }

  /** Is the model asked next? */
  #asks(event: AgentEvent): boolean {
    return event.type === "turn.started" || (event.type === "tool.ended" && this.#run.openCalls === 0);
  }

  #requesting(): string {
    return this.#lines.system("status", { status: "requesting" });
  }
}

function userUuid({ prompts }: ClaudeFormatOptions): Frame {
  const { user_message_uuid } = uuidFields(prompts?.() ?? { uuids: [], waiting: 0 });
  return defined({ user_message_uuid });
}
