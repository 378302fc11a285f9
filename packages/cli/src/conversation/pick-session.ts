import type { SessionStore } from "@outrider/runtime";
import type { SessionSummary } from "@outrider/runtime/admin";
import { type Key, openKeyboard } from "../terminal/keys.ts";
import { createPaint, isColoured, type Paint } from "../terminal/paint.ts";
import { clip } from "../terminal/text-width.ts";
import { visible } from "../terminal/visible.ts";
import { LineEditor } from "./line-editor.ts";
import { type Bottom, Screen } from "./screen.ts";

type Choosing = { readonly store: SessionStore | undefined; readonly cwd: string };

/** Somebody at the terminal chooses a session of this folder, or of all when there is none; undefined when they leave. */
export async function pickSession({ store, cwd }: Choosing): Promise<SessionSummary | undefined> {
  const stored = (await store?.summaries()) ?? [];
  const here = stored.filter((summary) => summary.cwd === cwd);
  return await pickFrom(here.length > 0 ? here : stored);
}

/** One of these; undefined when nobody wants any. */
export async function pickFrom(sessions: readonly SessionSummary[]): Promise<SessionSummary | undefined> {
  const screen = new Screen(process.stdout);
  const picker = new SessionPicker(sessions, createPaint(isColoured(process.stdout)));
  const draw = (): void => screen.show([], picker.bottom(screen.columns, screen.rows));
  return await new Promise((resolve) => {
    const keyboard = openKeyboard(process.stdin, process.stdout, (key) => {
      const picked = picker.press(key);
      if (!picked) return draw();
      keyboard.close();
      process.stdout.off("resize", draw);
      screen.clear();
      resolve(picked.session);
    });
    process.stdout.on("resize", draw);
    draw();
  });
}

/** Sessions to choose from: letters narrow the list, arrows move in it. */
export class SessionPicker {
  readonly #sessions: readonly SessionSummary[];
  readonly #paint: Paint;
  readonly #search = new LineEditor();
  #place = 0;

  constructor(sessions: readonly SessionSummary[], paint: Paint) {
    this.#sessions = sessions;
    this.#paint = paint;
  }

  /** What was picked, once somebody did or left. */
  press(key: Key): { readonly session: SessionSummary | undefined } | undefined {
    const found = this.#found;
    if (key.type === "named") {
      if (["escape", "ctrl-c", "ctrl-d"].includes(key.name)) return { session: undefined };
      if (key.name === "enter") return found.length === 0 ? undefined : { session: found[this.#place] };
      const step = { up: -1, down: 1, "page-up": -10, "page-down": 10 }[key.name as string];
      if (step !== undefined) {
        this.#place = Math.max(0, Math.min(this.#place + step, found.length - 1));
        return undefined;
      }
    }
    const before = this.#search.text;
    this.#search.press(key);
    if (this.#search.text !== before) this.#place = 0;
    return undefined;
  }

  bottom(columns: number, rows: number): Bottom {
    const width = columns - 1;
    const found = this.#found;
    const height = Math.max(1, Math.min(found.length, rows - 4));
    const first = Math.max(0, Math.min(this.#place - Math.floor(height / 2), found.length - height));
    const shown = found.slice(first, first + height).map((summary, index) => {
      const isChosen = first + index === this.#place;
      const line = clip(`${isChosen ? "› " : "  "}${lineOf(summary)}`, width);
      return isChosen ? this.#paint.bold(line) : line;
    });
    const { row, column } = this.#search.lay(width - 8);
    const lines = [
      clip(`search: ${this.#search.text}`, width),
      ...(found.length === 0 ? ["  nothing has these words"] : shown),
      this.#paint.dim(clip(`${found.length} of ${this.#sessions.length} · Enter opens · Esc leaves`, width)),
    ];
    return { lines, row, column: Math.min(column + 8, width - 1) };
  }

  get #found(): readonly SessionSummary[] {
    const words = this.#search.text.toLowerCase().split(/\s+/).filter(Boolean);
    if (words.length === 0) return this.#sessions;
    return this.#sessions.filter(({ id, name = "", prompt, cwd }) => {
      const text = `${id} ${name} ${prompt} ${cwd}`.toLowerCase();
      return words.every((word) => text.includes(word));
    });
  }
}

function lineOf({ id, name, updatedAt, turns, prompt }: SessionSummary): string {
  const when = new Date(updatedAt).toISOString().slice(0, 16).replace("T", " ");
  const called = name === undefined ? "" : `${visible(name)} · `;
  return `${id.slice(0, 8)}  ${when}  ${String(turns).padStart(3)} ${turns === 1 ? "turn " : "turns"}  ${called}${visible(prompt)}`;
}
