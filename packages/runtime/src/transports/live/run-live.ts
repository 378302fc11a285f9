import type { JsonObject, JsonValue } from "../../protocol/content.ts";
import { RuntimeError, toRuntimeError } from "../../protocol/errors.ts";
import type { AgentEvent } from "../../protocol/events.ts";
import type { CancelCause, Outcome } from "../../protocol/outcome.ts";
import type { InteractiveSession } from "../../session/interactive-session.ts";
import type { McpServers } from "../../tools/mcp/mcp-servers.ts";
import type { McpServerConfigs } from "../../tools/mcp/server-config.ts";
import { readLines, toLine } from "../../util/jsonl.ts";
import type { LineOutput } from "../headless/line-output.ts";
import type { OutputFormat } from "../headless/output-format.ts";
import { ControlChannel } from "./control-channel.ts";
import { answerControlRequest, type ControlTargets } from "./control-requests.ts";
import { HostMcpTransport } from "./host-mcp-transport.ts";
import { type LiveSetup, readSetup } from "./initialize.ts";
import { type InputFrame, parseInputFrame } from "./input-frame.ts";
import { toControlResponse, toElicitation, toReplay } from "./live-frames.ts";
import { answerPermissionQuestions, askHost, type PermissionAnswerer } from "./permission-questions.ts";
import { type LivePrompt, PromptQueue } from "./prompt-queue.ts";
import { RunningTurn } from "./running-turn.ts";
import { SessionWriter } from "./session-writer.ts";

/** A session as the live driver needs it. */
export type LiveSession = {
  readonly session: InteractiveSession;
  readonly format: OutputFormat;
  readonly mcp: McpServers | undefined;
  /** Who answers permission questions: the host, somebody else, or nobody. */
  readonly permissions: "host" | PermissionAnswerer | undefined;
  /** Is told everything that happens, beside the output. Must not throw. */
  readonly alsoTo?: ((event: AgentEvent) => void) | undefined;
};

export type LiveOptions = {
  readonly input: AsyncIterable<Uint8Array>;
  readonly output: LineOutput;
  readonly sessionId: string;
  readonly newId: () => string;
  /** Encodes a result where there is no session that could say more. */
  readonly early: OutputFormat;
  /** Called once, for the first prompt or the first request that needs a session. */
  readonly open: (setup: LiveSetup, ways: LiveWays) => Promise<LiveSession>;
  /** What `initialize` is answered. */
  readonly describe: (setup: LiveSetup) => Promise<JsonObject>;
  readonly parseServers: (value: JsonValue | undefined) => McpServerConfigs;
  /** Another model of the provider, by its id or by a word for it. */
  readonly resolveModel?: (name: string) => Promise<string>;
  readonly settings: () => JsonObject;
  /** Puts files back to where they were when a turn began. */
  readonly rewind: (turnId: string, dryRun: boolean) => Promise<JsonObject>;
  readonly replayUserMessages: boolean;
  /** What hooks in the host are told to be the transcript; the journal when absent. */
  readonly transcriptPath?: string | undefined;
  /** No prompt is begun before the host has sent `initialize`. */
  readonly awaitInitialize?: boolean;
  readonly warn: (message: string) => void;
};

/** What a session can reach in the host. */
export type LiveWays = {
  readonly hostTransport: (server: string) => HostMcpTransport;
  /** Only with a host that has introduced itself: another one would not know what to answer. */
  readonly elicit?: (server: string, request: JsonObject, signal: AbortSignal) => Promise<JsonObject>;
};

