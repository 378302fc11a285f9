import type { Admission } from "../../engine/admit-prompt.ts";
import type { SessionDeps, TurnDeps } from "../../engine/deps.ts";
import { runTurn, type TurnReport } from "../../engine/turn.ts";
import { TurnAborted } from "../../engine/turn-aborted.ts";
import type { HookFacts, Hooks, ResumedFacts } from "../../hooks/hook.ts";
import type { InstructionFile } from "../../context/instructions.ts";
import { kindOf } from "../../context/nested-state.ts";
import type { Transcript } from "../../journal/transcript.ts";
import { toSendableInput } from "../../model/sendable/sendable-content.ts";
import { noUsage, type UserMessage } from "../../protocol/content.ts";
import type { AgentEvents, Emit, EventBody } from "../../protocol/events.ts";
import { oneAtATime } from "../../util/one-at-a-time.ts";
import type { OpenSession } from "../create-session.ts";
import type { EventHub } from "../events/event-hub.ts";
import { least } from "../../util/least.ts";
import type { Tasks } from "../../tasks/task.ts";
import type { SkillTurn, UsedSkill } from "../skills/use-skill.ts";
import type { BackgroundWork } from "../tasks/background-work.ts";
import type { TurnPlace } from "../subagents/subagents.ts";
import type { Called, CommandCall, SessionCommands } from "./session-commands.ts";
import { defined } from "../../util/defined.ts";

export type Prompt = {
  message: UserMessage;
  /** Its words. */
  readonly input: string;
  /** What the user typed, for hooks. */
  readonly rawInput: string;
  /** What people are shown instead. */
  displayInput: string | undefined;
  /** What its hooks said when it was accepted. */
  admission?: AgentEvents["prompt.accepted"]["admission"];
  /** How often the model may be asked in its turn. */
  readonly maxTurns?: number | undefined;
  /** Nobody asked: it tells the model that these tasks have ended. */
  readonly tasks?: readonly string[] | undefined;
};

/** How long SessionEnd hooks may take while somebody waits to go on. */
const clearGraceMs = 2000;

/** Whether SessionStart hooks have let the session begin, so that SessionEnd hooks will hear of its end. */
export class Beginning {
  begun = false;
  isSetUp = false;
  source: "startup" | "resume" | "fork" | "clear" = "startup";
  /** What a conversation that goes on holds. */
  resumed: ResumedFacts | undefined;
  /** Two prompts that come together must not both begin it. */
  readonly inOrder: ReturnType<typeof oneAtATime> = oneAtATime();

  /** What was said is forgotten: hooks hear of an end, and with the next prompt of a start. */
  async again(hooks: Hooks, emit: Emit): Promise<void> {
    const { tellEnd } = await import("./end-hooks.ts");
    if (this.begun) await tellEnd(hooks, { reason: "clear", limitMs: clearGraceMs, emit });
    this.begun = false;
    this.source = "clear";
    this.resumed = undefined;
  }
}

export type PromptTurn = {
  readonly session: OpenSession;
  readonly prompt: Prompt;
  readonly turnId: string;
  readonly controller: AbortController;
  readonly transcript: Transcript;
  readonly hub: Pick<EventHub, "flush" | "congestion">;
  /** For the conversation, or for one of its subagents. */
  readonly emitFrom: (taskId?: string) => Emit;
  /** What has come in since the turn began. */
  readonly takeInput: TurnDeps["takeInput"];
  readonly work: BackgroundWork;
  /** What the record says up to now. */
  readonly readEvents: TurnPlace["readEvents"];
  readonly beginning: Beginning;
  readonly sessionId: string;
  readonly commands: SessionCommands;
  readonly runCommand: (call: CommandCall, emit: Emit) => Promise<TurnReport>;
};

export const nothingDone: TurnReport = {
  outcome: { type: "completed", text: "" },
  usage: noUsage,
  modelCalls: 0,
  modelDurationMs: 0,
};

