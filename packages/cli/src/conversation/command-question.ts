import type { CommandInteractionPrompt } from "@outrider/runtime";
import type { Key } from "../terminal/keys.ts";
import type { Paint } from "../terminal/paint.ts";
import { terminalText } from "../terminal/terminal-text.ts";
import { clip, wrap } from "../terminal/text-width.ts";
import { LineEditor } from "./line-editor.ts";

export type CommandAnswer = { readonly value: string | undefined };

/** A question that a command asks: one of several answers, or a text. */
export class CommandQuestion {
  readonly id: string;
  readonly #prompt: CommandInteractionPrompt;
  readonly #editor = new LineEditor();
  #place = 0;

  constructor(id: string, prompt: CommandInteractionPrompt) {
    this.id = id;
    this.#prompt = prompt;
  }

  /** The answer, once there is one; without a value nobody wants to answer. */
  press(key: Key): CommandAnswer | undefined {
    const isNamed = key.type === "named";
    if (isNamed && (key.name === "escape" || key.name === "ctrl-c")) return { value: undefined };
    if (this.#prompt.type === "choice") return this.#choose(key, this.#prompt.choices);
    if (isNamed && key.name === "enter") return { value: this.#editor.text };
    this.#editor.press(key);
    return undefined;
  }

  #choose(key: Key, choices: readonly { readonly value: string }[]): CommandAnswer | undefined {
    if (key.type === "text" && /^[1-9]$/.test(key.text)) this.#place = Math.min(Number(key.text), choices.length) - 1;
    if (key.type !== "named") return undefined;
    if (key.name === "up") this.#place = Math.max(0, this.#place - 1);
    if (key.name === "down") this.#place = Math.min(choices.length - 1, this.#place + 1);
    return key.name === "enter" ? { value: choices[this.#place]?.value } : undefined;
  }

  lines(paint: Paint, columns: number): string[] {
    const { message, description = "" } = this.#prompt;
    const about = description === "" ? [] : wrap(terminalText(description), columns - 2).map((line) => paint.dim(`  ${line}`));
    return [...wrap(`? ${terminalText(message)}`, columns).map(paint.yellow), ...about, ...this.#answers(paint, columns)];
  }

  #answers(paint: Paint, columns: number): string[] {
    if (this.#prompt.type === "text")
      return this.#editor
        .lay(columns - 4, this.#prompt.masked)
        .lines.map((line, index) => `${index === 0 ? "  › " : "    "}${line}`);
    return this.#prompt.choices.map(({ value, label = value, description = "" }, index) => {
      const line = clip(
        `  ${index === this.#place ? "›" : " "} ${index + 1}  ${terminalText(label)}  ${terminalText(description)}`.trimEnd(),
        columns,
      );
      return index === this.#place ? paint.bold(line) : line;
    });
  }
}
