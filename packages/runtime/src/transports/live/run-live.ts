import type { JsonObject, JsonValue } from "../../protocol/content.ts";
import { RuntimeError, toRuntimeError } from "../../protocol/errors.ts";
import type { CancelCause, Outcome } from "../../protocol/outcome.ts";
import type { InteractiveSession } from "../../session/interactive-session.ts";
import type { McpServers } from "../../tools/mcp/mcp-servers.ts";
import type { McpServerConfigs } from "../../tools/mcp/server-config.ts";
import { readLines, toLine } from "../../util/jsonl.ts";
import type { LineOutput } from "../headless/line-output.ts";
import type { OutputFormat } from "../headless/output-format.ts";
import { runPrompt } from "../headless/run-prompt.ts";
import { ControlChannel } from "./control-channel.ts";
import { answerControlRequest } from "./control-requests.ts";
import { HostMcpTransport } from "./host-mcp-transport.ts";
import { type LiveSetup, readSetup } from "./initialize.ts";
import { type InputFrame, parseInputFrame } from "./input-frame.ts";
import { forwardPermissionQuestions } from "./permission-questions.ts";
import { type LivePrompt, PromptQueue } from "./prompt-queue.ts";

/** A session as the live driver needs it. */
export type LiveSession = {
  readonly session: InteractiveSession;
  readonly format: OutputFormat;
  readonly mcp: McpServers | undefined;
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
  readonly settings: () => JsonObject;
  readonly rewind: (target: string, dryRun: boolean) => Promise<JsonObject>;
  /** Permission questions go to the host. */
  readonly asksHost: boolean;
  readonly replayUserMessages: boolean;
  readonly warn: (message: string) => void;
};

/** What a session can reach in the host. */
export type LiveWays = {
  readonly hostTransport: (server: string) => HostMcpTransport;
  readonly elicit: (server: string, request: JsonObject, signal: AbortSignal) => Promise<JsonObject>;
};

export interface LiveRun {
  /** Ends the running turn and drops what waits; the run then ends in its own way. */
  stop(cause: CancelCause): void;
  /** The last outcome; undefined when there was no prompt at all. Never rejects. */
  readonly done: Promise<Outcome>;
}

/** Prompts, answers and requests as lines, each acting when it arrives; every prompt gets exactly one result. */
export function runLive(options: LiveOptions): LiveRun {
  const driver = new LiveDriver(options);
  return { stop: (cause) => driver.stop(cause), done: driver.run() };
}

class LiveDriver {
  readonly #options: LiveOptions;
  readonly #channel: ControlChannel;
  readonly #queue = new PromptQueue();
  readonly #hostServers = new Map<string, HostMcpTransport>();
  #setup: LiveSetup = { hostServers: [] };
  #opening: Promise<LiveSession> | undefined;
  #turn: AbortController | undefined;
  /** Messages that joined the running turn, each of which still gets a result. */
  #joined: LivePrompt[] = [];
  #joining: Promise<void>[] = [];
  #stopped: CancelCause | undefined;

  constructor(options: LiveOptions) {
    this.#options = options;
    this.#channel = new ControlChannel({ send: (frame) => this.#send(frame), newId: options.newId });
  }

