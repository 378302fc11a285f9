import type { JsonObject } from "../../protocol/content.ts";
import { RuntimeError, toRuntimeError } from "../../protocol/errors.ts";
import type { CancelCause, Outcome } from "../../protocol/outcome.ts";
import type { InteractiveSession } from "../../session/interactive-session.ts";
import { toShownOutcome } from "../../session/shown-outcome.ts";
import { readLines, toLine } from "../../util/jsonl.ts";
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
import { type InputFrame, parseInputFrame, toInputError } from "./input-frame.ts";
import { toControlResponse, toElicitation, toReplay } from "./live-frames.ts";
import type { LiveOptions, LiveRun, LiveSession } from "./live-options.ts";
import { answerPermissionQuestions } from "../../hosting/permission-answers.ts";
import { askHost } from "./ask-host.ts";
import { type LivePrompt, PromptQueue } from "./prompt-queue.ts";
import { RunningTurn } from "./running-turn.ts";
import { SessionWriter } from "./session-writer.ts";

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
  readonly #queue = new PromptQueue();
  readonly #hostServers = new Map<string, HostMcpTransport>();
  /** Requests of the host that are not answered yet. */
  readonly #answering = new Set<Promise<void>>();
  readonly #writing = new Set<Promise<void>>();
  /** Turns by the names that hosts gave to messages of theirs. */
  readonly #turnsByUuid = new Map<string, string>();
  readonly #flagSettings = new FlagSettings();
  #setup: LiveSetup = { hostServers: new Map(), unsupported: [] };
  #initialized: () => void = () => {};
  readonly #initializing = new Promise<void>((resolve) => {
    this.#initialized = resolve;
  });
  #isInitialized = false;
  /** The host has its answer to `initialize`: what it asked for comes after it. */
  #introduced: Promise<void> = Promise.resolve();
  #served = false;
  #opening: Promise<Opened> | undefined;
  #opened: Opened | undefined;
  #turn: RunningTurn | undefined;
  #stopped: CancelCause | undefined;
  /** How the last message went that has its result. */
  #last: ShownOutcome | undefined;

  readonly #notices: HostNotices;
  readonly #redactor: Redactor;
  /** Of the message whose result is written right now, when that is not the turn's. */
  #told: Pick<LivePrompt, "uuid"> | undefined;

  constructor(options: LiveOptions) {
    this.#options = options;
    this.#redactor = options.redactor ?? createRedactor();
    const { prompts, notices = { fates: false, states: false } } = options;
    this.#notices = new HostNotices({ ...notices, send: (frame) => this.#send(frame), stamp: () => this.#stamp() });
    if (prompts) prompts.look = () => this.#answered();
    this.#channel = new ControlChannel({ send: (frame) => this.#send(frame), newId: options.newId });
  }

  async run(): Promise<ShownOutcome> {
    const { awaitInitialize, output } = this.#options;
    output.onClosed(() => this.stop("output-closed")); // also while nothing is asked for
    const reading = this.#read();
    if (awaitInitialize) await Promise.race([this.#initializing, reading]);
    for (let prompt = await this.#queue.next(); prompt && !this.#stopped; prompt = await this.#queue.next()) {
      this.#last = await this.#runPrompt(prompt);
      if (this.#queue.waiting.length === 0) this.#notices.changeState("idle");
      if (output.closed) break;
    }
    // Nothing more will be read: a session that was stopped must not wait for a host that keeps its end open.
    const isCut = this.#stopped !== undefined || output.closed;
    const problem = isCut ? undefined : await reading;
    if (!isCut) await Promise.all(this.#answering);
    await Promise.all(this.#writing);
    this.#channel.close();
    const ending = problem ?? (this.#last ? undefined : this.#nothing());
    if (ending && ending.type !== "completed") await this.#writeEnd(ending);
    return await this.#close(ending ?? this.#last ?? this.#nothing());
  }

  async #close(ending: Outcome): Promise<ShownOutcome> {
    const { output } = this.#options;
    const outcome = this.#shown(ending);
    this.#opened?.writer.stop();
    output.write((await (await this.#format()).close?.(outcome)) ?? "");
    await output.drain();
    return outcome;
  }

  stop(cause: CancelCause): void {
    this.#stopped = cause;
    this.#drop([...(this.#turn?.takeBack() ?? []), ...this.#queue.clear()], cause);
    this.#queue.end();
    this.#initialized();
    this.#endTurn(cause);
  }

  /** Answers what is wrong with the input, if anything is. What was read before it is still done. */
  async #read(): Promise<Outcome | undefined> {
    try {
      for await (const line of readLines(this.#options.input)) {
        if (this.#stopped) return undefined;
        this.#take(parseInputFrame(line));
      }
      return undefined;
    } catch (error) {
      return { type: "failed", error: toInputError(error).toJSON(), text: "" };
    } finally {
      this.#queue.end();
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
        return void this.#interrupt(false);
      case "request": {
        const answering = this.#answer(frame.requestId, frame.request);
        this.#answering.add(answering);
        return void answering.finally(() => this.#answering.delete(answering));
      }
      case "response":
        return this.#channel.settle(frame.requestId, frame.answer);
      case "cancel": // what a host asks for is done by the time it could take it back
      case "keep-alive":
        return;
    }
  }

  #takeUser(frame: Extract<InputFrame, { type: "user" }>): void {
    const given: LivePrompt = { input: frame.input, uuid: frame.uuid };
    if (!this.#queue.isNew(frame.uuid)) return this.#replay(given, frame.uuid ?? this.#options.newId());
    if (!frame.query) {
      this.#queue.keep(frame.input);
      this.#notices.tell("queued", given);
      return this.#writeSoon(this.#writeNotRun({ type: "completed", text: "" }, given.uuid, "completed"));
    }
    const waiting = this.#queue.waiting.length + (this.#turn?.joining.length ?? 0);
    if (waiting >= maxWaiting)
      return this.#writeSoon(this.#writeNotRun({ type: "failed", error: tooMany.toJSON(), text: "" }, given.uuid));
    this.#notices.tell("queued", given);
    const prompt = this.#queue.complete(given);
    if (frame.priority === "now") {
      this.#queue.add(prompt, "first");
      return this.#endTurn("abort");
    }
    const turn = frame.priority === "later" ? undefined : this.#turn;
    if (turn) turn.join(prompt, (taken) => this.#join(prompt, turn, taken));
    else this.#queue.add(prompt);
  }

  /** Into the running turn if it asks the model once more, else as a prompt of its own. */
  async #join(prompt: LivePrompt, turn: RunningTurn, taken: AbortSignal): Promise<void> {
    const opened = await this.#open().catch(() => undefined); // then the turn that is to be joined tells why
    const fate = (await opened?.session.steer(prompt.input, taken)) ?? "missed";
    if (taken.aborted) return; // it was taken back, and has its result
    if (fate === "missed") return this.#queue.add(prompt);
    if (prompt.uuid !== undefined) this.#turnsByUuid.set(prompt.uuid, turn.turnId);
    turn.joined.push(prompt);
    this.#notices.tell("started", prompt);
  }

  async #runPrompt(prompt: LivePrompt): Promise<ShownOutcome> {
    const turn = new RunningTurn(prompt);
    if (prompt.uuid !== undefined) this.#turnsByUuid.set(prompt.uuid, turn.turnId);
    this.#turn = turn;
    this.#notices.tell("started", prompt);
    let outcome: ShownOutcome;
    try {
      const { writer } = await this.#open();
      await this.#introduced;
      this.#notices.changeState("running");
      if (turn.signal.aborted) outcome = await this.#cancelled(this.#stopped ?? "abort", prompt);
      else outcome = await writer.run(prompt.input, turn.turnId);
    } catch (error) {
      outcome = this.#shown({ type: "failed", error: toRuntimeError(error).toJSON(), text: "" });
      await this.#writeEnd(outcome);
    }
    this.#turn = undefined; // from here on messages wait for a turn of their own
    turn.end();
    this.#notices.tell("completed", prompt);
    await turn.settled();
    for (const joined of turn.joined) {
      this.#replay(joined, joined.uuid ?? this.#options.newId());
      await this.#writeEnd(outcome, joined);
      this.#notices.tell("completed", joined);
    }
    return outcome;
  }

  #open(): Promise<Opened> {
    this.#opening ??= this.#openOnce();
    return this.#opening;
  }

  async #session(): Promise<InteractiveSession> {
    return (await this.#open()).session;
  }

  async #openOnce(): Promise<Opened> {
    const { open, output, warn } = this.#options;
    const live = await open(this.#setup, {
      hostTransport: (server) => this.#hostTransport(server),
      hostTools: () => createHostTools(toPerson({ channel: this.#channel, session: () => this.#session(), warn })),
      mirror: (filePath, entries) => this.#send({ type: "transcript_mirror", filePath, entries }),
      ...(this.#isInitialized && {
        elicit: (server, request, signal) => this.#channel.ask(toElicitation(server, request), signal),
      }),
    });
    const { session, format, alsoTo } = live;
    const writer = new SessionWriter({
      session,
      format,
      output,
      alsoTo,
      onTurnStarted: () => this.#turn && this.#replay(this.#turn.prompt, this.#turn.turnId),
      onTurnEnded: () => this.#turn?.end(),
    });
    const answerer = live.permissions === "host" ? askHost(this.#channel, live.mcp) : live.permissions;
    if (answerer)
      answerPermissionQuestions(session, {
        answerer: this.#notices.watch(answerer),
        turn: () => this.#turn?.signal ?? AbortSignal.abort(),
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
    if (request.subtype !== "initialize")
      return this.#send(toControlResponse(requestId, await answerControlRequest(request, this.#targets())));
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
      rewind: (target, dryRun) => rewind(this.#turnsByUuid.get(target) ?? target, dryRun, session),
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
  #interrupt(cancelQueued: boolean): Interrupted {
    const dropped = cancelQueued ? [...(this.#turn?.takeBack() ?? []), ...this.#queue.clear()] : [];
    this.#drop(dropped, "abort");
    const waiting = [...(this.#turn?.joining ?? []), ...this.#queue.waiting];
    this.#endTurn("abort");
    return { stillQueued: namesOf(waiting), cancelled: namesOf(dropped) };
  }

  /** Takes back one message that still waits. */
  #cancel(uuid: string): boolean {
    const [joining] = this.#turn?.takeBack(uuid) ?? [];
    const found = joining ?? this.#queue.remove(uuid);
    if (found) this.#drop([found], "abort");
    return found !== undefined;
  }

  /** Prompts that will not run: each still gets its result. */
  #drop(prompts: readonly LivePrompt[], cause: CancelCause): void {
    for (const prompt of prompts) this.#writeSoon(this.#cancelled(cause, prompt));
  }

  async #cancelled(cause: CancelCause, { uuid }: LivePrompt): Promise<ShownOutcome> {
    const outcome = this.#shown({ type: "cancelled", cause, text: "" });
    await this.#writeNotRun(outcome, uuid, "cancelled");
    return outcome;
  }

  /** A turn whose session is still being opened ends when it would begin. */
  #endTurn(cause: CancelCause): void {
    if (!this.#turn) return void (this.#stopped && this.#opened?.session.abort(cause));
    this.#opened?.session.abort(cause);
    this.#turn.end(); // withdraws questions that are still open
  }

  #replay({ input }: LivePrompt, uuid: string): void {
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
    const prompts = this.#told ? [this.#told] : turn ? [turn.prompt, ...turn.joined] : [];
    const waiting = this.#queue.waiting.length + (turn?.joining.length ?? 0);
    return { uuids: namesOf(prompts), waiting };
  }

  async #format(): Promise<OutputFormat> {
    return (await this.#opening?.catch(() => undefined))?.format ?? this.#options.early;
  }

  #nothing(): ShownOutcome {
    return this.#shown(toEmptyOutcome({ stopped: this.#stopped, served: this.#served }));
  }

  #shown(outcome: Outcome): ShownOutcome {
    return toShownOutcome(outcome, this.#redactor);
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
