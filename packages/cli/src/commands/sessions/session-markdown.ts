import type { AgentEvent, AssistantPart, ImagePart, TextPart } from "@outrider/runtime";
import type { SessionSummary } from "@outrider/runtime/admin";
import { visible } from "../../terminal/visible.ts";
import { describeOutcome, toSeconds } from "./sessions-text.ts";

/** A transcript to read. Whatever people, models and tools wrote is inside fences: none of it is Markdown here, or HTML. */
export function* toMarkdown(summary: SessionSummary, events: Iterable<AgentEvent>): Generator<string> {
  const { id, name, cwd, createdAt, updatedAt, forkedFrom } = summary;
  yield `# Session ${id}\n\n`;
  if (name !== undefined) yield `- Name: ${inline(name)}\n`;
  yield `- Folder: ${inline(cwd)}\n- From ${toSeconds(createdAt)} to ${toSeconds(updatedAt)}\n`;
  if (forkedFrom) yield `- Forked from ${inline(forkedFrom.sessionId)} after event ${forkedFrom.seq}\n`;
  let turns = 0;
  for (const event of events) {
    if (event.type === "turn.started") yield `\n## Turn ${++turns}, ${toSeconds(event.at)}\n`;
    yield describeEvent(event);
  }
}

function describeEvent(event: AgentEvent): string {
  const whose = event.taskId === undefined ? "" : " of a subagent";
  switch (event.type) {
    case "turn.started":
      return section("Prompt", contentText(event.input.content));
    case "input.added":
      return section(`Added to the prompt${whose} (${event.origin})`, contentText(event.input.content));
    case "task.started":
      return section(`Subagent ${inline(event.agent)} starts`, event.prompt);
    case "message.ended":
      return event.message.content.map((part) => describePart(part, whose)).join("");
    case "tool.ended":
      return section(`Result${whose} of ${inline(event.name)}: ${event.status}`, contentText(event.result.content));
    case "compaction.ended":
      return event.result.type === "compacted" ? section("Older messages gave way to a summary", event.result.summary) : "";
    case "session.rewound":
      return `\n**Back to event ${event.to}: what came after it is no part of the conversation any more**\n`;
    case "skill.activated":
      return `\n**Skill${whose} ${inline(event.skillName)}: ${event.status}**${event.error === undefined ? "" : ` ${event.error}`}\n`;
    case "checkpoint.restored":
      return section(`Files were put back (${event.kind})`, event.files.join("\n"));
    case "warning.raised":
      return section("Warning", event.message);
    case "turn.ended":
      return section("Turn ended", describeOutcome(event.outcome));
    default:
      return "";
  }
}

function describePart(part: AssistantPart, whose: string): string {
  switch (part.type) {
    case "text":
      return section(`Answer${whose}`, part.text);
    case "reasoning":
      return part.text === "" ? "" : section(`Thinking${whose}`, part.text);
    case "tool-call":
      return section(`Call${whose} of ${inline(part.name)}`, part.malformedInput ?? JSON.stringify(part.input, null, 2));
    case "opaque":
      return section(`Part that only ${inline(part.dialect)} understands`, JSON.stringify(part.value, null, 2));
  }
}

function contentText(content: readonly (TextPart | ImagePart)[]): string {
  return content
    .map((part) => (part.type === "text" ? part.text : `[${part.mediaType}, ${Math.ceil((part.data.length * 3) / 4)} bytes]`))
    .join("\n");
}

/** A fence that nothing inside it can close: longer than any run of backticks there. */
function section(title: string, text: string): string {
  const fence = "`".repeat(Math.max(3, longestRun(text) + 1));
  const shown = text
    .split("\n")
    .map((line) => line.split("\t").map(visible).join("\t"))
    .join("\n");
  return `\n**${title}**\n\n${fence}\n${shown}${shown.endsWith("\n") ? "" : "\n"}${fence}\n`;
}

function inline(text: string): string {
  if (text === "") return "` `";
  const ticks = "`".repeat(longestRun(text) + 1);
  return `${ticks}${text.includes("`") ? ` ${visible(text)} ` : visible(text)}${ticks}`;
}

function longestRun(text: string): number {
  let longest = 0;
  for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length);
  return longest;
}
