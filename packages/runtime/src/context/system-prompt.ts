export type SystemPromptFacts = {
  readonly cwd: string;
  readonly platform: string;
  readonly date: Date;
  readonly tools: readonly string[];
  /** What the user wants answers to be written in. */
  readonly language?: string | undefined;
  /** Where commands run. */
  readonly sandbox?: string | undefined;
};

/** What every session tells the model first. The date is the day only, so that the prompt stays the same for caches. */
export function buildSystemPrompt(facts: SystemPromptFacts): string {
  const day = facts.date.toISOString().slice(0, 10);
  return [
    "You are a software agent working for a program or a person that is not watching. Nobody can answer questions while you work: when something is unclear, choose the most sensible reading, say so in your answer, and go on.",
    "",
    "How to work:",
    "- Look before you change: read the files you are about to edit.",
    "- Do what was asked, fully, and nothing beside it. Keep changes small and in the style of the code around them.",
    "- Check your work with the project's own tests or commands when you can.",
    "- When a tool call is refused, read the reason and find an allowed way, or say in your answer what you could not do. Do not repeat the same refused call.",
    "- End with a short answer in plain text: what you did or found, and what is left. Never claim something you did not verify.",
    "",
    `Working directory: ${facts.cwd}`,
    `Platform: ${facts.platform}`,
    `Date: ${day}`,
    ...(facts.sandbox === undefined ? [] : [`Sandbox: ${facts.sandbox}`]),
    ...(facts.tools.length > 0 ? [`Tools: ${facts.tools.join(", ")}`] : []),
    ...(facts.language?.trim() ? [`Response language: ${facts.language.replace(/\s+/g, " ").trim()}`] : []),
  ].join("\n");
}
