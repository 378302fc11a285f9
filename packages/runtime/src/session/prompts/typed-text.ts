import { toSendableInput } from "../../model/sendable/sendable-content.ts";
import type { UserMessage } from "../../protocol/content.ts";
import type { EventBody } from "../../protocol/events.ts";
import { readReferences } from "../references/prompt-references.ts";
import type { UsedSkill } from "../skills/use-skill.ts";
import { type Course, placeOf, type PromptTurn, recordOf, toSkillTurn } from "./prompt-turn.ts";
import type { Called } from "./session-commands.ts";

/** Before the turn begins: what it begins with is the text of the skill or of a server, or it is an agent's. */
export async function useText(
  turn: PromptTurn,
  called: Exclude<Called, { type: "command" }>,
  keeper: Course["keeper"],
): Promise<UsedSkill> {
  const { session, emitFrom, controller } = turn;
  const { deps, agents } = session;
  const { signal } = controller;
  if (called.type === "server-prompt") {
    const { useServerPrompt } = await import("../skills/use-server-prompt.ts");
    return await useServerPrompt(called, { prompts: turn.commands.serverPrompts, deps, signal });
  }
  if (called.type === "builtin-prompt") {
    const [{ commandMarks }, { promptText }] = await Promise.all([
      import("../skills/use-skill.ts"),
      import("../../commands/builtin/prompt-texts.ts"),
    ]);
    const { name, args } = called;
    const content = [commandMarks(name, args), { type: "text" as const, text: promptText(name, args) }];
    return { type: "prompt", message: { role: "user", content, isVerbatim: true }, deps, end: () => {} };
  }
  const tasks = session.subagents.inTurn({ ...placeOf(turn), ...recordOf(turn), keeper, deps, emitFrom });
  if (called.type === "agent") {
    const { useAgent } = await import("../skills/use-agent.ts");
    const group = async (taskIds: readonly string[], label: string): Promise<string> => {
      const { groups } = await turn.work.load();
      return groups.createGroup({ parentSessionId: turn.sessionId, waitPolicy: "detached", taskIds, label }).id;
    };
    return useAgent(called, { tasks, agents, signal, newId: deps.newId, group });
  }
  const { useTypedSkill } = await import("../skills/use-skill.ts");
  return await useTypedSkill(called, toSkillTurn(turn, { keeper, tasks, deps }));
}

/** What a prompt names with `@`, and the files that come with every prompt. */
export async function useReferences(
  turn: PromptTurn,
  message: UserMessage,
  keeper: Course["keeper"],
): Promise<EventBody<"input.added"> | undefined> {
  const { session, emitFrom, transcript } = turn;
  const { deps, references: standing } = session;
  const { messages } = transcript;
  const added = await readReferences(message, { ...placeOf(turn), emit: emitFrom(), keeper, deps, standing, messages });
  return added && { ...added, input: await toSendableInput(added.input) };
}
