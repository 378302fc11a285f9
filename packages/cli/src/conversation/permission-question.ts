import type { PermissionRequest } from "@outrider/runtime";
import type { Key } from "../terminal/keys.ts";
import type { Paint } from "../terminal/paint.ts";
import { terminalText } from "../terminal/terminal-text.ts";
import { clip, wrap } from "../terminal/text-width.ts";

export type PermissionAnswer = { readonly decision: "allow" | "deny"; readonly remember?: "session" };

const choices = [
  { letter: "y", words: "yes, this once", answer: { decision: "allow" } },
  { letter: "a", words: "yes, and all that the rule allows in this session", answer: { decision: "allow", remember: "session" } },
  { letter: "n", words: "no", answer: { decision: "deny" } },
] as const;

/** So many lines of a call are shown at first; `v` shows the rest. */
const mostLines = 12;

/**
 * A call that somebody is to say yes or no to. One letter chooses and Enter says it: several letters are words that were meant for
 * somebody else, and choose nothing until they are taken back. Nothing is chosen at first.
 */
export class PermissionQuestion {
  readonly request: PermissionRequest;
  #chosen: (typeof choices)[number] | undefined;
  /** What was typed since the last choice by an arrow. */
  #typed = "";

  constructor(request: PermissionRequest) {
    this.request = request;
  }

  /** The answer, once there is one. */
  press(key: Key): PermissionAnswer | undefined {
    if (key.type === "text") return this.#type(this.#typed + key.text);
    if (key.type === "paste") return this.#type(`${this.#typed}${key.text} `); // never one letter
    if (key.name === "escape") return { decision: "deny" };
    if (key.name === "enter" && this.#chosen) return this.#chosen.answer;
    if (key.name === "up" || key.name === "down") this.#move(key.name === "up" ? -1 : 1);
    else if (key.name === "backspace") this.#type(this.#typed.slice(0, -1));
    else this.#type("");
    return undefined;
  }

  #type(text: string): undefined {
    this.#typed = text;
    this.#chosen = choices.find(({ letter }) => letter === text.toLowerCase());
  }

  /** All that would be run, for whoever wants to read it before they answer. */
  whole(columns: number): string[] {
    return callLines(this.request, columns);
  }

  lines(paint: Paint, columns: number): string[] {
    const { toolName, reason, rule = "\n", taskId } = this.request;
    const call = this.whole(columns);
    const hidden = call.length - mostLines;
    return [
      paint.yellow(clip(`? ${terminalText(toolName)}${taskId === undefined ? "" : " (a subagent)"}`, columns)),
      ...call.slice(0, mostLines).map((line) => paint.bold(line)),
      ...(hidden > 0 ? [paint.yellow(`    … ${hidden} more ${hidden === 1 ? "line" : "lines"}: v shows them`)] : []),
      ...wrap(oneText(reason), columns - 4).map((line) => paint.dim(`    ${line}`)),
      ...(rule.includes("\n") ? [] : [paint.dim(clip(`    a rule that allows it: ${oneText(rule)}`, columns))]),
      ...choices.map((choice) => {
        const line = clip(`  ${choice === this.#chosen ? "›" : " "} ${choice.letter}  ${choice.words}`, columns);
        return choice === this.#chosen ? paint.bold(line) : line;
      }),
      paint.dim(clip(`    ${this.#hint}`, columns)),
    ];
  }

  get #hint(): string {
    if (this.#chosen) return "Enter says it · Esc: no";
    if (this.#typed === "") return "a letter chooses, Enter says it · Esc: no";
    return `"${oneText(this.#typed)}" is no answer: one letter, then Enter · Esc: no`;
  }

  #move(step: -1 | 1): void {
    this.#typed = "";
    const now = this.#chosen ? choices.indexOf(this.#chosen) : step === 1 ? -1 : choices.length;
    this.#chosen = choices[Math.min(Math.max(now + step, 0), choices.length - 1)];
  }
}

/** A command in its own lines, of other calls each value under its name. */
function callLines({ input }: PermissionRequest, columns: number): string[] {
  const { command, ...rest } = input;
  const entries = Object.entries(rest).map(
    ([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value, undefined, 2)}`,
  );
  const text = [
    ...(command === undefined ? [] : [typeof command === "string" ? command : JSON.stringify(command)]),
    ...entries,
  ].join("\n");
  // The bar is ours: nothing a model writes can look like the lines around it.
  return wrap(terminalText(text).replaceAll("\t", "  "), columns - 4).map((line) => `  │ ${line}`);
}

function oneText(text: string): string {
  return terminalText(text).replace(/\s+/g, " ").trim();
}
