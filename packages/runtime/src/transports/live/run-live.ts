import type { JsonObject, UserMessage } from "../../protocol/content.ts";
import { RuntimeError, toRuntimeError } from "../../protocol/errors.ts";
import type { AgentEvent, PromptMode } from "../../protocol/events.ts";
import type { CancelCause, Outcome } from "../../protocol/outcome.ts";
import type { InteractiveSession } from "../../session/interactive-session.ts";
import { toShownOutcome } from "../../session/events/shown-outcome.ts";
import { toLine } from "../../util/jsonl.ts";
import type { AnsweredPrompts, OutputFormat, ShownOutcome } from "../headless/output-format.ts";
import { createRedactor, type Redactor } from "../../util/redact.ts";
import { ControlChannel } from "./control-channel.ts";
import { answerControlRequest, type ControlReply, type ControlTargets, type Interrupted } from "./control-requests.ts";
import { toEmptyOutcome } from "./empty-run.ts";
import { FlagSettings } from "./flag-settings.ts";
import { HostMcpTransport } from "./host-mcp-transport.ts";
import { HostNotices } from "./host-notices.ts";
import { toPerson } from "./host-person.ts";
import { createHostTools } from "./host-tools.ts";
import { type LiveSetup, readSetup } from "./initialize.ts";
import { HostLines } from "./host-lines.ts";
import { type InputFrame, toInputError } from "./input-frame.ts";
import { toControlResponse, toElicitation, toReplay } from "./live-frames.ts";
import type { LiveOptions, LiveRun, LiveSession } from "./live-options.ts";
import { answerPermissionQuestions } from "../../hosting/permission-answers.ts";
import { askHost } from "./ask-host.ts";
import { type LivePrompt, LivePrompts, type LiveTurn } from "./live-prompts.ts";
import { unread } from "../headless/run-prompt.ts";
import { SessionSpending } from "./session-spending.ts";
import { SessionWriter, toFailure } from "../session-writer.ts";

/** Prompts, answers and requests as lines, each acting when it arrives; every prompt gets exactly one result. */
export function runLive(options: LiveOptions): LiveRun {
  const driver = new LiveDriver(options);
  return { stop: (cause) => driver.stop(cause), done: driver.run() };
}

type Opened = LiveSession & { readonly writer: SessionWriter };

/** A host that writes on and on is told so; what waits is bounded. */
const maxWaiting = 1_000;
const tooMany = new RuntimeError("busy", `More than ${maxWaiting} prompts are waiting; this one was not run`, {
  retryable: true,
});

