import type { AgentEvent, CommandInteractionPrompt, InteractiveSession, PermissionRequest } from "@outrider/runtime";
import type { Key } from "../terminal/keys.ts";
import { toCount } from "../terminal/narrator.ts";
import type { Paint } from "../terminal/paint.ts";
import { terminalText } from "../terminal/terminal-text.ts";
import { clip } from "../terminal/text-width.ts";
import { CommandQuestion } from "./command-question.ts";
import type { Offers } from "./completion.ts";
import { ConversationLines } from "./conversation-lines.ts";
import { LineEditor } from "./line-editor.ts";
import { type PermissionAnswer, PermissionQuestion } from "./permission-question.ts";
import type { Bottom } from "./screen.ts";

/** What somebody wants who pressed a key. */
export type Wish =
  | { readonly type: "say"; readonly text: string }
  | { readonly type: "interrupt" }
  | { readonly type: "leave" }
  | { readonly type: "take-back" }
  | { readonly type: "show"; readonly lines: readonly string[] }
  | { readonly type: "permit"; readonly requestId: string; readonly answer: PermissionAnswer }
  | { readonly type: "answer"; readonly interactionId: string; readonly value: string | undefined };

export type ViewPlace = {
  readonly paint: Paint;
  readonly columns: () => number;
  readonly rows: () => number;
  readonly now: () => number;
  readonly past: readonly string[];
};

/** A second Ctrl-C within this time leaves. */
const againMs = 2_000;
/** Somebody who types when a question comes has not read it: it is answered after a pause of this length. */
const pauseMs = 1_000;
const spinner = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

/** A conversation as it stands on a terminal: what was said goes up, below it are the question or the prompt that is being written. */
export class ConversationView {
  readonly editor: LineEditor;
  readonly #place: ViewPlace;
  readonly #lines: ConversationLines;
  #permissions: PermissionQuestion[] = [];
  #question: CommandQuestion | undefined;
  /** The question that takes the keys: it was there for a while in which nobody typed. */
  #heard: PermissionQuestion | undefined;
  #quietSince = 0;
  #startedAt: number | undefined;
  #frame = 0;
  #offers: Offers | undefined;
  #chosen = 0;
  #leavesAt = 0;
  /** The line at the very bottom. */
  facts = "";
  /** What waits for the running turn. */
  waiting: readonly string[] = [];

  constructor(place: ViewPlace) {
    this.#place = place;
    this.editor = new LineEditor(place.past);
    this.#lines = new ConversationLines(place.paint, place.columns);
  }

  get isBusy(): boolean {
    return this.#startedAt !== undefined;
  }

