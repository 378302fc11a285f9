import { RuntimeError, type SessionOptions } from "@outrider/runtime";
import { resolveModelWord } from "./model-words.ts";

/** `--agent NAME`: the conversation is one of the agents there are. */
export async function withMainAgent(
  options: SessionOptions,
  name: string,
  warn: (line: string) => void,
): Promise<SessionOptions> {
  const { asAgent, builtinAgents, mergeAgents } = await import("@outrider/runtime/admin");
  const agents = mergeAgents([options.agents ?? [], options.builtinAgents ? builtinAgents : []]);
  const agent = agents.find((candidate) => candidate.name === name);
  if (!agent)
    throw new RuntimeError("config", `--agent: there is no agent ${JSON.stringify(name)}`, {
      hint: `There are: ${agents.map((candidate) => candidate.name).join(", ") || "none; give some with --agents"}`,
    });
  const { model, ...rest } = asAgent(options, agent);
  return model === undefined ? rest : { ...rest, model: await resolveModelWord(model, { ...options, warn }) };
}
