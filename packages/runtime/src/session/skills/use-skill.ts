import type { Skill } from "../../commands/skills/skill.ts";
import type { SessionDeps } from "../../engine/deps.ts";
import { toOutcome, type TurnReport } from "../../engine/turn.ts";
import { noUsage, type TextPart, type UserMessage } from "../../protocol/content.ts";
import { RuntimeError } from "../../protocol/errors.ts";
import type { AgentDefinition } from "../../tasks/agent-definition.ts";
import { chooseModel, type KnownModels } from "../../tasks/choose-model.ts";
import type { Tasks } from "../../tasks/task.ts";
import { defined } from "../../util/defined.ts";
import { type RenderedSkill, renderSkill, type SkillCall, type SkillGround, withRules } from "./render-skill.ts";

export type SkillTurn = SkillGround & {
  readonly tasks: Tasks;
  readonly agents: readonly AgentDefinition[];
  readonly knownModels: (provider: string, wanted: string | undefined) => Promise<KnownModels>;
};

/** What becomes of a skill that somebody has typed. */
export type UsedSkill =
  /** It joins the conversation, and its turn goes by other rules. */
  | { readonly type: "prompt"; readonly message: UserMessage; readonly deps: SessionDeps; readonly end: () => void }
  /** It is no part of the conversation: a subagent's work, or a refusal. */
  | { readonly type: "aside"; readonly run: () => Promise<TurnReport> };

/** Nothing but a failing store makes it throw. */
export async function useTypedSkill(call: Omit<SkillCall, "invocation">, turn: SkillTurn): Promise<UsedSkill> {
  const { skill, args } = call;
  try {
    if (!skill.userInvocable) throw new RuntimeError("usage", `Skill is not user-invocable: ${skill.name}`);
    const rendered = await renderSkill({ ...call, invocation: "user-slash" }, turn);
    for (const message of rendered.notes) turn.emit({ type: "warning.raised", message });
    if (rendered.skill.forks) return { type: "aside", run: async () => (await forkSkill(rendered, turn)).report };
    const deps = await depsFor(rendered, turn);
    return { type: "prompt", message: toMessage(rendered, args), deps, end: () => rendered.tell("completed") };
  } catch (error) {
    if (error instanceof RuntimeError && error.code === "storage-failed") throw error;
    const report = { ...nothing, outcome: toOutcome(error, turn.signal, "") };
    return { type: "aside", run: async () => report };
  }
}

const nothing = { usage: { ...noUsage }, modelCalls: 0, modelDurationMs: 0 };

/** The marks say what was typed; then the files it names, and its text. */
function toMessage(rendered: RenderedSkill, args: string): UserMessage {
  const texts = [...rendered.files, instructionsOf(rendered)].map((text): TextPart => ({ type: "text", text }));
  return { role: "user", content: [commandMarks(rendered.skill.name, args), ...texts], isVerbatim: true };
}

/** What was typed, in the words that programs look for. */
export function commandMarks(name: string, args: string): TextPart {
  const marks = [`<command-message>${name}</command-message>`, `<command-name>/${name}</command-name>`];
  if (args !== "") marks.push(`<command-args>${args}</command-args>`);
  return { type: "text", text: `${marks.join("\n")}\n` };
}

/** A skill has a folder with more in it; a command is its text. */
export function instructionsOf({ skill, text }: Pick<RenderedSkill, "skill" | "text">): string {
  return skill.kind === "skill" ? `Base directory for this skill: ${skill.folder}\n\n${text}` : text;
}

async function depsFor({ skill, trusted }: RenderedSkill, turn: SkillTurn): Promise<SessionDeps> {
  const deps = withRules(turn.deps, trusted ? skill : { ...skill, allowedTools: [] });
  if (!trusted) return deps;
  const model = await modelFor(skill, turn);
  const { effort } = skill;
  if (model === undefined && effort === undefined) return deps;
  return { ...deps, request: { ...deps.request, ...defined({ model, effort }) } };
}

async function modelFor({ model: wanted }: Skill, { deps, knownModels, emit }: SkillTurn): Promise<string | undefined> {
  if (wanted === undefined || wanted === "inherit") return undefined;
  const { provider, request } = deps;
  const known = await knownModels(provider.name, wanted);
  const { model, warning } = chooseModel(wanted, { provider: provider.name, id: request.model }, known);
  if (warning !== undefined) emit({ type: "warning.raised", message: warning });
  const { budget } = provider.ledger;
  const usage = { ...noUsage };
  if (model !== request.model && budget?.price({ model: { provider: provider.name, id: model }, usage }, model) === null)
    throw new RuntimeError(
      "usage",
      `The price of ${provider.name}/${model} is not known, so the session's budget cannot be kept`,
    );
  return model;
}

/** How long an answer may be that nobody asked for at length. */
const forkSuffix = "Do exactly this and nothing beside it, and answer with your findings in at most 500 words.";

/** What came of it, and which subagent did it, if one began. */
export type Fork = { readonly report: TurnReport; readonly taskId?: string };

/** The work of a subagent, started by the call of the model where there is one. */
export async function forkSkill(
  rendered: RenderedSkill,
  { tasks, agents, signal }: SkillTurn,
  callId = `forked-command-${rendered.skill.name}`,
): Promise<Fork> {
  const { skill, trusted, files } = rendered;
  const fail = (error: unknown): Fork => {
    const outcome = toOutcome(error, signal, "");
    rendered.tell("failed", outcome.type === "failed" ? outcome.error.message : outcome.type);
    return { report: { ...nothing, outcome } };
  };
  const name = skill.agent ?? "general-purpose";
  const agent = agents.find((one) => one.name === name);
  if (!agent)
    return fail(
      new RuntimeError(
        "config",
        `${skill.path} names the agent ${name}, and there are only ${agents.map((one) => one.name).join(", ")}`,
      ),
    );
  try {
    const task = tasks.start({
      callId,
      agent: narrowed(agent, trusted ? skill : { ...skill, effort: undefined }),
      description: `/${skill.name}`,
      prompt: [...files, instructionsOf(rendered), forkSuffix].join("\n\n"),
      ...(trusted && defined({ model: skill.model })),
    });
    const { outcome } = await task.ended;
    rendered.tell(
      outcome.type === "completed" ? "completed" : "failed",
      outcome.type === "failed" ? outcome.error.message : undefined,
    );
    return { report: { ...nothing, outcome }, taskId: task.taskId };
  } catch (error) {
    return fail(error);
  }
}

/** Of the agent's tools only those the skill names. */
function narrowed(agent: AgentDefinition, { allowedTools, disallowedTools, effort }: Skill): AgentDefinition {
  const wanted = [...new Set(allowedTools.map((rule) => rule.replace(/\(.*$/s, "")))];
  const tools = wanted.length === 0 ? agent.tools : wanted.filter((tool) => agent.tools?.includes(tool) ?? true);
  return {
    ...agent,
    ...defined({ tools, effort: (effort === "xhigh" || effort === "max" ? "high" : effort) ?? agent.effort }), // agents know three
    ...(disallowedTools.length > 0 && { disallowedTools: [...(agent.disallowedTools ?? []), ...disallowedTools] }),
  };
}
