import { type AgentEvent, type InteractiveSession, RuntimeError } from "@outrider/runtime";
import { openSession, type OpenedSession, planSession, type SessionPlan } from "@outrider/runtime/host";
import { exitCodes } from "../exit-codes.ts";
import type { Arguments } from "../flags/args.ts";
import type { FlagValues } from "../flags/flags.ts";
import { planRun, surroundings } from "../request/plan-run.ts";
import { closeAll, endSession } from "../run/end-session.ts";
import { type Key, openKeyboard } from "../terminal/keys.ts";
import { createPaint, isColoured, type Paint } from "../terminal/paint.ts";
import { terminalText } from "../terminal/terminal-text.ts";
import { clip, wrap } from "../terminal/text-width.ts";
import { findOffers } from "./completion.ts";
import { ConversationLines } from "./conversation-lines.ts";
import { ConversationView, sessionFacts, type Wish } from "./conversation-view.ts";
import { Screen } from "./screen.ts";

declare const OUTRIDER_VERSION: string;

const tickMs = 100;
/** Of a session that goes on, so many turns are told again. */
const toldTurns = 3;

/** What is there after a conversation: the end, or another session that was chosen. */
type Leaving = { readonly code: number } | { readonly resume: string };

/** `outrider` alone at a terminal: prompts are typed, and each is a turn of one session. */
export async function runConversation({ flags }: Arguments): Promise<number> {
  if (process.env["TERM"] === "dumb")
    throw new RuntimeError("no-input", "There is no prompt, and this terminal cannot show a conversation (TERM=dumb)", {
      hint: 'Give one: outrider -p "what does this project do?"',
    });
  const outlive = (): void => {};
  // A terminal that goes away says so more than once, and cannot be written to: neither ends the process before the session is closed.
  for (const signal of endings) process.on(signal, outlive);
  for (const stream of [process.stdin, process.stdout, process.stderr]) stream.on("error", outlive);
  for (let wanted = flags; ; ) {
    const left = await converse(wanted);
    if ("code" in left) return left.code;
    const { continue: _, ...others } = flags;
    wanted = { ...others, resume: left.resume };
  }
}

async function converse(flags: FlagValues): Promise<Leaving> {
  const paint = createPaint(isColoured(process.stdout));
  const told: string[] = [];
  let warn = (line: string): void => void told.push(line);
  const plan = await planRun(
    flags,
    (line) => warn(line),
    async (request) =>
      await planSession(
        { ...request, options: { ...request.options, promptsFrom: "owner" } },
        { around: surroundings(), warn: (line) => warn(line) },
      ),
  );
  await plan.begin();
  const leaving = new LeavingPlace();
  const opened = await open(plan, leaving, (line) => warn(line));
  try {
    await opened.session.open();
    const screen = new Screen(process.stdout);
    const talk = new Talk({ opened, plan, paint, screen, leaving });
    warn = (line) => talk.say([paint.yellow(clip(`! ${terminalText(line)}`, screen.columns - 1))]);
    return await talk.run(told);
  } finally {
    await closeAll(
      (line) => process.stderr.write(`outrider: ${terminalText(line)}\n`),
      [
        () => endSession(opened.session, () => {}), // it was told while it stood on the screen
        () => opened.close(),
      ],
    );
  }
}

/** The person at the terminal answers, and commands may leave or choose another session. */
async function open(plan: SessionPlan, leaving: LeavingPlace, warn: (line: string) => void): Promise<OpenedSession> {
  const { commandAdapters } = plan.options;
  return await openSession(plan, {
    warn,
    answers: "host",
    options: {
      schedules: true,
      answersInteractions: true,
      commandAdapters: {
        ...commandAdapters,
        async applyEffect(effect) {
          if (effect.type === "session-exit-requested") return leaving.later({ code: exitCodes.success });
          if (effect.type === "session-picker-requested") return leaving.later("choose");
          return await commandAdapters?.applyEffect?.(effect);
        },
      },
    },
  });
}