export interface LiveRun {
  /** Ends the running turn and drops what waits; the run then ends in its own way. */
  stop(cause: CancelCause): void;
  /** How the last prompt went. Never rejects. */
  readonly done: Promise<Outcome>;
}

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
  #setup: LiveSetup = { hostServers: [], unsupported: [] };
  #initialized: () => void = () => {};
  readonly #initializing = new Promise<void>((resolve) => {
    this.#initialized = resolve;
  });
  #isInitialized = false;
  #served = false;
  #opening: Promise<Opened> | undefined;
  #opened: Opened | undefined;
  #turn: RunningTurn | undefined;
  #stopped: CancelCause | undefined;
  /** How the last message went that has its result. */
  #last: Outcome | undefined;

  constructor(options: LiveOptions) {
    this.#options = options;
    this.#channel = new ControlChannel({ send: (frame) => this.#send(frame), newId: options.newId });
  }

  async run(): Promise<Outcome> {
    const { awaitInitialize, output } = this.#options;
    const reading = this.#read();
    if (awaitInitialize) await Promise.race([this.#initializing, reading]);
    for (let prompt = await this.#queue.next(); prompt && !this.#stopped; prompt = await this.#queue.next()) {
      this.#last = await this.#runPrompt(prompt);
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

  async #close(outcome: Outcome): Promise<Outcome> {
    const { output } = this.#options;
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
      return { type: "failed", error: toRuntimeError(error).toJSON(), text: "" };
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
        return this.#writeSoon(this.#writeNotRun({ type: "failed", error: frame.error.toJSON(), text: "" }));
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
      return this.#writeSoon(this.#writeNotRun({ type: "completed", text: "" }));
    }
    const waiting = this.#queue.waiting.length + (this.#turn?.joining.length ?? 0);
    if (waiting >= maxWaiting) return this.#writeSoon(this.#writeNotRun({ type: "failed", error: tooMany.toJSON(), text: "" }));
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
  }

  async #runPrompt(prompt: LivePrompt): Promise<Outcome> {
    const turn = new RunningTurn(prompt);
    if (prompt.uuid !== undefined) this.#turnsByUuid.set(prompt.uuid, turn.turnId);
    this.#turn = turn;
    let outcome: Outcome;
    try {
      const { writer } = await this.#open();
      if (turn.signal.aborted) outcome = await this.#cancelled(this.#stopped ?? "abort");
      else outcome = await writer.run({ ...prompt.input, turnId: turn.turnId });
    } catch (error) {
      outcome = { type: "failed", error: toRuntimeError(error).toJSON(), text: "" };
      await this.#writeEnd(outcome);
    }
    this.#turn = undefined; // from here on messages wait for a turn of their own
    turn.end();
    await turn.settled();
    for (const joined of turn.joined) {
      this.#replay(joined, joined.uuid ?? this.#options.newId());
      await this.#writeEnd(outcome);
    }
    return outcome;
  }

  #open(): Promise<Opened> {
    this.#opening ??= this.#openOnce();
    return this.#opening;
  }

  async #openOnce(): Promise<Opened> {
    const { open, output, warn } = this.#options;
    const live = await open(this.#setup, {
      hostTransport: (server) => this.#hostTransport(server),
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
    const answerer = live.permissions === "host" ? askHost(this.#channel) : live.permissions;
    if (answerer) answerPermissionQuestions(session, { answerer, turn: () => this.#turn?.signal ?? AbortSignal.abort(), warn });
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
    const reply =
      request.subtype === "initialize" ? await this.#initialize(request) : await answerControlRequest(request, this.#targets());
    this.#send(toControlResponse(requestId, reply));
  }

  #targets(): ControlTargets {
    const { parseServers, resolveModel, settings, rewind } = this.#options;
    return {
      session: async () => (await this.#open()).session,
      mcp: async () => (await this.#open()).mcp,
      interrupt: (cancelQueued) => this.#interrupt(cancelQueued),
      cancel: (uuid) => this.#cancel(uuid),
      parseServers,
      resolveModel: resolveModel ?? (async (name) => name),
      hostServerSays: (server, message) => this.#hostServers.get(server)?.receive(message),
      settings,
      rewind: (target, dryRun) => rewind(this.#turnsByUuid.get(target) ?? target, dryRun),
      status: (fields) => this.#send({ type: "system", subtype: "status", status: null, ...fields, ...this.#stamp() }),
    };
  }

  async #initialize(request: JsonObject): Promise<Awaited<ReturnType<typeof answerControlRequest>>> {
    if (this.#opening || this.#isInitialized) return { error: "The session has begun already" };
    const { describe, warn, transcriptPath } = this.#options;
    this.#setup = readSetup(request, { channel: this.#channel, transcriptPath }); // before anything is waited for: the first prompt is right behind
    this.#isInitialized = true;
    this.#initialized();
    for (const field of this.#setup.unsupported) warn(`initialize: ${field} is not supported here and has no effect`);
    try {
      const beside = { pending_permission_requests: [], pending_user_dialog_requests: [] };
      return { response: await describe(this.#setup), beside };
    } catch (error) {
      return { error: toRuntimeError(error).message };
    }
  }

  /** Ends the running turn; answers the names of messages that still wait. */
  #interrupt(cancelQueued: boolean): string[] {
    if (cancelQueued) this.#drop([...(this.#turn?.takeBack() ?? []), ...this.#queue.clear()], "abort");
    const waiting = [...(this.#turn?.joining ?? []), ...this.#queue.waiting];
    this.#endTurn("abort");
    return waiting.flatMap(({ uuid }) => uuid ?? []);
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
    for (const _ of prompts) this.#writeSoon(this.#cancelled(cause));
  }

  async #cancelled(cause: CancelCause): Promise<Outcome> {
    const outcome: Outcome = { type: "cancelled", cause, text: "" };
    await this.#writeNotRun(outcome);
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
    this.#send(toReplay(input, { session_id: this.#options.sessionId, uuid, timestamp }));
  }

  /** The run does not end before this is written. */
  #writeSoon(writing: Promise<unknown>): void {
    const writes: Promise<void> = writing.then(() => void this.#writing.delete(writes));
    this.#writing.add(writes);
  }

  /** The result of a prompt that had no turn: nothing of another turn is in it. */
  async #writeNotRun(outcome: Outcome): Promise<void> {
    const { early, output } = this.#options;
    this.#last = outcome;
    output.write(await early.end(outcome));
    await output.drain();
  }

  async #writeEnd(outcome: Outcome): Promise<void> {
    const { output } = this.#options;
    output.write(await (await this.#format()).end(outcome));
    await output.drain();
  }

  async #format(): Promise<OutputFormat> {
    return (await this.#opening?.catch(() => undefined))?.format ?? this.#options.early;
  }

  /** There was no prompt. A host that only asked about the session has what it wanted. */
  #nothing(): Outcome {
    if (this.#stopped) return { type: "cancelled", cause: this.#stopped, text: "" };
    if (this.#served) return { type: "completed", text: "" };
    const error = new RuntimeError("no-input", "The input ended without a prompt", {
      hint: 'Write lines like {"type":"user","content":"…"} to stdin',
    });
    return { type: "failed", error: error.toJSON(), text: "" };
  }

  #stamp(): { session_id: string; uuid: string } {
    return { session_id: this.#options.sessionId, uuid: this.#options.newId() };
  }

  #send(frame: JsonObject): void {
    this.#options.output.write(toLine(frame));
  }
}