/** A turn from the hooks that see its prompt to its last tool: all of it but the end on record. Rejects only when nothing can be stored. */
export async function runPromptTurn(turn: PromptTurn): Promise<TurnReport> {
  const { session, prompt, turnId, hub, emitFrom } = turn;
  const emit = emitFrom();
  session.deps.provider.ledger.begin();
  if (!prompt.tasks) session.skills.forgetRules();
  const called = await withoutText(turn.commands.called(prompt.message));
  const command = called?.type === "command" ? called : undefined;
  const keeper = command ? undefined : session.checkpoints?.forTurn({ turnId, prompt: prompt.displayInput ?? prompt.input });
  const admission = command ? undefined : await admit({ ...turn, signal: turn.controller.signal, promptId: turnId }, emit);
  session.deps.hooks?.begin(turnId);
  const expansion = called?.type === "skill" && !admission?.outcome ? await expand(turn, called, emit) : undefined;
  const refusal = admission?.outcome ?? earlierRefusal(prompt) ?? expansion?.outcome;
  const skill =
    called && called.type !== "command" && !refusal
      ? await (await import("./typed-text.ts")).useText(turn, called, keeper)
      : undefined;
  const message = skill?.type === "prompt" ? behindOthers(prompt.message, skill.message) : prompt.message;
  const displayInput = admission?.blocked ? undefined : (prompt.displayInput ?? (skill && prompt.input));
  const commandName = command?.command.name ?? (skill?.type === "aside" ? prompt.input.split(/\s/, 1)[0]?.slice(1) : undefined);
  emit({
    type: "turn.started",
    input: admission?.blocked ? admission.input : await toSendableInput(message),
    ...defined({ displayInput, command: commandName }),
    ...(prompt.tasks && { tasks: [...prompt.tasks] }),
  });
  if (prompt.tasks) turn.work.told(prompt.tasks);
  else turn.work.restartCount();
  const waiting = command ? [] : [...session.compaction.takeNotes(), ...turn.work.takeInput()];
  for (const input of waiting) emit({ type: "input.added", ...input });
  if (prompt.message.content.some((part) => part.type === "image" && part.url !== undefined)) {
    const { unseenMedia } = await import("../../model/unseen-media.ts");
    for (const message of unseenMedia(prompt.message.content, session.deps.provider.name))
      emit({ type: "warning.raised", message });
  }
  for (const note of [...(admission?.notes ?? []), ...(expansion?.notes ?? []), ...(prompt.admission?.notes ?? [])])
    emit({ type: "input.added", input: note, origin: "hook" });
  await hub.flush();
  if (skill?.type === "prompt") skill.end();
  if (!command && !skill && !refusal && !prompt.tasks) await refer(turn, { message, keeper });
  const report = await answer(turn, { keeper, command, skill, refusal });
  const lapse = await keeper?.end();
  if (lapse !== undefined) emit({ type: "warning.raised", message: lapse });
  const worktree = await session.worktree?.inspect();
  if (worktree) emit({ type: "worktree.inspected", ...worktree });
  await hub.flush();
  return report;
}

async function withoutText(called: Called | undefined): Promise<Called | undefined> {
  if (called?.type !== "command" || !called.mayBeText) return called;
  const { isKnownElsewhere } = await import("../../commands/builtin/terminal-commands.ts");
  return isKnownElsewhere(called.command.name) ? called : undefined;
}

/** The text that the last block called for, behind what else was said. */
function behindOthers({ content }: UserMessage, called: UserMessage): UserMessage {
  return content.length === 1 ? called : { ...called, content: [...content.slice(0, -1), ...called.content] };
}

export type Course = {
  readonly keeper: ReturnType<NonNullable<OpenSession["checkpoints"]>["forTurn"]> | undefined;
  readonly command: CommandCall | undefined;
  readonly skill: UsedSkill | undefined;
  readonly refusal: Admission["outcome"];
};

async function answer(turn: PromptTurn, { keeper, command, skill, refusal }: Course): Promise<TurnReport> {
  const { session, controller, transcript, emitFrom, takeInput } = turn;
  const { signal } = controller;
  const emit = emitFrom();
  if (command) return await turn.runCommand(command, emit);
  if (refusal) return { ...nothingDone, outcome: refusal };
  if (skill?.type === "aside") return await skill.run();
  const place = placeOf(turn);
  const deps = skill?.deps ?? session.deps;
  const tasks: Tasks = {
    ...session.subagents.inTurn({ ...place, ...recordOf(turn), keeper, deps, emitFrom }),
    background: () => turn.work.load(),
  };
  const own = {
    ...place,
    emit,
    maxTurns: least(deps.maxTurns, turn.prompt.maxTurns),
    fit: session.compaction.fit({ emit, signal, transcript }),
    keeper,
    takeInput: () => [...session.compaction.takeNotes(), ...(takeInput?.() ?? [])],
    referTo: (message: UserMessage) => referencesOf(turn, { message, keeper }),
    tasks,
    skills: session.skillUses?.(toSkillTurn(turn, { keeper, tasks, deps })),
  };
  return await runTurn(deps, own, transcript.messages);
}