/** Who leaves, and how; a command that asks for it has its turn ended first. */
class LeavingPlace {
  asked: Leaving | "choose" | undefined;

  later(how: Leaving | "choose"): string {
    this.asked = how;
    return "done";
  }
}

type TalkPlace = {
  readonly opened: OpenedSession;
  readonly plan: SessionPlan;
  readonly paint: Paint;
  readonly screen: Screen;
  readonly leaving: LeavingPlace;
};

/** One session on the screen, from its first line to the moment somebody leaves. */
class Talk {
  readonly #place: TalkPlace;
  readonly #session: InteractiveSession;
  readonly #view: ConversationView;
  #leave: (how: Leaving | "choose") => void = () => {};

  constructor(place: TalkPlace) {
    this.#place = place;
    this.#session = place.opened.session;
    this.#view = new ConversationView({
      paint: place.paint,
      columns: () => place.screen.columns,
      rows: () => place.screen.rows,
      now: Date.now,
      past: [],
    });
  }

  say(lines: readonly string[]): void {
    this.#place.screen.show(lines, this.#view.bottom());
  }

  async run(warnings: readonly string[]): Promise<Leaving> {
    const { screen } = this.#place;
    const events = this.#session.events();
    const left = new Promise<Leaving | "choose">((resolve) => {
      this.#leave = resolve;
    });
    await this.#update();
    this.say(await this.#beginning(warnings));
    const following = this.#follow(events).catch((error: unknown) => this.#fail(error));
    const ticks = setInterval(() => this.#tick(), tickMs);
    const redraw = (): void => this.say([]);
    const signalled = (): void => this.#leave({ code: exitCodes.cancelled });
    process.stdout.on("resize", redraw);
    for (const signal of endings) process.on(signal, signalled);
    const keyboard = openKeyboard(process.stdin, process.stdout, (key) => this.#press(key));
    const gone = (): void => this.#leave({ code: exitCodes.success });
    process.stdin.once("end", gone);
    let how: Leaving | "choose";
    try {
      how = await left;
    } finally {
      keyboard.close();
      clearInterval(ticks);
      process.stdout.off("resize", redraw);
      for (const signal of endings) process.off(signal, signalled);
      process.stdin.off("end", gone);
      screen.clear();
    }
    if (how !== "choose") this.#session.abort("abort");
    void following; // it ends with the session
    if (how === "choose") return await this.#choose();
    const words = `outrider --resume ${this.#session.id} goes on with this conversation`;
    if (this.#session.getMessages().length > 0 && this.#place.plan.options.sessionStore)
      process.stdout.write(`${this.#place.paint.dim(words)}\n`);
    return how;
  }

  /** Another session, or this one again when nobody chooses. */
  async #choose(): Promise<Leaving> {
    const { pickSession } = await import("./pick-session.ts");
    const picked = await pickSession({ store: this.#place.plan.options.sessionStore, cwd: this.#place.plan.options.cwd });
    return { resume: picked?.id ?? this.#session.id };
  }

  async #follow(events: AsyncIterable<AgentEvent>): Promise<void> {
    for await (const event of events) {
      const lines = this.#view.apply(event);
      const request = event.type === "permission.requested" ? this.#session.openPermission(event) : undefined;
      if (request) this.#view.ask(request);
      if (changesFacts.has(event.type)) await this.#update();
      this.#view.waiting = this.#session.inbox.map(promptWords);
      if (!this.#session.isClosed()) this.say(lines);
      const { asked } = this.#place.leaving;
      if (asked && event.type === "turn.ended" && event.taskId === undefined) this.#leave(asked);
    }
  }

  #fail(error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    this.say([this.#place.paint.red(`✗ ${terminalText(message)}`)]);
    this.#leave({ code: exitCodes.error });
  }

  async #update(): Promise<void> {
    const { facts } = await this.#session.controls();
    this.#view.facts = sessionFacts(this.#session, { model: facts.model.id, mode: facts.permissionMode });
  }

  #tick(): void {
    if (!this.#view.isBusy) return;
    this.#view.tick();
    this.say([]);
  }

  #press(key: Key): void {
    const wish = this.#view.press(key);
    if (wish) void this.#fulfil(wish).catch((error: unknown) => this.#complain(error));
    this.#offer();
    this.say([]);
  }

  /** Files are looked for while somebody types; what comes too late is not shown. */
  #offer(): void {
    const { text, cursor } = this.#view.editor;
    this.#view.offer(undefined);
    void findOffers(text, cursor, this.#session)
      .then((offers) => {
        const now = this.#view.editor;
        if (!offers || now.text !== text || now.cursor !== cursor) return;
        this.#view.offer(offers);
        this.say([]);
      })
      .catch((error: unknown) => this.#complain(error));
  }

  async #fulfil(wish: Wish): Promise<void> {
    switch (wish.type) {
      case "say":
        await this.#session.accept(wish.text.trim(), { mode: "steer" });
        return;
      case "interrupt":
        return this.#session.interrupt("abort");
      case "leave":
        return this.#leave({ code: exitCodes.success });
      case "take-back": {
        const last = this.#session.inbox.at(-1);
        if (last && (await this.#session.cancelPrompt(last.id))) this.#view.editor.set(promptWords(last));
        this.#view.waiting = this.#session.inbox.map(promptWords);
        return this.say([]);
      }
      case "show":
        return this.say(wish.lines);
      case "permit":
        return this.#session.answerPermission(wish.requestId, wish.answer);
      case "answer":
        this.#session.answerInteraction(wish.interactionId, wish.value);
    }
  }

  #complain(error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    this.say([this.#place.paint.red(clip(`✗ ${terminalText(message)}`, this.#place.screen.columns - 1))]);
  }

  /** Who is asked and where, and of a session that goes on what was said last. */
  async #beginning(warnings: readonly string[]): Promise<string[]> {
    const { paint, screen, plan } = this.#place;
    const { dim, yellow } = paint;
    const past = await lastTurns(this.#session);
    const teller = new ConversationLines(paint, () => screen.columns);
    for (const event of past) if (event.type === "turn.started" && !event.command) this.#remember(event);
    const columns = screen.columns - 1;
    return [
      ...wrap(`Outrider ${OUTRIDER_VERSION} in ${terminalText(plan.options.cwd)}`, columns).map(paint.bold),
      ...wrap("/help lists commands · @ names files · Alt-Enter begins a line · Esc interrupts · Ctrl-D leaves", columns).map(
        dim,
      ),
      ...warnings.flatMap((line) => wrap(`! ${terminalText(line)}`, columns).map(yellow)),
      ...past.flatMap((event) => teller.apply(event)),
    ];
  }

  /** The arrow keys bring back what was typed before. */
  #remember({ displayInput, input }: AgentEvent<"turn.started">): void {
    this.#view.editor.set(promptWords({ displayInput, input }));
    this.#view.editor.take();
  }
}

const endings: readonly NodeJS.Signals[] = ["SIGTERM", "SIGHUP", "SIGINT"];
const changesFacts: ReadonlySet<string> = new Set(["session.changed", "session.named", "context.updated", "turn.ended"]);

async function lastTurns(session: InteractiveSession): Promise<AgentEvent[]> {
  const past = [...(await session.past("turn.started", "input.added", "message.ended", "tool.ended", "turn.ended"))].filter(
    ({ taskId }) => taskId === undefined,
  );
  const turns = past.flatMap(({ type }, index) => (type === "turn.started" ? [index] : []));
  return past.slice(turns.at(-toldTurns) ?? 0);
}

function promptWords({
  displayInput,
  input,
}: Pick<AgentEvent<"turn.started">, "input"> & { displayInput?: string | undefined }): string {
  return displayInput ?? input.content.map((part) => (part.type === "text" ? part.text : "")).join("");
}
