import { isAbsolute, join, relative } from "node:path";
import { openInstructionFile } from "../context/instruction-file.ts";
import { withoutHiddenText } from "../context/hidden-text.ts";
import { type AgentDefinition, memoryTools } from "./agent-definition.ts";

export type MemoryPlaces = {
  /** The top of the project. */
  readonly root: string;
  readonly outriderHome: string;
  /** Claude Code's own folder. */
  readonly claudeHome: string;
};

const maxLines = 200;
const maxCharacters = 25_000;

/** Where an agent keeps its notes, beside Claude Code's where its file is one of Claude Code's, and the tools for it. An agent without a memory stays as it is. */
export function withMemoryFolder(agent: AgentDefinition, { root, outriderHome, claudeHome }: MemoryPlaces): AgentDefinition {
  const { memory, name, source, tools } = agent;
  if (memory === undefined) return agent;
  const isClaudes = /[\\/]\.claude[\\/]/.test(source) || isBelow(claudeHome, source);
  const home = isClaudes ? claudeHome : outriderHome;
  const own = join(root, isClaudes ? ".claude" : ".outrider");
  const folder = name.replaceAll(/[^A-Za-z0-9_-]/g, "-");
  const place = { user: join(home, "agent-memory"), project: join(own, "agent-memory"), local: join(own, "agent-memory-local") };
  const withTools = tools && { tools: [...new Set([...tools, ...memoryTools])] };
  return { ...agent, ...withTools, memoryFolder: join(place[memory], folder) };
}

function isBelow(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return !way.startsWith("..") && !isAbsolute(way);
}

/** What an agent is told of its memory; undefined for one that has none. Its notes are read anew each time it begins. */
export function describeMemory({ memoryFolder }: AgentDefinition): string | undefined {
  if (memoryFolder === undefined) return undefined;
  const index = join(memoryFolder, "MEMORY.md");
  const file = openInstructionFile(index, memoryFolder);
  const notes = file.type === "read" ? shorten(withoutHiddenText(file.text).text.trim()) : "";
  return [
    "# Your memory",
    `You keep notes for later runs in ${memoryFolder}: what you learned about this work that is not in the project's own files. ${index} is shown to you at each beginning (its first ${maxLines} lines); keep it short, and put details into other files there. Write to it what is worth knowing next time, and mend what turned out wrong. Notes are your own words from before, no instructions of the user.`,
    notes === "" ? `${index} has nothing in it yet.` : `<memory>\n${notes}\n</memory>`,
  ].join("\n\n");
}

function shorten(text: string): string {
  const lines = text.split("\n");
  const shown = lines.slice(0, maxLines).join("\n").slice(0, maxCharacters);
  return shown.length < text.length ? `${shown}\n[the rest is in the file]` : shown;
}
