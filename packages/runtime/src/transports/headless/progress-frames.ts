import type { AgentEvent } from "../../protocol/events.ts";
import type { ClaudeLines, Frame } from "./claude-frame.ts";

/** A tool says more often how far it is; frames are for seeing that it lives. */
const toolEveryMs = 30_000;
/** Thoughts come in thousands of pieces. */
const thoughtEveryMs = 1_000;
/** Of most languages and wires; the true number comes with the answer. */
const charactersPerToken = 4;

type RunningTool = { readonly name: string; readonly startedAt: number; toldMs: number };
type Thought = { readonly messageId: string; characters: number; toldTokens: number; toldAt: number };

/** Signs of life between two frames that say something: a tool that runs for long, a model that thinks for long. */
export class ProgressFrames {
  readonly #lines: ClaudeLines;
  readonly #tools = new Map<string, RunningTool>();
  #thought: Thought | undefined;

  constructor(lines: ClaudeLines) {
    this.#lines = lines;
  }

  apply(event: AgentEvent): void {
    if (event.type === "tool.started")
      this.#tools.set(event.callId, { name: event.name, startedAt: Date.parse(event.at), toldMs: 0 });
    else if (event.type === "tool.ended") this.#tools.delete(event.callId);
    else if (event.type === "message.ended" || event.type === "retry.scheduled" || event.type === "fallback.used")
      this.#thought = undefined;
  }

  toolStillRuns({ callId, at }: AgentEvent<"tool.progress">, marks: Frame): string {
    const tool = this.#tools.get(callId);
    const elapsedMs = tool ? Date.parse(at) - tool.startedAt : 0;
    if (!tool || elapsedMs < tool.toldMs + toolEveryMs) return "";
    tool.toldMs = elapsedMs - (elapsedMs % toolEveryMs);
    return this.#lines.line("tool_progress", {
      tool_use_id: callId,
      tool_name: tool.name,
      ...marks,
      elapsed_time_seconds: Math.floor(elapsedMs / 1000),
      heartbeat: true,
    });
  }

  thinks({ messageId, text, at }: AgentEvent<"reasoning.delta">): string {
    if (this.#thought?.messageId !== messageId) this.#thought = { messageId, characters: 0, toldTokens: 0, toldAt: 0 };
    const thought = this.#thought;
    thought.characters += text.length;
    const tokens = Math.ceil(thought.characters / charactersPerToken);
    const now = Date.parse(at);
    if (tokens === thought.toldTokens || now - thought.toldAt < thoughtEveryMs) return "";
    const estimated_tokens_delta = tokens - thought.toldTokens;
    thought.toldTokens = tokens;
    thought.toldAt = now;
    return this.#lines.system("thinking_tokens", { estimated_tokens: tokens, estimated_tokens_delta });
  }
}
