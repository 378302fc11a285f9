export type SubagentFacts = {
  readonly prompt: string;
  readonly cwd: string;
  readonly platform: string;
  readonly date: Date;
  readonly tools: readonly string[];
  /** Where commands run; absent for an agent that runs none. */
  readonly sandbox?: string | undefined;
  /** The instruction files of the user and of the project, as the session has them. */
  readonly instructions: string | undefined;
};

/** What a subagent is told first: who it is, where it works, how its answer is used, and what counts in this project. */
export function buildSubagentPrompt({ prompt, cwd, platform, date, tools, sandbox, instructions }: SubagentFacts): string {
  const facts = [
    "You were started by another agent. It sees nothing of what you do but your last message, and nobody can answer questions while you work. End with a short answer in plain text: what you did or found, with the paths and facts the other one needs, and what is left. Never claim something you did not verify.",
    "",
    `Working directory: ${cwd}`,
    `Platform: ${platform}`,
    `Date: ${date.toISOString().slice(0, 10)}`,
    ...(sandbox === undefined ? [] : [`Sandbox: ${sandbox}`]),
    ...(tools.length > 0 ? [`Tools: ${tools.join(", ")}`] : []),
  ].join("\n");
  return [prompt.trim(), facts, instructions].filter(Boolean).join("\n\n");
}
