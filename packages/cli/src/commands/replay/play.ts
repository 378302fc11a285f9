import type { AgentEvent } from "@outrider/runtime";
import { type Key, type Keyboard, openKeyboard } from "../../terminal/keys.ts";
import { createStatusLine } from "../../terminal/status-line.ts";
import { ReplayTeller, type ReplayLook } from "./tell-replay.ts";

export type Pace =
  | { readonly type: "instant" }
  | { readonly type: "step" }
  /** A pause of the run is so many times shorter, and at most so long. */
  | { readonly type: "timed"; readonly speed: number; readonly maxPauseMs: number };

export type Playing = ReplayLook & {
  readonly pace: Pace;
  readonly output: NodeJS.WriteStream;
  /** Where keys come from, when somebody is there to press them. */
  readonly keys: NodeJS.ReadStream | undefined;
};

/** What is to be told, and how long after the start of the run it was. */
type Moment = { readonly lines: readonly string[]; readonly at: number };

/** Plays a run to its end, or until somebody leaves: answers whether all of it was told. */
export async function play(events: readonly AgentEvent[], { pace, output, keys, ...look }: Playing): Promise<boolean> {
  const teller = new ReplayTeller(look);
  const start = Date.parse(events[0]?.at ?? "") || 0;
  const moments = function* (): Iterable<Moment> {
    for (const event of events) {
      const lines = teller.apply(event);
      if (lines.length > 0) yield { lines, at: (Date.parse(event.at) || start) - start };
    }
  };
  const whole = (Date.parse(events.at(-1)?.at ?? "") || start) - start;
  const line = createStatusLine(output, look.columns);
  const audience = new Audience(pace);
  let keyboard: Keyboard | undefined;
  try {
    keyboard = keys && pace.type !== "instant" ? openKeyboard(keys, output, (key) => audience.hear(key)) : undefined;
    let last = 0;
    for (const { lines, at } of moments()) {
      const show = (): void => {
        if (keyboard) line.paint(`${audience.words} · ${clock(at)} of ${clock(whole)}`);
      };
      if (!(await audience.wait(at - last, show))) return false;
      last = at;
      line.clear();
      output.write(lines.map((text) => `${text}\n`).join(""));
    }
    return true;
  } finally {
    line.clear();
    keyboard?.close();
  }
}

/** Decides when the next thing is told: by the time it took, or by somebody's key. */
class Audience {
  #pace: Pace;
  #isPaused = false;
  #hasLeft = false;
  /** Keys for the next step that were pressed and not used yet. */
  #steps = 0;
  #wake: (() => void) | undefined;

  constructor(pace: Pace) {
    this.#pace = pace;
  }

  get words(): string {
    if (this.#pace.type === "step") return "Enter: next · g: to the end · q: leave";
    return this.#isPaused ? "paused · space: go on · q: leave" : "space: pause · Enter: next · q: leave";
  }

  hear(key: Key): void {
    if (key.type === "named") this.#press(key.name);
    else for (const character of key.text) this.#press(character);
  }

  #press(pressed: string): void {
    if (["q", "ctrl-c", "ctrl-d", "escape"].includes(pressed)) this.#hasLeft = true;
    else if (pressed === "g") this.#pace = { type: "instant" };
    else if (pressed === " " && this.#pace.type === "timed") {
      this.#isPaused = !this.#isPaused;
      if (this.#isPaused) return this.#wake?.();
    } else if (![" ", "enter", "right", "down"].includes(pressed)) return;
    else this.#steps++;
    this.#wake?.();
  }

  /** False when nobody is there any more. */
  async wait(tookMs: number, show: () => void): Promise<boolean> {
    const pause = this.#pace.type === "timed" ? Math.min(tookMs / this.#pace.speed, this.#pace.maxPauseMs) : 0;
    const due = Date.now() + pause;
    while (!this.#hasLeft && this.#steps === 0 && this.#pace.type !== "instant") {
      const left = due - Date.now();
      if (this.#pace.type === "timed" && !this.#isPaused && left <= 0) break;
      show();
      await this.#sleep(this.#pace.type === "timed" && !this.#isPaused ? left : undefined);
    }
    this.#steps = Math.max(0, this.#steps - 1);
    return !this.#hasLeft;
  }

  async #sleep(milliseconds: number | undefined): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = milliseconds === undefined ? undefined : setTimeout(resolve, milliseconds);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#wake = undefined;
  }
}

function clock(milliseconds: number): string {
  const seconds = Math.round(milliseconds / 1000);
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const rest = String(seconds % 60).padStart(2, "0");
  return hours > 0 ? `${hours}:${String(minutes).padStart(2, "0")}:${rest}` : `${minutes}:${rest}`;
}
