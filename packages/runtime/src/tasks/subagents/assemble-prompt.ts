export type AssembleSubagentPromptOptions = {
  /** What the definition of the agent says. */
  readonly agentBody: string;
  readonly claudeMd?: string | undefined;
  readonly agentsMd?: string | undefined;
  /** It does one piece of work that was split off: its answer is short. */
  readonly isForkWorker?: boolean | undefined;
};

const forSubagents =
  "You were started by another agent. It sees nothing of what you do but your last message, and nobody can answer questions while you work. End with a concise report in plain text: what you did or found, with the paths and facts the other one needs, and what is left.";
const forForkWorkers =
  "You do one piece of work that was split off from a conversation. Do it directly and answer with its outcome in at most 500 words, in plain text.";

/** The system prompt of a subagent: who it is, what counts in the project, and how its answer is used. */
export function assembleSubagentPrompt({ agentBody, claudeMd, agentsMd, isForkWorker }: AssembleSubagentPromptOptions): string {
  const parts = [agentBody, claudeMd, agentsMd, isForkWorker ? forForkWorkers : forSubagents];
  return parts
    .map((part) => part?.trim())
    .filter(Boolean)
    .join("\n\n");
}
