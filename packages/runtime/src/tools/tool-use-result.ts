import { isAbsolute, join } from "node:path";
import type { ToolResultPart } from "../protocol/content.ts";
import type { AgentEvent, DiffLine } from "../protocol/events.ts";
import { ownContent, ownText } from "../protocol/own-content.ts";
import { defined } from "../util/defined.ts";
import { pdfType, toMediaBlock } from "../protocol/media.ts";

type Frame = Record<string, unknown>;
/** What is needed of the event that a tool has ended. */
export type EndedUse = Pick<AgentEvent<"tool.ended">, "name" | "status" | "details" | "durationMs" | "notes"> & {
  readonly result: Pick<ToolResultPart, "content">;
};
type Ended = EndedUse;
type Place = { readonly input: unknown; readonly cwd: string };

/** What a tool tells programs beside its words for the model, in the shapes they know from Claude Code. */
export function toToolUseResult(event: Ended, place: Place): unknown {
  if (event.status !== "ok") return `Error: ${ownText(event)}`;
  const { told } = event.details ?? {};
  if (told) return { ...told, ...(told["content"] === null && { content: ownText(event) }), durationMs: event.durationMs };
  switch (event.name) {
    case "Bash":
      return bashResult(event);
    case "Read":
      return readResult(event, place);
    case "Write":
      return writeResult(event, place);
    case "Edit":
      return editResult(event, place);
    case "StructuredOutput":
      return ownText(event);
    case "TaskCreate":
    case "TaskGet":
    case "TaskUpdate":
    case "TaskList":
      return event.details?.structuredContent ?? more(event);
    case "ListMcpResourcesTool":
      return event.details?.structuredContent?.["resources"] ?? more(event);
    case "ReadMcpResourceTool":
      return event.details?.structuredContent ?? more(event);
    default:
      if (event.details?.skill !== undefined) return skillResult(event, event.details.skill);
      return event.name.startsWith("mcp__") ? mcpResult(event) : more(event);
  }
}

export function toResultBlock(part: Ended["result"]["content"][number]): Frame {
  if (part.type === "text") return { type: "text", text: part.text };
  return toMediaBlock(part);
}

function skillResult(event: Ended, commandName: string): Frame {
  const agentId = event.details?.forkedTaskId;
  return {
    ...{ success: true, commandName },
    ...(agentId !== undefined && { status: "forked", agentId, result: ownText(event) }),
  };
}

function mcpResult(event: Ended): unknown {
  const { structuredContent } = event.details ?? {};
  return structuredContent === undefined ? ownContent(event).map(toResultBlock) : { content: ownText(event), structuredContent };
}

function more({ details, durationMs }: Ended): Frame {
  return { ...details, durationMs };
}

/** Both streams of a command go through one pipe, so that their lines keep their order: `stderr` is always empty. */
function bashResult(event: Ended): Frame {
  const text = ownText(event);
  const { exitCode, fullOutputPath, fullOutputBytes, backgroundTaskId } = event.details ?? {};
  return {
    stdout: text === "(no output)" || backgroundTaskId !== undefined ? "" : text,
    stderr: "",
    interrupted: false,
    isImage: false,
    noOutputExpected: false,
    ...defined({ exitCode, persistedOutputPath: fullOutputPath, persistedOutputSize: fullOutputBytes, backgroundTaskId }),
    durationMs: event.durationMs,
  };
}

function readResult(event: Ended, { input, cwd }: Place): Frame {
  const filePath = pathIn(input, cwd);
  const image = ownContent(event).find((part) => part.type === "image");
  if (image?.mediaType === pdfType)
    return { type: "pdf", file: { filePath, base64: image.data, originalSize: sizeOf(image.data) } };
  if (image)
    return { type: "image", file: { filePath, type: image.mediaType, base64: image.data, originalSize: sizeOf(image.data) } };
  const numbered = ownText(event)
    .split("\n")
    .flatMap((line) => /^ *(\d+)\t(.*)$/s.exec(line) ?? []);
  const lines = numbered.filter((_, index) => index % 3 === 2);
  const startLine = Number(numbered[1] ?? 1);
  const totalLines = event.details?.totalLines ?? startLine + lines.length - 1;
  return {
    type: "text",
    file: { filePath, content: lines.join("\n"), numLines: lines.length, startLine, totalLines },
    durationMs: event.durationMs,
  };
}

function sizeOf(base64: string): number {
  return Math.floor((base64.length * 3) / 4);
}

function writeResult(event: Ended, { input, cwd }: Place): Frame {
  const created = event.details?.created ?? false;
  return {
    type: created ? "create" : "update",
    filePath: event.details?.file ?? pathIn(input, cwd),
    content: fieldOf(input, "content"),
    structuredPatch: created ? [] : toPatch(event.details?.diff ?? []),
    originalFile: null,
    userModified: false,
    durationMs: event.durationMs,
  };
}

function editResult(event: Ended, { input, cwd }: Place): Frame {
  return {
    filePath: event.details?.file ?? pathIn(input, cwd),
    oldString: fieldOf(input, "old_string"),
    newString: fieldOf(input, "new_string"),
    originalFile: null,
    structuredPatch: toPatch(event.details?.diff ?? []),
    userModified: false,
    replaceAll: fieldOf(input, "replace_all") ?? false,
    durationMs: event.durationMs,
  };
}

function fieldOf(input: unknown, name: string): unknown {
  return typeof input === "object" && input !== null && name in input ? (input as Frame)[name] : undefined; // an object, by the check before
}

function pathIn(input: unknown, cwd: string): string {
  const path = String(fieldOf(input, "file_path") ?? "");
  return isAbsolute(path) ? path : join(cwd, path);
}

type Hunk = { oldStart: number; oldLines: number; newStart: number; newLines: number; lines: string[] };

function toPatch(diff: readonly DiffLine[]): Hunk[] {
  const hunks: Hunk[] = [];
  for (const { type, text } of diff) {
    if (type === "hunk") {
      const [oldStart, oldLines, newStart, newLines] = (text.match(/\d+/g) ?? []).map(Number);
      // A diff that was cut ends with a hunk of one number: how many lines are missing.
      if (newLines === undefined) break;
      hunks.push({ oldStart: oldStart ?? 0, oldLines: oldLines ?? 0, newStart: newStart ?? 0, newLines, lines: [] });
    } else hunks.at(-1)?.lines.push(`${marks[type]}${text}`);
  }
  return hunks;
}

const marks = { context: " ", remove: "-", add: "+" } as const;
