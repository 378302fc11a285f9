import type { CommandSummary } from "../../commands/command.ts";
import { standingEvents } from "../../journal/standing-events.ts";
import type { Answer } from "../../permissions/gate.ts";
import type { Effort } from "../../model/model.ts";
import type { UserMessage } from "../../protocol/content.ts";
import { RuntimeError } from "../../protocol/errors.ts";
import type { AgentEvent } from "../../protocol/events.ts";
import type { Outcome } from "../../protocol/outcome.ts";
import type { PermissionMode } from "../../protocol/permission.ts";
import type { SessionControls } from "../../session/session-controls.ts";
import type { PermissionRequest } from "../../session/session-view.ts";
import { untilAborted } from "../../util/until-aborted.ts";
import { SessionWriter } from "../session-writer.ts";
import type { AcpClient, PlannedSession, StartedSession } from "./acp-host.ts";
import { clientEditor, type EditorCapabilities } from "./client-editor.ts";
import { permissionOptions, toAnswer } from "./permission-question.ts";
import { toUserMessage } from "./prompt-input.ts";
import { toPromptResponse } from "./prompt-result.ts";
import { configOptions, parseEffort, parseMode, type SettingsState, sessionModes } from "./session-settings.ts";
import { SessionUpdates, type UpdatesOptions } from "./session-updates.ts";
import type { AvailableCommand, ConfigOption, ContentBlock, PromptResponse, SessionModes, SessionUpdate } from "./wire.ts";

export type AcpSessionOptions = {
  readonly client: AcpClient;
  readonly shows: UpdatesOptions["shows"];
  readonly can: EditorCapabilities;
  readonly warn: (line: string) => void;
};

/** How many prompts may wait for the one that runs. */
const maxWaiting = 8;

/** One session as a client sees it: one prompt after the other; whatever happens meanwhile is told in order, before the prompt is answered. */
export class AcpSession {
  readonly id: string;
  readonly #options: AcpSessionOptions;
  readonly #updates: SessionUpdates;
  #plan: PlannedSession;
  #mode: PermissionMode;
  #effort: Effort | undefined;
  #starting: Promise<StartedSession> | undefined;
  #started: StartedSession | undefined;
  readonly #prompts = new Set<AbortController>();
  #answered: Promise<unknown> = Promise.resolve();
  #writer: SessionWriter | undefined;

  constructor(plan: PlannedSession, options: AcpSessionOptions) {
    this.id = plan.sessionId;
    this.#plan = plan;
    this.#mode = plan.permissionMode;
    this.#effort = plan.effort;
    this.#options = options;
    this.#updates = new SessionUpdates({ cwd: plan.cwd, price: (call) => this.#plan.price(call), shows: options.shows });
  }

  get busy(): boolean {
    return this.#prompts.size > 0;
  }

  get state(): { modes: SessionModes; configOptions: ConfigOption[] } {
    const state = this.#settings;
    return { modes: sessionModes(state), configOptions: configOptions(state) };
  }

  /** Shows a stored session again; resolves when the client has been told all of it. */
  async replay(events: readonly AgentEvent[]): Promise<void> {
    const standing = new Set(standingEvents(events)); // the rest has been paid for as well, but was left behind
    for (const event of events) {
      const updates = this.#updates.encodeStored(event);
      for (const update of standing.has(event) ? updates : []) await this.#options.client.update(this.id, update);
    }
    await this.#tell(this.#updates.endStored());
  }

  /** What the stored session has cost already counts on, without being shown. */
  countStored(events: readonly AgentEvent[]): void {
    for (const event of events) this.#updates.encodeStored(event);
    this.#updates.endStored();
  }

  async announceCommands(): Promise<void> {
    const commands = this.#started?.listCommands() ?? this.#plan.commands;
    await this.#tell([{ sessionUpdate: "available_commands_update", availableCommands: commands.map(toAvailable) }]);
  }

