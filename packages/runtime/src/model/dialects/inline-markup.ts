import type { ToolDefinition } from "../../protocol/content.ts";
import { parseWrittenCalls, type WrittenCall } from "./written-calls.ts";

export type MarkupPiece =
  | { type: "text"; text: string }
  | { type: "reasoning"; text: string }
  | ({ type: "call" } & WrittenCall)
  /** A closing tag without an opening one, which the server's template had put into the prompt: all text so far was reasoning. */
  | { type: "was-reasoning" };

type Opening = { readonly open: string; readonly close: string; readonly type: "reasoning" | "call" };

const openings: readonly Opening[] = [
  { open: "<think>", close: "</think>", type: "reasoning" },
  { open: "<thinking>", close: "</thinking>", type: "reasoning" },
  { open: "<thought>", close: "</thought>", type: "reasoning" },
  { open: "[THINK]", close: "[/THINK]", type: "reasoning" },
  { open: "<|channel>thought", close: "<channel|>", type: "reasoning" },
  { open: "<tool_call>", close: "</tool_call>", type: "call" },
  { open: "```tool_code", close: "\n```", type: "call" },
  { open: "```tool_call", close: "\n```", type: "call" },
];
const fence = "```";
const headlessClose = "</think>";

/**
 * Takes apart what a model writes when its server does not: reasoning between tags and tool calls as text.
 * Markup counts only at the beginning of a line outside code fences, so that an answer may speak about it.
 */
export class InlineMarkup {
  readonly #tools: readonly ToolDefinition[];
  /** Not decided yet: the beginning of markup, or the inside of a call. */
  #held = "";
  #inside: Opening | undefined;
  #atLineStart = true;
  #fenced = false;
  /** White space at the edges of markup belongs to nobody. */
  #dropSpace = true;
  #mayBeHeadless = true;
  /** The last character that was told as text. */
  #before = "";
  /** The end of a call's text so far, where its closing tag may have begun. */
  #tail = "";

  constructor(tools: readonly ToolDefinition[]) {
    this.#tools = tools;
  }

