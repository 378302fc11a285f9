import { promptReasons } from "../context/prompt-reasons.ts";
import type { PartName } from "../context/system-prompt.ts";
import { estimateText } from "../context/token-estimate.ts";
import type { Provider, ToolDefinition } from "../model/model.ts";
import { RuntimeError } from "../protocol/errors.ts";
import type { PermissionMode } from "../protocol/permission.ts";
import { openSession } from "./open-session.ts";
import { type Planning, planSession, type SessionPlan } from "./plan-session.ts";
import type { SessionRequest } from "./session-request.ts";

export type DescribedPrompt = {
  readonly model: string;
  readonly permissionMode: PermissionMode;
  /** To the letter what a request would begin with. */
  readonly system: string;
  /** What it is made of, in its order. Tokens are an estimate: only a model's own tokenizer can count. */
  readonly parts: readonly { readonly name: PartName; readonly tokens: number; readonly reason: string; readonly text: string }[];
  /** As they are offered, with their tokens. */
  readonly tools: readonly (ToolDefinition & { readonly tokens: number })[];
  /** Of the system prompt and the tools. */
  readonly tokens: number;
};

/** What a model would get in a new session for this request, before the first prompt. Nobody is asked, and nothing is stored. */
export async function describePrompt(request: SessionRequest, planning: Planning): Promise<DescribedPrompt> {
  const plan = await planAlone({ ...request, recording: undefined, session: undefined, persistent: false }, planning);
  const { session, close } = await openSession(plan, { warn: planning.warn });
  try {
    const controls = await session.controls();
    const { system, parts, tools } = controls.prompt;
    const { model, permissionMode } = controls.facts;
    const shownTools = tools.map(({ name, description, inputSchema }) => {
      const tool = { name, description, inputSchema };
      return { ...tool, tokens: estimateText(JSON.stringify(tool)) };
    });
    return {
      model: model.id,
      permissionMode,
      system,
      parts: parts.map(({ name, text }) => ({ name, tokens: estimateText(text), reason: promptReasons[name], text })),
      tools: shownTools,
      tokens: estimateText(system) + shownTools.reduce((sum, tool) => sum + tool.tokens, 0),
    };
  } finally {
    await close();
  }
}

/** Without anybody who could be asked, the prompt is still the same but for the model's name. */
async function planAlone(request: SessionRequest, planning: Planning): Promise<SessionPlan> {
  try {
    return await planSession(request, planning);
  } catch (error) {
    if (!(error instanceof RuntimeError) || request.provider !== undefined) throw error;
    return await planSession(
      { ...request, provider: nobody(request.model), model: undefined, fallbackModel: undefined },
      planning,
    );
  }
}

function nobody(model = "none"): Provider {
  return {
    name: "none",
    model,
    contextWindow: 0,
    nativeSchema: false,
    stream() {
      throw new Error("Nobody is asked");
    },
  };
}