class LiveDriver {
  readonly #options: LiveOptions;
  readonly #channel: ControlChannel;
  readonly #lines: HostLines;
  readonly #prompts = new LivePrompts();
  readonly #hostServers = new Map<string, HostMcpTransport>();
  /** Requests of the host that are not answered yet. */
  readonly #answering = new Set<Promise<void>>();
  readonly #writing = new Set<Promise<void>>();
  readonly #flagSettings = new FlagSettings();
  readonly #spending: SessionSpending;
  #setup: LiveSetup = { hostServers: new Map(), unsupported: [] };
  #initialized: () => void = () => {};
  readonly #initializing = new Promise<void>((resolve) => {
    this.#initialized = resolve;
  });
  #isInitialized = false;
  /** The host has its answer to `initialize`: what it asked for comes after it. */
  #introduced: Promise<void> = Promise.resolve();
  #served = false;
  #reading: Promise<Outcome | undefined> = Promise.resolve(undefined);
  #opening: Promise<Opened> | undefined;
  #opened: Opened | undefined;
  /** Aborted when nothing that was asked for a turn is to be answered any more; the last one is of the running turn. */
  readonly #turns: AbortController[] = [];
  #turn: LiveTurn | undefined;
  #stopped: CancelCause | undefined;
  #cut: () => void = () => {};
  /** Nothing more is to be read: a session that was stopped must not wait for a host that keeps its end open. */
  readonly #cutting = new Promise<undefined>((resolve) => {
    this.#cut = () => resolve(undefined);
  });
  /** The last words are said: what the session still tells while it is shut down is not for the output. */
  #isClosing = false;
  /** How the last message went that has its result. */
  #last: ShownOutcome | undefined;

  readonly #notices: HostNotices;
  readonly #redactor: Redactor;
  /** Of the message whose result is written right now, when that is not the turn's. */
  #told: Pick<LivePrompt, "uuid"> | undefined;

  constructor(options: LiveOptions) {
    this.#options = options;
    this.#spending = new SessionSpending(options.catalogOverride);
    this.#redactor = options.redactor ?? createRedactor();
    const { prompts, notices = { fates: false, states: false } } = options;
    this.#notices = new HostNotices({ ...notices, send: (frame) => this.#send(frame), stamp: () => this.#stamp() });
    if (prompts) prompts.look = () => this.#answered();
    this.#channel = new ControlChannel({ send: (frame) => this.#send(frame), newId: options.newId });
    this.#lines = new HostLines({ strict: options.strict ?? false, tell: (message) => this.#warn(message) });
  }

  async run(): Promise<ShownOutcome> {
    const { output } = this.#options;
    output.onClosed(() => this.stop("output-closed")); // also while nothing is asked for
    this.#reading = this.#read();
    const problem = await Promise.race([this.#reading, this.#cutting]);
    await this.#prompts.done();
    await this.#finishTasks();
    if (!this.#stopped) await Promise.all(this.#answering);
    await Promise.all(this.#writing);
    this.#channel.close();
    const ending = problem ?? (this.#last ? undefined : this.#nothing());
    if (ending && ending.type !== "completed") await this.#writeEnd(ending);
    return await this.#close(ending ?? this.#last ?? this.#nothing());
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
    this.#initialized();
    this.#opened?.session.abort(cause);
    this.#turns.at(-1)?.abort(); // withdraws questions that are still open
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
      this.#initialized();
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
      case "request": {
        const answering = this.#answer(frame.requestId, frame.request);
        this.#answering.add(answering);
        return void answering.finally(() => this.#answering.delete(answering));
      }
      case "response":
        return this.#channel.settle(frame.requestId, frame.answer);
      case "cancel": // what a host asks for is done by the time it could take it back
      case "keep-alive":
      case "foreign": // told of when it was read
        return;
    }
  }

  #takeUser({ input, uuid, query, priority }: Extract<InputFrame, { type: "user" }>): void {
    if (!this.#prompts.isNew(uuid)) return this.#replay(input, uuid ?? this.#options.newId());
    if (!query) {
      this.#prompts.keep(input);
      this.#notices.tell("queued", { uuid });
      return this.#writeSoon(this.#writeNotRun({ type: "completed", text: "" }, uuid, "completed"));
    }
    if (this.#prompts.waiting.length >= maxWaiting)
      return this.#writeSoon(this.#writeNotRun({ type: "failed", error: tooMany.toJSON(), text: "" }, uuid));
    const mode = priority === "now" ? "now" : priority === "next" && this.#prompts.isBusy ? "steer" : "queue";
    const prompt = this.#prompts.add(input, uuid);
    prompt.entered = this.#enter(prompt, mode);
  }

  /** Hands the prompt to the session, whose events tell what becomes of it. */
  async #enter(prompt: LivePrompt, mode: PromptMode): Promise<void> {
    try {
      if (this.#options.awaitInitialize) await this.#initializing;
      const { session, writer } = await this.#open();
      await this.#introduced;
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
      await this.#writeEnd(outcome, prompt);
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
    if (isOwn && event.type === "prompt.accepted") this.#notices.tell("queued", this.#prompts.accept(event));
    if (isOwn && event.type === "turn.started") this.#beginTurn(event);
    if (isOwn && event.type === "input.added") this.#join(event.promptId);
    if (isOwn && event.type === "turn.ended") this.#turns.shift()?.abort();
    alsoTo?.(event);
    this.#spending.apply(event);
    const text = format.event(event);
    if (text && !this.#isClosing) output.write(text);
    if (isOwn && event.type === "turn.started" && this.#turn?.prompt) this.#replay(this.#turn.prompt.input, this.#turn.id);
    if (output.full) await output.drain();
    if (isOwn && event.type === "turn.ended" && this.#turn?.prompt) await this.#finish(this.#turn.prompt);
    else if (isOwn && event.type === "turn.ended" && this.#turn?.isWoken) await this.#finishWoken(event.outcome);
    if (isOwn && event.type === "prompt.cancelled") await this.#cancelled(event.cause, this.#prompts.of(event.promptId));
  }

  #beginTurn({ turnId = "", tasks }: AgentEvent<"turn.started">): void {
    const prompt = this.#prompts.begin(turnId);
    this.#turn = { id: turnId, prompt, joined: [], isWoken: tasks !== undefined };
    if (prompt) this.#notices.tell("started", prompt);
    this.#notices.changeState("running");
  }

  #join(promptId: string | undefined): void {
    const prompt = promptId === undefined ? undefined : this.#prompts.begin(promptId, this.#turn?.id);
    if (!prompt) return;
    this.#turn?.joined.push(prompt);
    this.#notices.tell("started", prompt);
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
    const joined = this.#turn?.prompt === prompt ? this.#turn.joined : [];
    this.#turn = undefined; // from here on messages wait for a turn of their own
    this.#notices.tell("completed", prompt);
    for (const other of joined) {
      this.#replay(other.input, other.uuid ?? this.#options.newId());
      await this.#writeEnd(written, other);
      this.#notices.tell("completed", other);
      this.#endPrompt(other, written);
    }
    this.#endPrompt(prompt, written);
  }

  /** The result of a turn that nobody asked for. */
  async #finishWoken(ended: Outcome): Promise<void> {
    const format = await this.#format();
    const outcome = this.#shown(format.judge?.(ended) ?? ended);
    await this.#writeEnd(outcome);
    this.#last = outcome;
    this.#turn = undefined;
    if (!this.#prompts.isBusy) this.#notices.changeState("idle");
  }

  /** Nothing more is asked: what works beside the conversation comes to its end, and the host hears of it. */
  async #finishTasks(): Promise<void> {
    const { session, writer } = this.#opened ?? {};
    if (!session || !writer || this.#stopped || session.listBackgroundTasks().length === 0) return;
    await session.finishBackgroundTasks(this.#options.ceilings);
    await writer.caughtUp(); // what was stopped has a warning: every turn has its one result already
  }

  #endPrompt(prompt: LivePrompt, outcome: ShownOutcome): void {
    this.#last = outcome;
    this.#prompts.end(prompt);
    if (!this.#prompts.isBusy) this.#notices.changeState("idle");
  }

  #open(): Promise<Opened> {
    this.#opening ??= this.#openOnce();
    return this.#opening;
  }

  async #session(): Promise<InteractiveSession> {
    return (await this.#open()).session;
  }

  async #openOnce(): Promise<Opened> {
    const { open, output, warn, previewFormat } = this.#options;
    const live = await open(this.#setup, {
      hostTransport: (server) => this.#hostTransport(server),
      hostTools: () => createHostTools(toPerson({ channel: this.#channel, session: () => this.#session(), warn }), previewFormat),
      mirror: (filePath, entries) => this.#send({ type: "transcript_mirror", filePath, entries }),
      ...(this.#isInitialized && {
        elicit: (server, request, signal) => this.#channel.ask(toElicitation(server, request), signal),
      }),
    });
    const { session } = live;
    const writer = new SessionWriter(session, (event) => this.#write(live, event));
    session.on("thinking", (isThinking) => (isThinking ? this.#turns.push(new AbortController()) : undefined));
    output.onClosed(() => session.abort("output-closed"));
    const answerer = live.permissions === "host" ? askHost(this.#channel, live.mcp) : live.permissions;
    if (answerer)
      answerPermissionQuestions(session, {
        answerer: this.#notices.watch(answerer),
        turn: () => this.#turns.at(-1)?.signal ?? AbortSignal.abort(),
        warn,
      });
    if (this.#stopped) session.abort(this.#stopped);
    this.#opened = { ...live, writer };
    return this.#opened;
  }

  #hostTransport(server: string): HostMcpTransport {
    const transport = new HostMcpTransport(server, this.#channel);
    this.#hostServers.set(server, transport);
    return transport;
  }

  async #answer(requestId: string, request: JsonObject & { subtype: string }): Promise<void> {
    this.#served = true;
    if (request.subtype !== "initialize") {
      const reply = await answerControlRequest(request, this.#targets());
      this.#send(toControlResponse(requestId, reply));
      return "response" in reply ? reply.after?.() : undefined;
    }
    const replying = this.#initialize(request);
    this.#introduced = replying.then((reply) => this.#send(toControlResponse(requestId, reply)));
    await this.#introduced;
  }

  #targets(): ControlTargets {
    const { parseServers, resolveModel, settings, rewind } = this.#options;
    const session = (): Promise<InteractiveSession> => this.#session();
    return {
      session,
      mcp: async () => (await this.#open()).mcp,
      interrupt: (cancelQueued) => this.#interrupt(cancelQueued),
      cancel: (uuid) => this.#cancel(uuid),
      parseServers,
      resolveModel: resolveModel ?? (async (name) => name),
      flagSettings: this.#flagSettings,
      hostServerSays: (server, message) => this.#hostServers.get(server)?.receive(message),
      settings,
      describe: () => this.#options.describe(this.#setup),
      spending: this.#spending,
      rewind: (target, dryRun) => rewind(this.#prompts.turnOf(target) ?? target, dryRun, session),
      status: (fields) => this.#send({ type: "system", subtype: "status", status: null, ...fields, ...this.#stamp() }),
    };
  }

  /** A host that asks again has lost the thread: what it asked for at first holds, and it hears what it has yet to answer. */
  async #initialize(request: JsonObject): Promise<ControlReply> {
    const { describe, warn } = this.#options;
    if (this.#opening && !this.#isInitialized) return { error: "The session has begun already" };
    if (!this.#isInitialized) {
      this.#setup = readSetup(request, this.#channel); // before anything is waited for: the first prompt is right behind
      this.#isInitialized = true;
      this.#initialized();
      for (const field of this.#setup.unsupported) warn(`initialize: ${field} is not supported here and has no effect`);
    }
    try {
      const beside = { pending_permission_requests: this.#channel.open("can_use_tool"), pending_user_dialog_requests: [] };
      return { response: await describe(this.#setup), beside };
    } catch (error) {
      return { error: toRuntimeError(error).message };
    }
  }

  /** Ends the running turn; answers the names of messages that still wait, and of those that will not run. */
  async #interrupt(cancelQueued: boolean): Promise<Interrupted> {
    const running = this.#opened?.session.isExecuting() ? undefined : this.#prompts.entering[0]; // it would be, were the session open
    const waiting = this.#prompts.waiting.filter((prompt) => prompt !== running);
    const dropped: LivePrompt[] = [];
    if (cancelQueued) for (const prompt of waiting) if (await this.#takeBack(prompt)) dropped.push(prompt);
    const end = (): void => {
      if (running) this.#drop(running, "abort");
      this.#opened?.session.interrupt();
      this.#turns.at(-1)?.abort(); // withdraws questions that are still open
    };
    return { stillQueued: namesOf(waiting.filter((prompt) => !dropped.includes(prompt))), cancelled: namesOf(dropped), end };
  }

  /** Takes back one message that still waits, also one of an earlier process. */
  async #cancel(uuid: string): Promise<boolean> {
    const prompt = this.#prompts.waiting.find((other) => other.uuid === uuid);
    if (prompt) return await this.#takeBack(prompt);
    const held = this.#opened?.session.inbox.find(({ key }) => key === uuid);
    return held !== undefined && (await this.#session()).cancelPrompt(held.id);
  }

  async #takeBack(prompt: LivePrompt): Promise<boolean> {
    const { session } = this.#opened ?? {};
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
    this.#send(toReplay(this.#redactor.value(input), { session_id: this.#options.sessionId, uuid, timestamp }));
  }

  /** The run does not end before this is written. */
  #writeSoon(writing: Promise<unknown>): void {
    const writes: Promise<void> = writing.then(() => void this.#writing.delete(writes));
    this.#writing.add(writes);
  }

  /** The result of a prompt that had no turn: nothing of another turn is in it. */
  async #writeNotRun(ending: Outcome, uuid: string | undefined, fate?: "completed" | "cancelled"): Promise<void> {
    const { early, output } = this.#options;
    const outcome = this.#shown(ending);
    this.#last = outcome;
    output.write(await this.#endFor(early, outcome, { uuid }));
    if (fate) this.#notices.tell(fate, { uuid });
    await output.drain();
  }

  async #writeEnd(outcome: Outcome, prompt?: LivePrompt): Promise<void> {
    const { output } = this.#options;
    output.write(await this.#endFor(await this.#format(), this.#shown(outcome), prompt));
    await output.drain();
  }

  /** Encoders look at once whose result it is, before they wait for anything. */
  #endFor(format: OutputFormat, outcome: ShownOutcome, prompt: Pick<LivePrompt, "uuid"> | undefined): Promise<string> {
    this.#told = prompt;
    const text = format.end(outcome);
    this.#told = undefined;
    return text;
  }

  #answered(): AnsweredPrompts {
    const turn = this.#turn;
    const prompts = this.#told ? [this.#told] : turn?.prompt ? [turn.prompt, ...turn.joined] : [];
    return { uuids: namesOf(prompts), waiting: this.#prompts.waiting.length };
  }

  async #format(): Promise<OutputFormat> {
    return (await this.#opening?.catch(() => undefined))?.format ?? this.#options.early;
  }

  #nothing(): ShownOutcome {
    const { strict = false } = this.#options;
    return this.#shown(toEmptyOutcome({ stopped: this.#stopped, served: this.#served, strict, garbage: this.#lines.isGarbage }));
  }

  #shown(outcome: Outcome): ShownOutcome {
    const { session } = this.#opened ?? {};
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

function namesOf(prompts: readonly Pick<LivePrompt, "uuid">[]): string[] {
  return prompts.flatMap(({ uuid }) => uuid ?? []);
}
