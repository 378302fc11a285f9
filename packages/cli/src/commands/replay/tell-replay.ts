import type { AgentEvent } from "@outrider/runtime";
import { Narrator, oneLine } from "../../terminal/narrator.ts";
import { createPaint, type Paint } from "../../terminal/paint.ts";
import { terminalText } from "../../terminal/terminal-text.ts";
import { clip, wrap } from "../../terminal/text-width.ts";

export type ReplayLook = { readonly coloured: boolean; readonly columns: () => number };

/** Tells a run that is over as the run told itself, with what stood around it then: the prompts, the answers, questions and how each turn went. */
export class ReplayTeller {
  readonly #narrator: Narrator;
  readonly #paint: Paint;
  readonly #columns: () => number;

  constructor({ coloured, columns }: ReplayLook) {
    this.#paint = createPaint(coloured);
    this.#columns = columns;
    this.#narrator = new Narrator({ paint: this.#paint, columns, verbose: true });
  }

  /** Whole lines; none for an event that nobody would see. */
  apply(event: AgentEvent): string[] {
    return [...this.#before(event), ...this.#narrator.apply(event), ...this.#after(event)];
  }

  #before(event: AgentEvent): string[] {
    if (event.type !== "turn.started") return [];
    const text =
      event.displayInput ?? event.input.content.map((part) => (part.type === "text" ? part.text : "[picture]")).join("");
    return ["", ...this.#block(`> ${text}`).map(this.#paint.bold)];
  }

  #after(event: AgentEvent): string[] {
    const { dim, green, red, yellow } = this.#paint;
    if (event.type === "message.ended" && event.taskId === undefined) return this.#answer(event);
    if (event.type === "permission.requested")
      return [yellow(this.#line(`? ${event.tool} ${JSON.stringify(event.input)}: ${event.reason}`))];
    if (event.type === "permission.resolved")
      return [yellow(this.#line(`  ${event.decision === "allow" ? "allowed" : "denied"} by ${event.by}: ${event.reason}`))];
    if (event.type !== "turn.ended" || event.taskId !== undefined) return [];
    const { outcome, modelCalls, durationMs } = event;
    const facts = `${modelCalls} ${modelCalls === 1 ? "turn" : "turns"} · ${(durationMs / 1000).toFixed(1)} s`;
    if (outcome.type === "completed") return [`${green("✓ done")} ${dim(`· ${facts}`)}`];
    const why = outcome.type === "failed" ? `: ${oneLine(outcome.error.message)}` : "";
    return [`${red(this.#line(`✗ ${outcome.type}${why}`))} ${dim(`· ${facts}`)}`];
  }

  /** The words before calls are the narrator's. */
  #answer({ message }: AgentEvent<"message.ended">): string[] {
    if (message.content.some(({ type }) => type === "tool-call")) return [];
    const text = message.content.map((part) => (part.type === "text" ? part.text : "")).join("");
    return text.trim() === "" ? [] : this.#block(text.trim());
  }

  #block(text: string): string[] {
    return wrap(terminalText(text).replaceAll("\t", "  "), Math.max(20, this.#columns() - 1));
  }

  #line(text: string): string {
    return clip(oneLine(text, { keepsIndent: true }), Math.max(20, this.#columns() - 1));
  }
}
