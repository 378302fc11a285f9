import type { JsonObject, UserMessage } from "../../protocol/content.ts";
import type { RuntimeError } from "../../protocol/errors.ts";
import type { AgentEvent, PromptMode } from "../../protocol/events.ts";
import type { CancelCause, Outcome } from "../../protocol/outcome.ts";
import type { InteractiveSession } from "../../session/interactive-session.ts";
import { toShownOutcome } from "../../session/events/shown-outcome.ts";
import { toLine } from "../../util/jsonl.ts";
import type { OutputFormat, ShownOutcome } from "../headless/output-format.ts";
import { createRedactor, type Redactor } from "../../util/redact.ts";
import { ControlChannel } from "./control-channel.ts";
import type { ControlTargets, Interrupted } from "./control-requests.ts";
import { toEmptyOutcome } from "./empty-run.ts";
import { FlagSettings } from "./flag-settings.ts";
import { HostNotices } from "./host-notices.ts";
import { HostRequests } from "./host-requests.ts";
import { HostSession } from "./host-session.ts";
import { HostTurns, namesOf } from "./host-turns.ts";
import { HostLines } from "./host-lines.ts";
import { type InputFrame, toInputError } from "./input-frame.ts";
import { toReplay } from "./live-frames.ts";
import type { LiveOptions, LiveRun, LiveSession } from "./live-options.ts";
import { type LivePrompt, LivePrompts, tooMany } from "./live-prompts.ts";
import { unread } from "../headless/run-prompt.ts";
import { PromptResults } from "./prompt-results.ts";
import { SessionSpending } from "./session-spending.ts";
import { toFailure } from "../session-writer.ts";

/** Prompts, answers and requests as lines, each acting when it arrives; every prompt gets exactly one result. */
export function runLive(options: LiveOptions): LiveRun {
  const driver = new LiveDriver(options);
  return { stop: (cause) => driver.stop(cause), done: driver.run() };
}

