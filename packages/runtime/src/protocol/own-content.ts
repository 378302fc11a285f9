import type { ToolResultPart } from "./content.ts";

/** What the tool itself answered, for people and programs; the model reads the notes after it too. */
export function ownContent(ended: {
  readonly result: Pick<ToolResultPart, "content">;
  readonly notes?: number | undefined;
}): ToolResultPart["content"] {
  const { result, notes = 0 } = ended;
  return notes > 0 ? result.content.slice(0, -notes) : result.content;
}

export function ownText(ended: Parameters<typeof ownContent>[0]): string {
  return ownContent(ended)
    .flatMap((part) => (part.type === "text" ? [part.text] : []))
    .join("\n");
}
