import { isLooserMode, type PermissionMode } from "../../protocol/permission.ts";
import type { CommandEffect, CommandHostContext, CommandResult } from "../../commands/command.ts";
import { RuntimeError } from "../../protocol/errors.ts";
import type { AgentEvent, Emit, EventType } from "../../protocol/events.ts";
import { nearest } from "../../util/nearest.ts";
import type { SessionSkills } from "../skills/session-skills.ts";
import type { OpenSession } from "../create-session.ts";
import type { InteractiveSession } from "../interactive-session.ts";
import type { SessionOptions } from "../session-options.ts";

export type CommandHost = Omit<CommandHostContext, "signal" | "compact" | "invokedBy">;

export type HostGround = {
  readonly session: InteractiveSession<unknown>;
  readonly options: SessionOptions;
  /** What is on record of these types, also of earlier processes. */
  readonly stored: <T extends EventType>(...types: readonly T[]) => Promise<readonly AgentEvent<T>[]>;
  readonly contextUse: CommandHostContext["contextUse"];
  readonly clear: () => Promise<void>;
  /** A command takes the place of a turn: it is between two of them. */
  readonly reloadPlugins: () => Promise<void>;
  readonly open: () => Promise<OpenSession>;
  readonly emit: Emit;
};

/** The mode that a command chose last, and the one it came from: what a command has tightened, it may loosen again. */
const chosen = new WeakMap<InteractiveSession<unknown>, { readonly mode: PermissionMode; readonly from: PermissionMode }>();

/** The session as commands see it. */
export function createCommandHost(ground: HostGround): CommandHost {
  const { session, options } = ground;
  const mayChange = options.promptsFrom === "strangers" ? (paths: readonly string[]) => checkUnasked(session, paths) : undefined;
  return {
    sessionId: session.id,
    cwd: options.cwd,
    async getSessionInfo() {
      const { facts } = await session.controls();
      const { provider, id: model } = facts.model;
      return {
        sessionId: session.id,
        name: session.getName(),
        cwd: facts.cwd,
        provider,
        model,
        messageCount: session.getMessages().length,
      };
    },
    contextUse: () => ground.contextUse(),
    getContextState: () => session.getContextState(),
    getAutoCompactThreshold: () => session.getAutoCompactThreshold(),
    setAutoCompactThreshold: (threshold) => session.setAutoCompactThreshold(threshold),
    async getPermissions() {
      const { mode, allow } = (await session.controls()).policy;
      return { mode, allow: allow.map(({ text }) => text) };
    },
    async setPermissionMode(mode) {
      if (options.commandModes && !options.commandModes.includes(mode))
        throw new RuntimeError("usage", `The mode ${mode} cannot be chosen by a command here`);
      const controls = await session.controls();
      const now = controls.policy.mode;
      const before = chosen.get(session);
      const from = before?.mode === now ? before.from : now;
      if (options.promptsFrom !== "owner" && isLooserMode(mode, from))
        throw new RuntimeError("usage", `The mode ${mode} is looser than ${from}, and a prompt cannot choose it`, {
          hint: "Choose it when the session is opened, or with the host's own request",
        });
      controls.setPermissionMode(mode);
      await controls.store();
      chosen.set(session, { mode, from });
    },
    async listModels() {
      const { catalogOf, listModels } = await import("../../model/pricing.ts");
      const models = listModels(await catalogOf(options.catalogOverride), options.provider.name).map(({ id }) => id);
      return { models, isKnown: models.length > 0 };
    },
    async describeCost() {
      const { addCall, catalogOf, toPricedCall } = await import("../../model/pricing.ts");
      const { emptyLedger } = await import("../../model/ledger.ts");
      const catalog = await catalogOf(options.catalogOverride);
      const { total, models } = (await ground.stored("message.ended", "side-call.ended")).reduce(
        (ledger, call) => addCall(ledger, toPricedCall(catalog, call)),
        emptyLedger,
      );
      const cost = total.costUsd === null ? `at least ${inUsd(total.knownUsd)} (a price is not known)` : inUsd(total.costUsd);
      const lines = models.map(({ served, calls, usage }) => {
        return `${served.provider}/${served.id}: ${calls} requests, ${usage.inputTokens} input, ${usage.outputTokens} output tokens`;
      });
      return [`Cost: ${cost}`, ...lines].join("\n");
    },
    async getStatusLine() {
      const { statusLine } = await import("./status-line.ts");
      return await statusLine({ session, options, stored: ground.stored, references: () => this.references() });
    },
    async validateSession() {
      const { formatCommandSessionReplayValidationReport: format, validateCommandSessionReplayLog: validate } = await import(
        "../past/replay-validation.ts"
      );
      if (!options.sessionStore) return { ok: false, text: "The session is not stored" };
      const report = await validate({ store: options.sessionStore, sessionId: session.id });
      return { ok: report.validation.ok, text: format(report) };
    },
    checkpoints: {
      list: () => session.listEditCheckpoints(),
      inspect: (id) => session.inspectEditCheckpoint(id),
      restore: (id, how) => session.restoreEditCheckpoint(id, { ...how, mayChange }),
      rollback: (id, how) => session.rollbackEditCheckpoint(id, { ...how, mayChange }),
    },
    tasks: {
      list: () => session.listBackgroundTasks(),
      async read(id, offset) {
        const { lines, nextCursor } = await session.readBackgroundTaskLog(id, { offset });
        return { lines, ...(nextCursor && { nextOffset: nextCursor.offset }) };
      },
      async cancel(id) {
        if (!(await session.stopTask(id))) throw new RuntimeError("not-found", `No task ${id} is at work`);
      },
      close: (id) => session.closeBackgroundTask(id),
      send: (id, text) => session.sendBackgroundTask(id, text),
      waitGroup: async (id) => session.summarizeBackgroundJobGroup(await session.waitBackgroundJobGroup(id)).lines,
    },
    async listAgents() {
      return (await ground.open()).agents.map(({ name, description }) => ({ name, description }));
    },
    async resolveModel(word) {
      const { knownModels, facts } = await ground.open();
      return (await knownModels(facts.model.provider, word)).resolve(word) ?? word;
    },
    async executeMemory(args, by) {
      const root = options.memory?.root;
      if (root === undefined) return { success: false, message: "This session has no project memory" };
      const [{ runMemory }, { MemoryPolicyEvaluator }, { filesOfTopic }] = await Promise.all([
        import("../../commands/builtin/memory.ts"),
        import("../../context/memory/memory-policy.ts"),
        import("../../context/memory/project-memory.ts"),
      ]);
      return await runMemory(args, {
        root,
        by,
        policy: new MemoryPolicyEvaluator(options.redactor),
        mayChange: mayChange && ((topic) => mayChange(filesOfTopic(root, topic))),
        note: (note) => ground.emit({ type: "memory.noted", ...note }),
        used: async () => {
          const notes = (await ground.stored("memory.noted")).filter(({ action }) => action === "used");
          return [...new Set(notes.map(({ topic }) => topic))];
        },
      });
    },
    async references() {
      const [{ workspace, references, deps }, { createContextFiles }] = await Promise.all([
        ground.open(),
        import("../references/context-files.ts"),
      ]);
      return createContextFiles({ workspace, references, emit: ground.emit, policy: deps.policy });
    },
    listCommands: () => session.listCommands(),
    listSkills: () => session.listSkills().map(({ name, description }) => ({ name, description })),
    executeSkillCommandByName: (name, args, how) => session.executeSkillCommandByName(name, args, how),
    getCommandHostAdapters: () => options.commandAdapters ?? {},
  };
}