  /** Answers how the prompt went, those before it first. Rejects where the protocol has no word for it. */
  async prompt(blocks: readonly ContentBlock[], signal: AbortSignal): Promise<PromptResponse> {
    if (this.#prompts.size > maxWaiting)
      throw new RuntimeError("busy", `${maxWaiting} prompts of this session wait already`, {
        hint: "Wait for their answers, or send session/cancel first",
        retryable: true,
      });
    const message = toUserMessage(blocks);
    const turn = new AbortController();
    this.#prompts.add(turn);
    const cancel = (): void => this.#cancel(turn);
    signal.addEventListener("abort", cancel, { once: true });
    const before = this.#answered;
    const answered = untilAborted(before, turn.signal).then(
      () => this.#runPrompt(message, turn.signal),
      (): PromptResponse => ({ stopReason: "cancelled" }), // nothing of it was begun
    );
    this.#answered = Promise.allSettled([before, answered]); // whoever prompts hears it
    try {
      return await answered;
    } finally {
      signal.removeEventListener("abort", cancel);
      turn.abort(); // questions that are still open have lost their sense
      this.#prompts.delete(turn);
    }
  }

  /** All prompts are answered as cancelled when everything they began has stopped. */
  cancel(): void {
    for (const turn of this.#prompts) turn.abort();
    this.#started?.abort("abort");
  }

  #cancel(turn: AbortController): void {
    const isRunning = turn === this.#turn;
    turn.abort();
    if (isRunning) this.#started?.abort("abort");
  }

  /** That of the prompt that runs; the others wait for it. */
  get #turn(): AbortController | undefined {
    const [first] = this.#prompts;
    return first;
  }

