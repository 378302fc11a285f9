import type { CommandResult, CommandSummary } from "../../commands/command.ts";
import type { Skill } from "../../commands/skills/skill.ts";
import { Transcript } from "../../journal/transcript.ts";
import { RuntimeError } from "../../protocol/errors.ts";
import type { OpenSession } from "../create-session.ts";
import type { EventHub } from "../events/event-hub.ts";
import type { InteractiveSession } from "../interactive-session.ts";
import type { CommandGround } from "../prompts/command-turn.ts";
import type { SessionTurns } from "../prompts/session-turns.ts";
import type { SessionOptions } from "../session-options.ts";
import { CommandQuestions } from "./command-questions.ts";

export type TypedGround = {
  readonly session: InteractiveSession<unknown>;
  /** As they are now: opening the session completes them. */
  readonly options: () => SessionOptions;
  readonly hub: EventHub;
  readonly turns: SessionTurns;
  readonly transcript: Transcript;
  readonly newId: () => string;
  readonly answersInteractions: boolean;
  readonly open: () => Promise<OpenSession>;
};

/** What somebody may type that begins with a slash: the commands and skills of a session, for programs that run or list them. */
export class TypedCommands {
  readonly #ground: TypedGround;
  readonly #questions: CommandQuestions;

  constructor(ground: TypedGround) {
    this.#ground = ground;
    this.#questions = new CommandQuestions(ground.answersInteractions);
  }

  async execute(name: string, args: string): Promise<CommandResult | null> {
    const { session, turns } = this.#ground;
    if (session.isClosed()) return turns.commands.get(name) ? { success: false, message: "The session is shut down" } : null;
    return await turns.executeCommand(name, args);
  }

  answer(interactionId: string, value?: string): boolean {
    return this.#questions.answer(interactionId, value);
  }

  async executeSkill(
    name: string,
    args: string,
    { invocationSource }: { readonly invocationSource: "user" | "model" },
  ): Promise<CommandResult> {
    const { session, turns } = this.#ground;
    const { executeSkill } = await import("./command-host.ts");
    return await executeSkill(session, { name, args, invocationSource, skills: turns.skills });
  }

  list(): CommandSummary[] {
    return this.#ground.turns.commands.list();
  }

  skills(): Skill[] {
    return this.#ground.turns.skills.typed.filter(({ kind, hasHead }) => kind === "skill" && hasHead);
  }

  async reload(): Promise<Skill[]> {
    const { session, hub, turns } = this.#ground;
    await session.open();
    for (const message of await turns.skills.reload()) hub.emit({ type: "warning.raised", message });
    return this.skills();
  }

  /** Between two turns: at once where none runs, else after the one that does. `isUrgent` refuses to wait. */
  async reloadPlugins(more: readonly { readonly path: string }[] = [], isUrgent = false): Promise<void> {
    const { turns } = this.#ground;
    await this.#ground.open();
    for (;;) {
      try {
        return await turns.inbox.instead(() => this.#swapPlugins(more));
      } catch (error) {
        if (isUrgent || !(error instanceof RuntimeError) || error.code !== "busy") throw error;
        await turns.inbox.idle();
      }
    }
  }

  async #swapPlugins(more: readonly { readonly path: string }[] = []): Promise<void> {
    const { options, hub, open } = this.#ground;
    const session = await open();
    const reloaded = await options().loadedPlugins?.reload?.(more);
    if (!reloaded) throw new RuntimeError("usage", "There are no plugins here that could be loaded again");
    const { swapPlugins } = await import("../plugins/swap-plugins.ts");
    await swapPlugins(session, reloaded, { options: options(), emit: (event) => hub.emit(event) });
    await hub.flush();
  }

  /** Put together when a command runs. */
  async ground(): Promise<CommandGround> {
    const { session, options, hub, turns, newId, open } = this.#ground;
    const { openCommandGround } = await import("./command-ground.ts");
    return openCommandGround({
      ...{ session, options: options(), hub, newId, questions: this.#questions, open },
      emit: (event) => hub.emit(event),
      contextUse: () => turns.contextUse(),
      clear: () => this.#clear(),
      reloadPlugins: () => this.#swapPlugins(),
    });
  }

  /** Nothing said so far is a part of the conversation any more; it stays on record. */
  async #clear(): Promise<void> {
    const { session, hub, transcript, turns, open } = this.#ground;
    const { hooks } = (await open()).deps;
    if (hooks) await turns.beginning.again(hooks, (event) => hub.emit(event));
    hub.emit({ type: "session.rewound", to: 1 });
    transcript.restore(new Transcript().state);
    hub.emit({ type: "context.updated", usedTokens: 0, maxTokens: session.getContextState().maxTokens });
    await hub.flush();
  }
}