type Naming = { readonly message: UserMessage; readonly keeper: Course["keeper"] };

/** Puts before the model what the prompt names with `@`. */
async function refer(turn: PromptTurn, naming: Naming): Promise<void> {
  const added = await referencesOf(turn, naming);
  if (!added) return;
  turn.emitFrom()(added);
  await turn.hub.flush();
}

async function referencesOf(turn: PromptTurn, { message, keeper }: Naming): Promise<EventBody<"input.added"> | undefined> {
  const names = message.content.some((part) => part.type === "text" && part.text.includes("@"));
  if (!names && turn.session.references.active.length === 0) return undefined;
  return await (await import("./typed-text.ts")).useReferences(turn, message, keeper);
}

type OnRecord = Pick<TurnPlace, "besideKeeper" | "agents" | "readEvents" | "registry">;

/** What subagents need that go on after the turn, or with what they were told in an earlier one. */
export function recordOf({ session, work, readEvents }: PromptTurn): OnRecord {
  return {
    besideKeeper: () => session.checkpoints?.beside(),
    agents: session.agents,
    readEvents,
    registry: () => work.load(),
  };
}

export function placeOf({ controller, hub }: PromptTurn): Omit<TurnPlace, "deps" | "emitFrom" | "keeper" | keyof OnRecord> {
  return {
    signal: controller.signal,
    flush: () => hub.flush(),
    congestion: () => hub.congestion(),
    interrupt: () => controller.abort(new TurnAborted("abort")),
  };
}

export function toSkillTurn(
  turn: PromptTurn,
  { keeper, tasks, deps }: { keeper: Course["keeper"]; tasks: Tasks; deps: SessionDeps },
): SkillTurn {
  const { session, sessionId, emitFrom } = turn;
  const { agents, skills, knownModels } = session;
  const isShown = (text: string): boolean =>
    turn.transcript.messages.some(({ content }) => content.some((part) => part.type === "text" && part.text === text));
  const addHooks = session.hooks.add;
  return { ...placeOf(turn), emit: emitFrom(), keeper, tasks, deps, agents, skills, knownModels, sessionId, isShown, addHooks };
}

/** What hooks said to a prompt when it was accepted still holds. */
function earlierRefusal({ admission }: Prompt): Admission["outcome"] {
  return admission?.refusal === undefined ? undefined : { type: "stopped", limit: "hook", text: "", reason: admission.refusal };
}

type Admitting = Pick<PromptTurn, "session" | "prompt" | "beginning"> & {
  readonly signal: AbortSignal;
  readonly promptId: string;
};

/** What hooks have to say to a prompt before it is taken into the record; undefined without hooks, and for subagents. */
export async function admit(
  { session, prompt, signal, beginning, promptId }: Admitting,
  emit: Emit,
): Promise<Admission | undefined> {
  const { hooks, agent, request } = session.deps;
  if (!hooks || agent) return undefined;
  const { admitPrompt } = await import("../../engine/admit-prompt.ts");
  const ask = async (): Promise<Admission> => {
    const { input, rawInput } = prompt;
    const { instructionFiles: files } = session;
    const setup = beginning.isSetUp ? undefined : session.setup;
    const { source, resumed } = beginning;
    const start = { source, resumed, model: request.model, setup, instructions: files.map(toLoaded) };
    beginning.isSetUp = true;
    const opened = beginning.begun ? undefined : start;
    const isAdmitted = prompt.admission !== undefined;
    const admission = await admitPrompt({ hooks, signal, emit }, { input, rawInput, isAdmitted, promptId, opened });
    beginning.begun = admission.opened;
    return admission;
  };
  return beginning.begun ? await ask() : await beginning.inOrder(ask);
}

/** What hooks have to say to the command that was typed; undefined without hooks, and for subagents. */
async function expand(
  { session, prompt, controller, turnId }: PromptTurn,
  { skill, args }: Called & { type: "skill" },
  emit: Emit,
): Promise<Pick<Admission, "notes" | "outcome"> | undefined> {
  const { hooks, agent } = session.deps;
  if (!hooks || agent) return undefined;
  const { admitExpansion } = await import("../../engine/admit-prompt.ts");
  const scope = skill.scope === "user" ? "user" : "project";
  const facts = { name: skill.name, args, scope, typed: prompt.rawInput } as const;
  return await admitExpansion({ hooks, signal: controller.signal, emit }, facts, turnId);
}

function toLoaded(file: InstructionFile): HookFacts["InstructionsLoaded"] {
  return { path: file.path, kind: kindOf(file), importedBy: file.importedBy };
}