  push(text: string): MarkupPiece[] {
    this.#held += text;
    if (this.#isStillCall(text)) return [];
    const pieces: MarkupPiece[] = [];
    while (this.#held !== "" && this.#step(pieces)) {}
    return pieces;
  }

  /** Text that is still undecided; a call without its closing tag counts when it is readable, as models like to stop before it. */
  end(): MarkupPiece[] {
    const rest = this.#held;
    this.#held = "";
    if (this.#inside?.type === "call") {
      const body = rest.slice(0, rest.length - prefixLength(rest, this.#inside.close));
      return this.#toCalls(this.#inside, body.replace(/```\s*$/, ""), rest);
    }
    if (!rest || (this.#dropSpace && !rest.trim())) return [];
    return [{ type: this.#inside ? "reasoning" : "text", text: rest }];
  }

  /** Looks only at what is new: a call may be long, and come in very small pieces. */
  #isStillCall(text: string): boolean {
    if (this.#inside?.type !== "call") return false;
    const fresh = this.#tail + text;
    this.#tail = fresh.slice(-this.#inside.close.length);
    return !fresh.includes(this.#inside.close);
  }

  /** False when more text is needed to decide. */
  #step(pieces: MarkupPiece[]): boolean {
    if (this.#dropSpace) {
      this.#held = this.#held.trimStart();
      if (this.#held === "") return false;
    }
    if (this.#inside?.type === "reasoning") return this.#readReasoning(this.#inside, pieces);
    if (this.#inside) return this.#readCall(this.#inside, pieces);
    return this.#atLineStart ? this.#readLineStart(pieces) : this.#readLine(pieces);
  }

  #readReasoning({ close }: Opening, pieces: MarkupPiece[]): boolean {
    const end = this.#held.indexOf(close);
    const sure = end === -1 ? this.#held.length - undecidedLength(this.#held, close) : end;
    const text = this.#held.slice(0, sure).trimEnd();
    if (text) {
      pieces.push({ type: "reasoning", text });
      this.#dropSpace = false;
    }
    if (end === -1) {
      this.#held = this.#held.slice(text.length);
      return false;
    }
    this.#leave(end + close.length);
    return true;
  }

  #readCall(opening: Opening, pieces: MarkupPiece[]): boolean {
    const end = this.#held.indexOf(opening.close);
    this.#tail = this.#held.slice(-opening.close.length);
    if (end === -1) return false;
    const verbatim = this.#held.slice(0, end + opening.close.length);
    const found = this.#toCalls(opening, this.#held.slice(0, end), verbatim);
    pieces.push(...found);
    this.#leave(verbatim.length);
    if (found[0]?.type === "text") this.#dropSpace = this.#atLineStart = false;
    return true;
  }

  #toCalls({ open }: Opening, body: string, verbatim: string): MarkupPiece[] {
    const calls = parseWrittenCalls(body, this.#tools);
    if (calls.length === 0) return [{ type: "text", text: `${open}${verbatim}` }];
    return calls.map((call) => ({ type: "call", ...call }));
  }

  #leave(consumed: number): void {
    this.#held = this.#held.slice(consumed);
    this.#inside = undefined;
    this.#atLineStart = true;
    this.#dropSpace = true;
  }

  #readLineStart(pieces: MarkupPiece[]): boolean {
    const rest = this.#held.trimStart();
    const opening = this.#fenced ? undefined : openings.find(({ open }) => rest.startsWith(open));
    if (opening) {
      this.#enter(opening, rest, pieces);
      return true;
    }
    const candidates = this.#fenced ? [fence] : [fence, headlessClose, ...openings.map(({ open }) => open)];
    if (candidates.some((candidate) => candidate !== rest && candidate.startsWith(rest))) return false;
    if (rest.startsWith(fence)) this.#fenced = !this.#fenced;
    this.#atLineStart = false;
    return true;
  }

  #enter(opening: Opening, rest: string, pieces: MarkupPiece[]): void {
    const space = this.#held.slice(0, this.#held.length - rest.length);
    if (space) pieces.push({ type: "text", text: space });
    this.#inside = opening;
    this.#held = rest.slice(opening.open.length);
    this.#dropSpace = opening.type === "reasoning";
    if (opening.type === "reasoning") this.#mayBeHeadless = false;
  }

  #readLine(pieces: MarkupPiece[]): boolean {
    const newline = this.#held.indexOf("\n");
    const line = newline === -1 ? this.#held : this.#held.slice(0, newline + 1);
    const close = this.#mayBeHeadless && !this.#fenced ? line.indexOf(headlessClose) : -1;
    if (close !== -1 && (line[close - 1] ?? this.#before) !== "`") {
      if (close > 0) pieces.push({ type: "text", text: line.slice(0, close) });
      pieces.push({ type: "was-reasoning" });
      this.#mayBeHeadless = false;
      this.#leave(close + headlessClose.length);
      return true;
    }
    const undecided = newline === -1 && this.#mayBeHeadless && !this.#fenced ? prefixLength(line, headlessClose) : 0;
    const text = line.slice(0, line.length - undecided);
    if (text) {
      pieces.push({ type: "text", text });
      this.#before = text.slice(-1);
      this.#dropSpace = false;
    }
    this.#held = this.#held.slice(text.length);
    this.#atLineStart = newline !== -1;
    return newline !== -1;
  }
}

/** How much of the end could still be the closing tag, or white space before it. */
function undecidedLength(text: string, close: string): number {
  const prefix = prefixLength(text, close);
  const before = text.slice(0, text.length - prefix);
  return prefix + before.length - before.trimEnd().length;
}

/** Length of the longest end of `text` that is a beginning of `tag`. */
function prefixLength(text: string, tag: string): number {
  for (let length = Math.min(text.length, tag.length - 1); length > 0; length--) {
    if (text.endsWith(tag.slice(0, length))) return length;
  }
  return 0;
}