  /** A question of the session; it goes away when somebody else answers, or when nobody waits any more. */
  ask(request: PermissionRequest): void {
    if (this.#permissions.length === 0) this.#quietSince = this.#place.now();
    this.#permissions.push(new PermissionQuestion(request));
  }

  offer(offers: Offers | undefined): void {
    this.#offers = offers && offers.offers.length > 0 ? offers : undefined;
    this.#chosen = 0;
  }

  tick(): void {
    this.#frame = (this.#frame + 1) % spinner.length;
  }

  /** Lines that stay. */
  apply(event: AgentEvent): string[] {
    if (event.type === "turn.started" && event.taskId === undefined) this.#startedAt = this.#place.now();
    if (event.type === "turn.ended" && event.taskId === undefined) this.#startedAt = undefined;
    if (event.type === "permission.resolved")
      this.#permissions = this.#permissions.filter(({ request }) => request.requestId !== event.requestId);
    if (event.type === "interaction.requested")
      this.#question = new CommandQuestion(event.interactionId, event.prompt as CommandInteractionPrompt); // the session made it of one
    if (event.type === "interaction.resolved") this.#question = undefined;
    return this.#lines.apply(event);
  }

  press(key: Key): Wish | undefined {
    const [permission] = this.#permissions;
    if (this.#question) return this.#answerCommand(this.#question, key);
    if (permission && this.#takesKeys(permission)) return this.#answerPermission(permission, key);
    this.#quietSince = this.#place.now();
    if (key.type === "named" && this.#offers && this.#chooseOffer(key.name, this.#offers)) return undefined;
    if (key.type === "named") {
      const wish = this.#command(key.name);
      if (wish) return wish === "none" ? undefined : wish;
    }
    this.editor.press(key);
    return undefined;
  }

  #takesKeys(question: PermissionQuestion): boolean {
    if (this.#heard !== question && this.#place.now() - this.#quietSince >= pauseMs) this.#heard = question;
    return this.#heard === question;
  }

  bottom(): Bottom {
    const columns = this.#place.columns() - 1;
    const head = [...this.#lines.unfinished, ...this.#activity(columns), ...this.#queue(columns)];
    const [permission] = this.#permissions;
    const question = this.#question ?? permission;
    if (question) head.push(...question.lines(this.#place.paint, columns));
    if (permission && this.#permissions.length > 1)
      head.push(this.#place.paint.dim(`    ${this.#permissions.length - 1} more after this`));
    const takesKeys = question && (question === this.#question || (permission && this.#takesKeys(permission)));
    if (takesKeys) return fit({ lines: head, row: head.length - 1, column: 0 }, this.#place.rows());
    const laid = this.editor.lay(columns - 2);
    const rows = Math.max(3, this.#place.rows() - 6);
    const first = Math.max(0, Math.min(laid.row - rows + 1, laid.lines.length - rows));
    const written = laid.lines
      .slice(first, first + rows)
      .map((line, index) => `${index + first === 0 ? "› " : "  "}${terminalText(line)}`);
    const lines = [...head, this.#place.paint.dim("─".repeat(columns)), ...written, ...this.#menu(columns)];
    return fit(
      {
        lines: [...lines, this.#place.paint.dim(clip(this.#hint, columns))],
        row: head.length + 1 + laid.row - first,
        column: laid.column + 2,
      },
      this.#place.rows(),
    );
  }

  #answerPermission(question: PermissionQuestion, key: Key): Wish | undefined {
    if (key.type === "text" && key.text === "v") return { type: "show", lines: question.whole(this.#place.columns() - 1) };
    if (key.type === "named" && key.name === "ctrl-c") return { type: "interrupt" };
    const answer = question.press(key);
    if (!answer) return undefined;
    this.#quietSince = this.#place.now(); // of the next one
    return { type: "permit", requestId: question.request.requestId, answer };
  }

  #answerCommand(question: CommandQuestion, key: Key): Wish | undefined {
    const answer = question.press(key);
    return answer && { type: "answer", interactionId: question.id, value: answer.value };
  }

  /** True when the key was for the menu. */
  #chooseOffer(name: string, { start, word, offers }: Offers): boolean {
    const chosen = offers[this.#chosen];
    if (name === "up" || name === "down") {
      this.#chosen = Math.min(Math.max(this.#chosen + (name === "up" ? -1 : 1), 0), offers.length - 1);
      return true;
    }
    if (name === "escape") {
      this.#offers = undefined;
      return true;
    }
    // A word that is complete is said, not completed.
    if (name !== "tab" && !(name === "enter" && chosen && chosen.text !== word)) return false;
    const { text } = this.editor;
    const rest = text.slice(start + word.length);
    this.editor.set(`${text.slice(0, start)}${chosen?.text ?? word} ${rest.trimStart()}`);
    this.#offers = undefined;
    return true;
  }

  #command(name: string): Wish | "none" | undefined {
    switch (name) {
      case "enter": {
        if (this.editor.text.trim() === "") return "none";
        this.#offers = undefined;
        return { type: "say", text: this.editor.take() };
      }
      case "escape":
        return this.isBusy ? { type: "interrupt" } : "none";
      case "up":
        return this.editor.text === "" && this.waiting.length > 0 ? { type: "take-back" } : undefined;
      case "ctrl-d":
        return this.editor.text === "" ? { type: "leave" } : "none";
      case "ctrl-c":
        return this.#stop();
      default:
        return undefined;
    }
  }

  /** The draft first, then what runs, then the conversation. */
  #stop(): Wish | "none" {
    if (this.editor.text !== "") {
      this.editor.set("");
      return "none";
    }
    if (this.isBusy) return { type: "interrupt" };
    if (this.#place.now() - this.#leavesAt < againMs) return { type: "leave" };
    this.#leavesAt = this.#place.now();
    return "none";
  }

  get #hint(): string {
    if (this.#place.now() - this.#leavesAt < againMs) return "Ctrl-C again leaves";
    return this.facts;
  }

  #activity(columns: number): string[] {
    if (this.#startedAt === undefined || this.#question || this.#permissions.length > 0) return [];
    const seconds = Math.round((this.#place.now() - this.#startedAt) / 1000);
    const about = clip(this.#lines.activity, Math.max(10, columns - 32));
    return [this.#place.paint.dim(`${spinner[this.#frame]} ${about} · ${seconds} s · Esc interrupts`)];
  }

  #queue(columns: number): string[] {
    return this.waiting
      .slice(0, 5)
      .map((text) => this.#place.paint.dim(clip(`  waits: ${terminalText(text).replace(/\s+/g, " ")}`, columns)));
  }

  #menu(columns: number): string[] {
    if (!this.#offers) return [];
    const width = Math.min(30, Math.max(...this.#offers.offers.map(({ text }) => text.length)));
    return this.#offers.offers.map(({ text, about }, index) => {
      const line = clip(`  ${terminalText(text).padEnd(width)}  ${about}`, columns);
      return index === this.#chosen ? this.#place.paint.bold(line) : this.#place.paint.dim(line);
    });
  }
}

/** At most as high as the terminal: what stands highest is left out. */
function fit({ lines, row, column }: Bottom, rows: number): Bottom {
  const over = Math.max(0, lines.length - (rows - 1));
  return { lines: lines.slice(over), row: Math.max(0, row - over), column };
}

/** What stands at the very bottom: who is asked, how, and what is used of the window. */
export function sessionFacts(session: InteractiveSession, { model, mode }: { model: string; mode: string }): string {
  const { usedTokens, maxTokens } = session.getContextState();
  const used = usedTokens > 0 && maxTokens > 0 ? ` · ${toCount(usedTokens)} of ${toCount(maxTokens)} tokens` : "";
  const name = session.getName();
  return `${model} · ${mode}${used}${name === undefined ? "" : ` · ${terminalText(name)}`}`;
}
