import type { AgentEvent, Outcome } from "@outrider/runtime";
import { Narrator, oneLine } from "../terminal/narrator.ts";
import type { Paint } from "../terminal/paint.ts";
import { terminalText } from "../terminal/terminal-text.ts";
import { clip, wrap } from "../terminal/text-width.ts";
import { MarkdownLines } from "./markdown-lines.ts";

/** Of a prompt so many lines are shown. */
const mostSaid = 20;

/** What happens in a conversation, in lines that stay on the screen: prompts, answers as they are written, and what calls did. */
export class ConversationLines {
  readonly #paint: Paint;
  readonly #columns: () => number;
  readonly #narrator: Narrator;
  readonly #markdown: MarkdownLines;
  /** The answer that is written just now. */
  #messageId: string | undefined;
  #isCommand = false;

  constructor(paint: Paint, columns: () => number) {
    this.#paint = paint;
    this.#columns = columns;
    this.#narrator = new Narrator({ paint, columns, verbose: false });
    this.#markdown = new MarkdownLines(paint, columns);
  }

  /** What goes on now, in a few words. */
  get activity(): string {
    return this.#narrator.activity;
  }

  /** The line that is being written. */
  get unfinished(): string[] {
    const text = terminalText(this.#markdown.rest).replaceAll("\t", "  ");
    return text === "" ? [] : wrap(text, this.#columns() - 1);
  }

  apply(event: AgentEvent): string[] {
    const isOwn = event.taskId === undefined;
    if (event.type === "text.delta" && isOwn) {
      this.#narrator.apply(event);
      this.#messageId = event.messageId;
      return this.#markdown.feed(event.text);
    }
    if (event.type === "message.ended" && isOwn) return this.#endAnswer(event);
    // What was written so far does not count: the answer is asked for again.
    const isVoid = (event.type === "retry.scheduled" || event.type === "fallback.used") && isOwn;
    const cut = isVoid || event.type === "turn.ended" ? this.#cutAnswer(isVoid) : [];
    return [...cut, ...this.#prompt(event), ...this.#narrator.apply(event), ...this.#ending(event)];
  }

  /** Words before calls are told as they come, so that the narrator has only the calls to hear. */
  #endAnswer(event: AgentEvent<"message.ended">): string[] {
    const { content } = event.message;
    const isStreamed = this.#messageId === event.messageId;
    this.#messageId = undefined;
    const text = content.map((part) => (part.type === "text" ? part.text : "")).join("");
    const fresh = isStreamed ? [] : this.#markdown.feed(text);
    const calls = content.filter(({ type }) => type === "tool-call");
    const told = this.#narrator.apply({ ...event, message: { ...event.message, content: calls } });
    return [...fresh, ...this.#markdown.end(), ...told];
  }

  #cutAnswer(isVoid: boolean): string[] {
    const rest = this.unfinished;
    const isOpen = this.#messageId !== undefined;
    this.#markdown.clear();
    this.#messageId = undefined;
    return isVoid && isOpen ? [...rest, this.#paint.yellow("… the answer above broke off, and begins anew")] : rest;
  }

  #prompt(event: AgentEvent): string[] {
    const { bold } = this.#paint;
    if (event.type === "turn.started" && event.taskId === undefined) {
      this.#isCommand = event.command !== undefined;
      if (event.tasks) return ["", this.#paint.dim("› work beside the conversation has ended")];
      return ["", ...this.#said(event.displayInput ?? wordsOf(event.input)).map(bold), ""];
    }
    if (event.type === "input.added" && event.origin === "user" && event.taskId === undefined)
      return this.#said(wordsOf(event.input)).map(bold);
    return [];
  }

  /** What somebody said, with its further lines below its first; of a long text the beginning. */
  #said(text: string): string[] {
    const lines = text.split("\n", mostSaid + 1);
    const more = lines.length > mostSaid ? text.split("\n").length - mostSaid : 0;
    const told = this.#block(lines.slice(0, mostSaid).join("\n"), 2).map((line, at) => `${at === 0 ? "›" : " "} ${line}`);
    return more > 0 ? [...told, `  … ${more} more ${more === 1 ? "line" : "lines"}`] : told;
  }

  #ending(event: AgentEvent): string[] {
    const { dim, red, yellow } = this.#paint;
    // A no is told with its call.
    if (event.type === "permission.resolved" && event.decision === "allow")
      return [dim(this.#line(event.by === "user" ? "  allowed by you" : `  allowed: ${event.reason}`))];
    if (event.type !== "turn.ended" || event.taskId !== undefined) return [];
    const { outcome, modelCalls, durationMs } = event;
    if (outcome.type === "completed") {
      if (this.#isCommand) return this.#block(outcome.text);
      return [dim(`· ${modelCalls} ${modelCalls === 1 ? "turn" : "turns"} · ${(durationMs / 1000).toFixed(1)} s`)];
    }
    if (outcome.type === "cancelled") return [yellow("· interrupted")];
    return this.#block(`✗ ${failureOf(outcome)}`).map(red);
  }

  #block(text: string, indent = 0): string[] {
    return wrap(terminalText(text).replaceAll("\t", "  "), Math.max(20, this.#columns() - 1 - indent));
  }

  #line(text: string): string {
    return clip(oneLine(text, { keepsIndent: true }), Math.max(20, this.#columns() - 1));
  }
}

function wordsOf({ content }: AgentEvent<"turn.started">["input"]): string {
  return content.map((part) => (part.type === "text" ? part.text : `[${part.type}]`)).join("\n");
}

function failureOf(outcome: Outcome): string {
  if (outcome.type === "failed") return `${outcome.error.message}${outcome.error.hint ? `\n${outcome.error.hint}` : ""}`;
  if (outcome.type === "stopped") return `stopped: ${outcome.reason ?? outcome.limit}`;
  return outcome.type;
}