  async setMode(value: string): Promise<void> {
    const mode = parseMode(value, this.#settings);
    const session = await this.#starting?.catch(() => undefined);
    if (session) await change(session, (controls) => controls.setPermissionMode(mode));
    this.#mode = mode;
    await this.#tellSettings();
  }

  async setOption(id: string, value: unknown): Promise<ConfigOption[]> {
    if (typeof value !== "string" || value === "") throw new RuntimeError("usage", `${id} takes one of its values, as text`);
    if (id === "mode") await this.setMode(value);
    else if (id === "model") await this.#setModel(value);
    else if (id === "effort") await this.#setEffort(value);
    else throw new RuntimeError("usage", `There is no option ${JSON.stringify(id)}. There are: mode, model, effort`);
    return this.state.configOptions;
  }

  /** Ends the prompt, everything that runs and the connections to servers. */
  async close(reason: "abort" | "signal" = "abort"): Promise<void> {
    for (const turn of this.#prompts) turn.abort();
    this.#started?.abort(reason);
    await this.#answered;
    if (!this.#started) await this.#plan.close(); // a server that is still being waited for is not waited for any more
    await (await this.#starting?.catch(() => undefined))?.shutdown();
    await this.#plan.close();
  }

  get #settings(): SettingsState {
    const { mayBypass, model, models } = this.#plan;
    return { mode: this.#mode, mayBypass, model, models, effort: this.#effort };
  }

  async #runPrompt(message: UserMessage, signal: AbortSignal): Promise<PromptResponse> {
    const session = await this.#startedOr(signal);
    const writer = this.#writer;
    if (!session || !writer || signal.aborted) return { stopReason: "cancelled" };
    this.#updates.takeUsage();
    const outcome = session.shown(await writer.run(message));
    if (outcome.type === "stopped" && outcome.limit === "hook")
      await this.#say(`Stopped by a hook: ${outcome.reason ?? "it gave no reason"}`);
    return toPromptResponse(cancelledIfAborted(outcome, signal), this.#updates.takeUsage());
  }

  /** Undefined when the prompt was cancelled first; the next one finds the session started. */
  async #startedOr(signal: AbortSignal): Promise<StartedSession | undefined> {
    this.#starting ??= this.#start();
    try {
      return await untilAborted(this.#starting, signal);
    } catch (error) {
      if (signal.aborted) return undefined;
      this.#starting = undefined; // what was in the way may be gone the next time
      throw error;
    }
  }

  async #start(): Promise<StartedSession> {
    const session = await this.#plan.start(this.#mode, this.#editor());
    this.#writer = new SessionWriter(session, (event) => this.#tellEvent(session, event));
    try {
      await session.open();
    } catch (error) {
      await session.shutdown();
      throw error;
    }
    this.#started = session;
    await this.#storeChanges(session);
    if (session.listCommands().length > 0) await this.announceCommands();
    return session;
  }

  /** What the client has chosen before there was a session holds when it is loaded again. */
  async #storeChanges(session: StartedSession): Promise<void> {
    const { permissionMode, chosenModel, effort } = this.#plan;
    const controls = await session.controls();
    if (this.#mode !== permissionMode) controls.setPermissionMode(this.#mode);
    if (chosenModel !== undefined) controls.setModel(chosenModel);
    if (this.#effort !== effort) controls.setEffort(this.#effort);
  }

  #editor(): ReturnType<typeof clientEditor> {
    const { client, can } = this.#options;
    const { folders = [this.#plan.cwd], withheld = [] } = this.#plan;
    const onTerminal = (callId: string, terminalId: string): void =>
      void this.#tell(this.#updates.showTerminal(callId, terminalId));
    return clientEditor({ client, can, folders, withheld, sessionId: this.id, onTerminal });
  }

  /** The session waits for a client that is slow to read. One that has left is told nothing, and keeps nothing waiting. */
  async #tellEvent(session: StartedSession, event: AgentEvent): Promise<void> {
    await this.#tell(this.#updates.encode(event));
    if (event.type === "permission.requested" && this.#plan.answersPermissions) this.#ask(session, session.openPermission(event));
    if (event.type === "tool.ended" && event.details?.moreSkills) await this.announceCommands();
    if (event.type === "session.changed" && event.permissionMode) await this.#followMode(session);
    if (event.type === "warning.raised") this.#options.warn(event.message);
  }

  /** Never waited for here: while the question is open, everything else goes on being told and heard. */
  #ask(session: StartedSession, request: PermissionRequest | undefined): void {
    if (!request) return; // the turn has ended in the meantime
    const options = permissionOptions(request);
    const question = { sessionId: this.id, toolCall: this.#updates.describe(request), options };
    const signal = session.signalBeside(request) ?? this.#turn?.signal ?? AbortSignal.abort();
    const answer = (given: Answer): void => {
      try {
        session.answerPermission(request.requestId, given);
      } catch {
        // The turn has ended in the meantime: nobody waits for the answer.
      }
    };
    this.#options.client.askPermission(question, signal).then(
      (response) => answer(toAnswer(response, options)),
      (error: unknown) =>
        answer({
          decision: "deny",
          message: `The permission question was not answered: ${error instanceof Error ? error.message : String(error)}`,
        }),
    );
  }

  /** As it is now, which may not be as it was at the event. */
  async #followMode(session: StartedSession): Promise<void> {
    const { permissionMode } = (await session.controls()).facts;
    if (permissionMode === this.#mode) return;
    this.#mode = permissionMode;
    await this.#tellSettings();
  }

  async #setModel(value: string): Promise<void> {
    const plan = await this.#plan.withModel(value);
    if (this.#starting) {
      if (plan.provider !== this.#plan.provider)
        throw new RuntimeError("usage", `This session asks ${this.#plan.provider}, and cannot go on with ${plan.provider}`, {
          hint: "Choose the model before the first prompt, or begin a new session",
        });
      await change(await this.#starting, (controls) => controls.setModel(plan.model));
    }
    this.#plan = plan;
    await this.#tellSettings();
  }

  async #setEffort(value: string): Promise<void> {
    this.#effort = parseEffort(value);
    const session = await this.#starting?.catch(() => undefined);
    if (session) (await session.controls()).setEffort(this.#effort);
    await this.#tellSettings();
  }

  async #say(text: string): Promise<void> {
    await this.#tell([{ sessionUpdate: "agent_message_chunk", content: { type: "text", text } }]);
  }

  async #tellSettings(): Promise<void> {
    const { modes, configOptions } = this.state;
    await this.#tell([
      { sessionUpdate: "current_mode_update", currentModeId: modes.currentModeId },
      { sessionUpdate: "config_option_update", configOptions },
    ]);
  }

  async #tell(updates: readonly SessionUpdate[]): Promise<void> {
    try {
      for (const update of updates) await this.#options.client.update(this.id, update);
    } catch {
      // Nobody is there any more; the end of the connection ends the session.
    }
  }
}

/** Done when it is on record. */
async function change(session: StartedSession, make: (controls: SessionControls) => unknown): Promise<void> {
  const controls = await session.controls();
  make(controls);
  await controls.store();
}

function toAvailable({ name, description, argumentHint }: CommandSummary): AvailableCommand {
  return { name, description, ...(argumentHint !== undefined && { input: { hint: argumentHint } }) };
}

/** A turn that had its last word when it was cancelled is cancelled all the same: that is what the client is waiting for. */
function cancelledIfAborted(outcome: Outcome, signal: AbortSignal): Outcome {
  return signal.aborted ? { type: "cancelled", cause: "abort", text: outcome.text } : outcome;
}
