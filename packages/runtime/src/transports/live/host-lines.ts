import { RuntimeError } from "../../protocol/errors.ts";
import { readLines } from "../../util/jsonl.ts";
import { type InputFrame, parseInputFrame } from "./input-frame.ts";

export type HostLinesOptions = {
  /** A line that cannot be used is the end of the input. Otherwise it is skipped and told of. */
  readonly strict: boolean;
  readonly tell: (message: string) => void;
};

/** What a host writes, as frames. */
export class HostLines {
  readonly #options: HostLinesOptions;
  readonly #kinds = new Set<string>();
  #isPiped = false;
  #broken = 0;
  #used = 0;

  constructor(options: HostLinesOptions) {
    this.#options = options;
  }

  async *read(input: AsyncIterable<Uint8Array>): AsyncGenerator<InputFrame> {
    const { strict } = this.#options;
    for await (const line of readLines(input)) {
      const frame = strict ? parseInputFrame(line) : this.#parse(line);
      if (frame) yield frame;
    }
  }

  /** Nothing of all that came could be used: a host that writes like this has not said what it wants. */
  get isGarbage(): boolean {
    return this.#broken > 0 && this.#used === 0;
  }

  #parse(line: string): InputFrame | undefined {
    try {
      const frame = parseInputFrame(line, { takesForeign: true, isPiped: this.#isPiped });
      this.#used++;
      if (frame.type !== "foreign") return frame;
      this.#skipKind(frame.kind);
    } catch (error) {
      if (!(error instanceof RuntimeError)) throw error;
      this.#skipBroken(error.message);
    }
    return undefined;
  }

  /** Once for all of a kind: another run's whole output may come through a pipe. */
  #skipKind(kind: string): void {
    this.#isPiped ||= /^"(?:system|assistant|result|stream_event)"$/.test(kind);
    if (this.#kinds.has(kind) || this.#kinds.size >= maxTold) return;
    this.#kinds.add(kind);
    this.#options.tell(`Lines of the type ${kind} are skipped: they are no messages and no requests`);
  }

  #skipBroken(problem: string): void {
    this.#broken++;
    if (this.#broken > maxTold) return;
    const more = this.#broken === maxTold ? ", as are more of them, without a word" : "";
    this.#options.tell(`${problem}. It is skipped${more}`);
  }
}

const maxTold = 100;
