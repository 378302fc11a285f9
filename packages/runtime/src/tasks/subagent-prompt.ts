import { describeSession, type SessionLines } from "../context/session-lines.ts";

export type SubagentFacts = {
  readonly prompt: string;
  /** What is told of the folder and the machine. */
  readonly environment: string;
  readonly session: SessionLines;
  /** The instruction files of the user and of the project, as the session has them. */
  readonly instructions: string | undefined;
  /** The texts of skills it is to know, and what else belongs to this agent alone. */
  readonly texts?: readonly string[] | undefined;
};

/** What a subagent is told first: who it is, where it works, how its answer is used, and what counts in this project. */
export function buildSubagentPrompt({ prompt, environment, session, instructions, texts = [] }: SubagentFacts): string {
  const use =
    "You were started by another agent. It sees only your final message, and nobody can answer questions while you work. Make calls that do not depend on each other in one message. End with a short answer in plain text: what you did or found, with the paths and facts that the other agent needs, and what is left to do. Never claim what you did not verify.";
  return [prompt.trim(), use, environment, describeSession(session), instructions, ...texts].filter(Boolean).join("\n\n");
}