/** A command does not know who typed it: where that may be a stranger, it changes the files that rules and the mode let anybody change unasked. */
async function checkUnasked(session: InteractiveSession<unknown>, paths: readonly string[]): Promise<void> {
  const { judgeEdits } = await import("../../permissions/judge-edits.ts");
  const { effect, reason } = await judgeEdits((await session.controls()).policy, paths);
  if (effect === "allow") return;
  throw new RuntimeError(
    "usage",
    `${reason}, which a command cannot ask for: it does not know who typed it. The command outrider does this on the server`,
  );
}

/** What the session does of what commands want done. */
export async function applyToSession(
  effect: CommandEffect,
  { session, clear, reloadPlugins }: Pick<HostGround, "session" | "clear" | "reloadPlugins">,
): Promise<string | undefined> {
  switch (effect.type) {
    case "model-change-requested": {
      const controls = await session.controls();
      const model = controls.setModel(effect.modelId);
      await controls.store();
      return model;
    }
    case "session-renamed":
      await session.setName(effect.name);
      return effect.name;
    case "conversation-history-cleared":
      await clear();
      return "cleared";
    case "plugin-registry-reload-requested":
      await reloadPlugins();
      return "reloaded";
    case "session-execution-started":
      return "started";
    default:
      return undefined;
  }
}

export type SkillWish = {
  readonly name: string;
  readonly args: string;
  readonly invocationSource: "user" | "model";
  readonly skills: SessionSkills;
};

/** For a program that has a name and no turn: a person's use is a prompt of its own, a model's is the text. */
export async function executeSkill(session: InteractiveSession<unknown>, wish: SkillWish): Promise<CommandResult> {
  const { name, args, invocationSource, skills } = wish;
  const skill = skills.get(name);
  if (!skill) {
    const guess = nearest(
      name,
      skills.all.map((known) => known.name),
    );
    return { success: false, message: `Unknown skill: ${name}.${guess === undefined ? "" : ` Did you mean ${guess}?`}` };
  }
  if (invocationSource === "model") {
    if (!skills.mayOffer(skill)) return { success: false, message: `Skill is not model-invocable: ${name}` };
    const { parseSkill } = await import("../../commands/skills/parse-skill.ts");
    const { readSkill } = await import("../../commands/skills/find-skills.ts");
    const { substituteVariables } = await import("../../commands/skills/substitute.ts");
    const { body } = await parseSkill(readSkill(skill), skill);
    const text = substituteVariables(body, { args, argumentNames: skill.argumentNames });
    return { success: true, message: text, data: { skillName: name, prompt: text } };
  }
  if (!skill.userInvocable) return { success: false, message: `Skill is not user-invocable: ${name}` };
  void session.submit(`/${name}${args === "" ? "" : ` ${args}`}`).catch(() => {}); // listeners and readers are told
  const effects = [{ type: "session-execution-started" }] as const;
  return { success: true, message: `/${name} is at work`, data: { sessionExecution: true }, effects };
}

function inUsd(usd: number): string {
  return `$${usd.toFixed(4)}`;
}
