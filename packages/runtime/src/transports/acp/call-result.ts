import { isJsonObject } from "../../protocol/content.ts";
import type { AgentEvent, DiffLine } from "../../protocol/events.ts";
import { ownContent, ownText } from "../../protocol/own-content.ts";
import { shownFacts } from "../../tools/builtin/presentation.ts";
import { absolutePath } from "./describe-call.ts";
import type { ToolCallContent, ToolCallFields } from "./wire.ts";

/** How a call went: a change of a file as what changed, anything else as what the tool answered. */
export function toCallResult(event: AgentEvent<"tool.ended">, call: { input: unknown; cwd: string }): ToolCallFields {
  const { status, details } = event;
  const output = ownText(event);
  const changes = status === "ok" ? toChanges(event, call) : [];
  const content = changes.length > 0 ? changes : toContent(event);
  return {
    status: status === "ok" ? "completed" : "failed",
    ...(content.length > 0 && { content }),
    rawOutput: {
      output,
      ...(details?.exitCode !== undefined && { exitCode: details.exitCode }),
      ...(details?.fullOutputPath !== undefined && { fullOutputPath: details.fullOutputPath }),
    },
  };
}

function toChanges({ details }: AgentEvent<"tool.ended">, { input, cwd }: { input: unknown; cwd: string }): ToolCallContent[] {
  if (details?.file === undefined) return [];
  const path = absolutePath(details.file, cwd);
  const written = isJsonObject(input) ? (input["content"] ?? input["new_string"]) : undefined;
  if (details.created && typeof written === "string") return [{ type: "diff", path, oldText: null, newText: written }];
  const changes = [{ file: details.file, diff: details.diff ?? [] }, ...(details.others ?? [])];
  return changes.flatMap(({ file, diff }) =>
    toHunks(diff).map((hunk): ToolCallContent => ({ type: "diff", path: absolutePath(file, cwd), ...hunk })),
  );
}

function toHunks(lines: readonly DiffLine[]): { oldText: string; newText: string }[] {
  const hunks: { old: string[]; fresh: string[] }[] = [];
  for (const { type, text } of lines) {
    if (type === "hunk") hunks.push({ old: [], fresh: [] });
    if (type === "context" || type === "remove") hunks.at(-1)?.old.push(text);
    if (type === "context" || type === "add") hunks.at(-1)?.fresh.push(text);
  }
  return hunks
    .filter(({ old, fresh }) => old.length + fresh.length > 0)
    .map(({ old, fresh }) => ({ oldText: old.join("\n"), newText: fresh.join("\n") }));
}

function toContent(event: AgentEvent<"tool.ended">): ToolCallContent[] {
  const isPlain = shownFacts(event.name)?.shown?.isPlain; // clients show text as Markdown
  return ownContent(event).flatMap((part): ToolCallContent[] => {
    if (part.type === "image")
      return [{ type: "content", content: { type: "image", data: part.data, mimeType: part.mediaType } }];
    if (part.text === "") return [];
    return [{ type: "content", content: { type: "text", text: isPlain ? fenced(part.text) : part.text } }];
  });
}

function fenced(text: string): string {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map((run) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}\n${text}${text.endsWith("\n") ? "" : "\n"}${fence}`;
}
