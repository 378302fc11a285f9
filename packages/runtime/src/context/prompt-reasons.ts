import type { PartName } from "./system-prompt.ts";

/** Why each part of the system prompt is there: what was seen without it, or who needs to know. A part without a reason goes. */
export const promptReasons: Readonly<Record<PartName, string>> = {
  role: "models stop at a plan or ask back; nobody is there to answer",
  working: "look, change, check narrowly first; three failed tries are a sign, not a start; refusals are not to be got round",
  tools:
    "independent calls in one message save turns; cat, sed and grep in a shell are asked about, cut off and not kept track of",
  commands: "a program that waits for a key hangs until its timeout",
  editing: "53 of 88 failed edits had one tab too few; reading again after an edit is a turn for nothing",
  git: "work of others that is undone is gone; commits that nobody asked for have to be taken back",
  answer: "the last message is all that a program or a log gets to see",
  environment: "what would otherwise be the first four commands: folder, repository, kind of project, machine, day",
  session: "which model and mode it is, what runs unasked and where, so that calls are not made to be refused",
  language: "what the user wants answers to be written in",
  skills: "names and descriptions of the skills that may be used",
  instructions: "AGENTS.md and CLAUDE.md of the user and the project",
  memory: "what the project's memory has an index of",
  tasks: "the files of .agents/tasks that are about what goes on now",
  style: "how the user wants answers to be written",
  appended: "what flags, hosts and MCP servers add",
  given: "the prompt that was given in the place of ours",
};