class LiveDriver {
  readonly #options: LiveOptions;
  readonly #channel: ControlChannel;
  readonly #lines: HostLines;
  readonly #prompts = new LivePrompts();
  /** Messages whose content came as a string. */
  readonly #texts = new WeakSet<UserMessage>();
  readonly #writing = new Set<Promise<void>>();
  readonly #flagSettings = new FlagSettings();
  readonly #spending: SessionSpending;
  readonly #requests: HostRequests;
  readonly #results: PromptResults;
  #reading: Promise<Outcome | undefined> = Promise.resolve(undefined);
  readonly #live: HostSession;
  readonly #turns: HostTurns;
  #stopped: CancelCause | undefined;
  #cut: () => void = () => {};
  /** Nothing more is to be read: a session that was stopped must not wait for a host that keeps its end open. */
  readonly #cutting = new Promise<undefined>((resolve) => {
    this.#cut = () => resolve(undefined);
  });
  /** The last words are said: what the session still tells while it is shut down is not for the output. */
  #isClosing = false;
  readonly #notices: HostNotices;
  readonly #redactor: Redactor;

  constructor(options: LiveOptions) {
    this.#options = options;
    this.#spending = new SessionSpending(options.catalogOverride);
    this.#redactor = options.redactor ?? createRedactor();
    const { prompts, notices = { fates: false, states: false } } = options;
    this.#notices = new HostNotices({ ...notices, send: (frame) => this.#send(frame), stamp: () => this.#stamp() });
    this.#turns = new HostTurns(this.#prompts, this.#notices);
    if (prompts) prompts.look = () => this.#turns.answered(this.#results.told);
    this.#channel = new ControlChannel({ send: (frame) => this.#send(frame), newId: options.newId });
    this.#requests = new HostRequests({
      ...{ channel: this.#channel, describe: options.describe, warn: options.warn },
      send: (frame) => this.#send(frame),
      targets: () => this.#targets(),
      hasBegun: () => this.#live.begun !== undefined,
    });
    this.#live = new HostSession({
      ...{ open: options.open, output: options.output, warn: options.warn, previewFormat: options.previewFormat },
      ...{ channel: this.#channel, requests: this.#requests, notices: this.#notices, turns: this.#turns },
      send: (frame) => this.#send(frame),
      told: (permissionMode) => this.#sendStatus({ permissionMode }),
      write: (live, event) => this.#write(live, event),
    });
    this.#results = new PromptResults({
      ...{ early: options.early, output: options.output },
      format: () => this.#format(),
      shown: (outcome) => this.#shown(outcome),
    });
    this.#lines = new HostLines({ strict: options.strict ?? false, tell: (message) => this.#warn(message) });
  }

  async run(): Promise<ShownOutcome> {
    const { output } = this.#options;
    output.onClosed(() => this.stop("output-closed")); // also while nothing is asked for
    this.#reading = this.#read();
    const problem = await Promise.race([this.#reading, this.#cutting]);
    await this.#prompts.done();
    await this.#finishTasks();
    if (this.#options.finishesHooks) await this.#finishHooks();
    if (!this.#stopped) await this.#requests.done();
    await Promise.all(this.#writing);
    this.#channel.close();
    const ending = problem ?? (this.#results.last ? undefined : this.#nothing());
    if (ending && ending.type !== "completed") await this.#results.write(ending);
    return await this.#close(ending ?? this.#results.last ?? this.#nothing());
  }

  async #close(ending: Outcome): Promise<ShownOutcome> {
    const { output } = this.#options;
    const outcome = this.#shown(ending);
    this.#isClosing = true;
    output.write((await (await this.#format()).close?.(outcome)) ?? "");
    await output.drain();
    return outcome;
  }

  stop(cause: CancelCause): void {
    this.#stopped = cause;
    for (const prompt of this.#prompts.entering) this.#drop(prompt, cause);
    this.#requests.giveUp();
    this.#live.stop(cause);
    this.#turns.withdraw();
    this.#cut();
  }

  /** Answers what is wrong with the input, if anything is. What was read before it is still done. */
  async #read(): Promise<Outcome | undefined> {
    try {
      for await (const frame of this.#lines.read(this.#options.input)) {
        if (this.#stopped) return undefined;
        this.#take(frame);
      }
      return undefined;
    } catch (error) {
      return { type: "failed", error: toInputError(error).toJSON(), text: "" };
    } finally {
      this.#requests.giveUp();
      this.#channel.close(); // nobody can answer any more
    }
  }

  #take(frame: InputFrame): void {
    switch (frame.type) {
      case "user":
        return this.#takeUser(frame);
      case "unusable":
        return this.#writeSoon(this.#writeNotRun({ type: "failed", error: frame.error.toJSON(), text: "" }, frame.uuid));
      case "interrupt":
        return this.#writeSoon(this.#interrupt(false).then(({ end }) => end()));
      case "request":
        return this.#requests.take(frame.requestId, frame.request);
      case "response":
        return this.#channel.settle(frame.requestId, frame.answer);
      case "cancel": // what a host asks for is done by the time it could take it back
      case "keep-alive":
      case "foreign": // told of when it was read
        return;
    }
  }

  #takeUser({ input, isText, uuid, query, priority }: Extract<InputFrame, { type: "user" }>): void {
    if (isText) this.#texts.add(input);
    if (!this.#prompts.isNew(uuid)) return this.#replay(input, uuid ?? this.#options.newId());
    if (!query) {
      this.#prompts.keep(input);
      this.#notices.tell("queued", { uuid });
      return this.#writeSoon(this.#writeNotRun({ type: "completed", text: "" }, uuid, "completed"));
    }
    if (this.#prompts.isFull)
      return this.#writeSoon(this.#writeNotRun({ type: "failed", error: tooMany.toJSON(), text: "" }, uuid));
    const mode = priority === "now" ? "now" : priority === "next" && this.#prompts.isBusy ? "steer" : "queue";
    const prompt = this.#prompts.add(input, uuid);
    prompt.entered = this.#enter(prompt, mode);
  }

  /** Hands the prompt to the session, whose events tell what becomes of it. */
  async #enter(prompt: LivePrompt, mode: PromptMode): Promise<void> {
    try {
      if (this.#options.awaitInitialize) await this.#requests.initialized;
      const { session, writer } = await this.#live.open();
      await this.#requests.introduced;
      if (prompt.state !== "entering") return; // it was taken back, and has its result
      await session.open();
      const held = session.inbox.find(({ key }) => key !== undefined && key === prompt.uuid);
      if (held) this.#prompts.rename(prompt, held.id);
      const { uuid: key, turnId: id } = prompt;
      const accepting = session.accept(prompt.input, { mode, key, id });
      prompt.outcome = accepting.then(({ outcome }) => outcome);
      prompt.outcome.catch(() => {}); // told below
      if ((await accepting).isOver) return await this.#answerAgain(prompt, await prompt.outcome);
      await Promise.race([prompt.ended, writer.over]);
      if (!this.#prompts.hasEnded(prompt)) await this.#finish(prompt, await writer.over);
    } catch (error) {
      if (this.#prompts.hasEnded(prompt)) return;
      const outcome = this.#shown(toFailure(error));
      await this.#results.write(outcome, prompt);
      this.#endPrompt(prompt, outcome);
    }
  }

  /** An earlier process has worked on this message: how it went is still known. */
  async #answerAgain(prompt: LivePrompt, outcome: Outcome): Promise<void> {
    this.#replay(prompt.input, prompt.uuid ?? prompt.turnId);
    await this.#writeNotRun(outcome, prompt.uuid, "completed");
    this.#endPrompt(prompt, this.#shown(outcome));
  }

  /** Everything that happens, in order: what it is to the host's messages, and what is written of it. */
  async #write({ format, alsoTo }: LiveSession, event: AgentEvent): Promise<void> {
    const { output } = this.#options;
    const isOwn = event.taskId === undefined;
    if (isOwn) this.#turns.follow(event);
    alsoTo?.(event);
    this.#spending.apply(event);
    const text = format.event(event);
    if (text && !this.#isClosing) output.write(text);
    const { running } = this.#turns;
    if (isOwn && event.type === "turn.started" && running?.prompt) this.#replay(running.prompt.input, running.id);
    if (output.full) await output.drain();
    if (isOwn && event.type === "turn.ended" && running?.prompt) await this.#finish(running.prompt);
    else if (isOwn && event.type === "turn.ended" && running?.isWoken) await this.#finishWoken(event.outcome);
    if (isOwn && event.type === "prompt.cancelled") await this.#cancelled(event.cause, this.#prompts.of(event.promptId));
  }

  /** The last words on a prompt and on those that joined it. `problem`: what kept its events from being read. */
  async #finish(prompt: LivePrompt, problem?: RuntimeError): Promise<void> {
    const { output } = this.#options;
    const format = await this.#format();
    const outcome = (await prompt.outcome?.catch(toFailure)) ?? toFailure(problem);
    const told = problem && outcome.type === "completed" ? { ...toFailure(problem), text: outcome.text } : outcome;
    const honest = this.#shown(format.judge?.(told) ?? told);
    output.write(await format.end(honest));
    await output.drain();
    const written = output.closed ? this.#shown(unread(honest)) : honest;
    const joined = this.#turns.leave(prompt);
    this.#notices.tell("completed", prompt);
    for (const other of joined) {
      this.#replay(other.input, other.uuid ?? this.#options.newId());
      await this.#results.write(written, other);
      this.#notices.tell("completed", other);
      this.#endPrompt(other, written);
    }
    this.#endPrompt(prompt, written);
  }

  /** The result of a turn that nobody asked for. */
  async #finishWoken(ended: Outcome): Promise<void> {
    const format = await this.#format();
    const outcome = this.#shown(format.judge?.(ended) ?? ended);
    await this.#results.write(outcome);
    this.#results.last = outcome;
    this.#turns.leave();
    if (!this.#prompts.isBusy) this.#notices.changeState("idle");
  }

  /** Nothing more is asked: what works beside the conversation comes to its end, and the host hears of it. */
  async #finishTasks(): Promise<void> {
    const { session, writer } = this.#live.opened ?? {};
    if (!session || !writer || this.#stopped || session.listBackgroundTasks().length === 0) return;
    await session.finishBackgroundTasks(this.#options.ceilings);
    await writer.caughtUp(); // what was stopped has a warning: every turn has its one result already
  }

  async #finishHooks(): Promise<void> {
    await this.#live.opened?.session.finishHooks();
    await this.#live.opened?.writer.caughtUp();
  }

  #endPrompt(prompt: LivePrompt, outcome: ShownOutcome): void {
    this.#results.last = outcome;
    this.#prompts.end(prompt);
    if (!this.#prompts.isBusy) this.#notices.changeState("idle");
  }

  #targets(): ControlTargets {
    const { parseServers, resolveModel, settings, rewind } = this.#options;
    const session = (): Promise<InteractiveSession> => this.#live.session();
    return {
      session,
      mcp: async () => (await this.#live.open()).mcp,
      interrupt: (cancelQueued) => this.#interrupt(cancelQueued),
      cancel: (uuid) => this.#cancel(uuid),
      parseServers,
      resolveModel: resolveModel ?? (async (name) => name),
      flagSettings: this.#flagSettings,
      hostServerSays: (server, message) => this.#live.hostServerSays(server, message),
      settings,
      describe: () => this.#options.describe(this.#requests.setup),
      spending: this.#spending,
      rewind: (target, dryRun) => rewind(this.#prompts.turnOf(target) ?? target, dryRun, session),
      status: (fields) => this.#sendStatus(fields),
    };
  }

  #sendStatus(fields: JsonObject): void {
    this.#send({ type: "system", subtype: "status", status: null, ...fields, ...this.#stamp() });
  }

  /** Ends the running turn; answers the names of messages that still wait, and of those that will not run. */
  async #interrupt(cancelQueued: boolean): Promise<Interrupted> {
    const running = this.#live.opened?.session.isExecuting() ? undefined : this.#prompts.entering[0]; // it would be, were the session open
    const waiting = this.#prompts.waiting.filter((prompt) => prompt !== running);
    const dropped: LivePrompt[] = [];
    if (cancelQueued) for (const prompt of waiting) if (await this.#takeBack(prompt)) dropped.push(prompt);
    const end = (): void => {
      if (running) this.#drop(running, "abort");
      this.#live.opened?.session.interrupt();
      this.#turns.withdraw();
    };
    return { stillQueued: namesOf(waiting.filter((prompt) => !dropped.includes(prompt))), cancelled: namesOf(dropped), end };
  }

  /** Takes back one message that still waits, also one of an earlier process. */
  async #cancel(uuid: string): Promise<boolean> {
    const prompt = this.#prompts.waiting.find((other) => other.uuid === uuid);
    if (prompt) return await this.#takeBack(prompt);
    const held = this.#live.opened?.session.inbox.find(({ key }) => key === uuid);
    return held !== undefined && (await this.#live.session()).cancelPrompt(held.id);
  }

  async #takeBack(prompt: LivePrompt): Promise<boolean> {
    const { session } = this.#live.opened ?? {};
    if (prompt.state === "accepted") return (await session?.cancelPrompt(prompt.turnId)) ?? false;
    this.#drop(prompt, "abort");
    await session?.cancelPrompt(prompt.turnId); // it may be on its way to the journal
    return true;
  }

  /** A prompt that is not accepted yet, and will not be: it still gets its result. */
  #drop(prompt: LivePrompt, cause: CancelCause): void {
    this.#writeSoon(this.#cancelled(cause, prompt));
  }

  async #cancelled(cause: CancelCause, prompt: LivePrompt | undefined): Promise<void> {
    if (!prompt || prompt.state === "ended") return;
    const outcome = this.#shown({ type: "cancelled", cause, text: "" });
    if (prompt.state === "entering") this.#notices.tell("queued", prompt); // it was, here
    this.#endPrompt(prompt, outcome);
    await this.#writeNotRun(outcome, prompt.uuid, "cancelled");
  }

  #replay(input: UserMessage, uuid: string): void {
    if (!this.#options.replayUserMessages) return;
    const timestamp = new Date().toISOString();
    const stamp = { session_id: this.#options.sessionId, uuid, timestamp };
    this.#send(toReplay(this.#redactor.value(input), this.#texts.has(input), stamp));
  }

  /** The run does not end before this is written. */
  #writeSoon(writing: Promise<unknown>): void {
    const writes: Promise<void> = writing.then(() => void this.#writing.delete(writes));
    this.#writing.add(writes);
  }

  async #writeNotRun(ending: Outcome, uuid: string | undefined, fate?: "completed" | "cancelled"): Promise<void> {
    await this.#results.writeNotRun(ending, uuid, fate && (() => this.#notices.tell(fate, { uuid })));
  }

  async #format(): Promise<OutputFormat> {
    return (await this.#live.begun?.catch(() => undefined))?.format ?? this.#options.early;
  }

  #nothing(): ShownOutcome {
    const { strict = false } = this.#options;
    return this.#shown(
      toEmptyOutcome({ stopped: this.#stopped, served: this.#requests.isServed, strict, garbage: this.#lines.isGarbage }),
    );
  }

  #shown(outcome: Outcome): ShownOutcome {
    const { session } = this.#live.opened ?? {};
    return session ? session.shown(outcome) : toShownOutcome(outcome, this.#redactor);
  }

  #warn(message: string): void {
    this.#send({ type: "system", subtype: "warning", message: this.#redactor.text(message), ...this.#stamp() });
  }

  #stamp(): { session_id: string; uuid: string } {
    return { session_id: this.#options.sessionId, uuid: this.#options.newId() };
  }

  #send(frame: JsonObject): void {
    this.#options.output.write(toLine(frame));
  }
}