  async run(): Promise<Outcome> {
    const reading = this.#read();
    let last: Outcome | undefined;
    for (let prompt = await this.#queue.next(); prompt && !this.#stopped; prompt = await this.#queue.next()) {
      last = await this.#runPrompt(prompt);
      if (this.#options.output.closed) break;
    }
    // Nothing more will be read: a session that was stopped must not wait for a host that keeps its end open.
    const problem = this.#stopped || this.#options.output.closed ? undefined : await reading;
    this.#channel.close();
    const ending = problem ?? (last ? undefined : this.#nothing());
    if (ending) await this.#writeEnd(ending);
    return await this.#close(ending ?? last ?? this.#nothing());
  }

  async #close(outcome: Outcome): Promise<Outcome> {
    const { output } = this.#options;
    output.write((await (await this.#format()).close?.(outcome)) ?? "");
    await output.drain();
    return outcome;
  }

  stop(cause: CancelCause): void {
    this.#stopped = cause;
    this.#queue.clear();
    this.#queue.end();
    void this.#opening?.then(({ session }) => session.abort(cause)).catch(() => {}); // what could not be opened need not be stopped
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
      case "interrupt":
        return void this.#interrupt(false);
      case "request":
        return void this.#answer(frame.requestId, frame.request);
      case "response":
        return this.#channel.settle(frame.requestId, frame.answer);
      case "cancel":
      case "keep-alive":
        return;
    }
  }

  #takeUser(frame: Extract<InputFrame, { type: "user" }>): void {
    const prompt: LivePrompt = { input: frame.input, uuid: frame.uuid };
    if (!this.#queue.isNew(frame.uuid)) return this.#replay(prompt);
    if (!frame.query) {
      this.#queue.keep(frame.input);
      return void this.#writeEnd({ type: "completed", text: "" });
    }
    if (frame.urgent) {
      this.#queue.add(prompt, "first");
      if (this.#turn) this.#interrupt(false);
      return;
    }
    if (this.#turn) this.#joining.push(this.#join(prompt));
    else this.#queue.add(prompt);
  }

  /** Into the running turn if it asks the model once more, else as a prompt of its own. */
  async #join(prompt: LivePrompt): Promise<void> {
    const { session } = await this.#open();
    if ((await session.steer(prompt.input)) === "joined") this.#joined.push(prompt);
    else this.#queue.add(prompt);
  }

  async #runPrompt(prompt: LivePrompt): Promise<Outcome> {
    const turn = new AbortController();
    this.#turn = turn;
    let outcome: Outcome;
    try {
      const { session, format } = await this.#open();
      this.#replay(prompt);
      outcome = await runPrompt(session, prompt.input, { format, output: this.#options.output });
    } catch (error) {
      outcome = { type: "failed", error: toRuntimeError(error).toJSON(), text: "" };
      await this.#writeEnd(outcome);
    }
    this.#turn = undefined;
    turn.abort(); // withdraws questions that are still open
    await Promise.all(this.#joining.splice(0));
    for (const joined of this.#joined.splice(0)) {
      this.#replay(joined);
      await this.#writeEnd(outcome);
    }
    return outcome;
  }

  #open(): Promise<LiveSession> {
    this.#opening ??= this.#openOnce();
    return this.#opening;
  }

  async #openOnce(): Promise<LiveSession> {
    const { asksHost, open, warn } = this.#options;
    const live = await open(this.#setup, {
      hostTransport: (server) => this.#hostTransport(server),
      elicit: (server, request, signal) =>
        this.#channel.ask({ subtype: "elicitation", mcp_server_name: server, ...request }, signal),
    });
    const turn = (): AbortSignal => this.#turn?.signal ?? AbortSignal.abort();
    if (asksHost) forwardPermissionQuestions(live.session, { channel: this.#channel, turn, warn });
    if (this.#stopped) live.session.abort(this.#stopped);
    return live;
  }

  #hostTransport(server: string): HostMcpTransport {
    const transport = new HostMcpTransport(server, this.#channel);
    this.#hostServers.set(server, transport);
    return transport;
  }

  async #answer(requestId: string, request: JsonObject & { subtype: string }): Promise<void> {
    if (request.subtype === "initialize") return await this.#initialize(requestId, request);
    const reply = await answerControlRequest(request, {
      session: async () => (await this.#open()).session,
      mcp: async () => (await this.#open()).mcp,
      interrupt: (cancelQueued) => this.#interrupt(cancelQueued),
      parseServers: this.#options.parseServers,
      hostServerSays: (server, message) => this.#hostServers.get(server)?.receive(message),
      settings: this.#options.settings,
      rewind: this.#options.rewind,
      status: (fields) => this.#send({ type: "system", subtype: "status", status: null, ...fields, ...this.#stamp() }),
    });
    this.#reply(requestId, reply);
  }

  async #initialize(requestId: string, request: JsonObject): Promise<void> {
    if (this.#opening) return this.#reply(requestId, { error: "The session has begun already" });
    this.#setup = readSetup(request, this.#channel); // before anything is waited for: the first prompt is right behind
    try {
      this.#reply(requestId, { response: await this.#options.describe(this.#setup) });
    } catch (error) {
      this.#reply(requestId, { error: toRuntimeError(error).message });
    }
  }

  #reply(requestId: string, reply: { response: JsonObject } | { error: string; code?: string }): void {
    const body: JsonObject =
      "response" in reply
        ? { subtype: "success", request_id: requestId, response: reply.response }
        : {
            subtype: "error",
            request_id: requestId,
            error: reply.error,
            ...(reply.code !== undefined && { error_code: reply.code }),
          };
    this.#send({ type: "control_response", response: body });
  }

  #interrupt(cancelQueued: boolean): string[] {
    if (cancelQueued) this.#queue.clear();
    if (this.#turn) void this.#opening?.then(({ session }) => session.abort()).catch(() => {}); // what could not be opened does not run
    return this.#queue.uuids;
  }

  #replay({ input, uuid }: LivePrompt): void {
    if (!this.#options.replayUserMessages) return;
    this.#send({
      type: "user",
      message: { role: "user", content: input.content as unknown as JsonValue }, // parts of text and images are JSON
      parent_tool_use_id: null,
      isReplay: true,
      ...this.#stamp(),
      ...(uuid !== undefined && { uuid }),
    });
  }

  async #writeEnd(outcome: Outcome): Promise<void> {
    const { output } = this.#options;
    output.write(await (await this.#format()).end(outcome));
    await output.drain();
  }

  async #format(): Promise<OutputFormat> {
    return (await this.#opening?.catch(() => undefined))?.format ?? this.#options.early;
  }

  #nothing(): Outcome {
    if (this.#stopped) return { type: "cancelled", cause: this.#stopped, text: "" };
    const error = new RuntimeError("no-input", "The input ended without a prompt", {
      hint: 'Write lines like {"type":"user","content":"…"} to stdin',
    });
    return { type: "failed", error: error.toJSON(), text: "" };
  }

  #stamp(): JsonObject {
    return { session_id: this.#options.sessionId, uuid: this.#options.newId() };
  }

  #send(frame: JsonObject): void {
    this.#options.output.write(toLine(frame));
  }
}
