import { isJsonObject, type JsonObject, type JsonValue } from "../../protocol/content.ts";

/** One line that is a part of the conversation. */
export type StoredLine = JsonObject & { readonly uuid: string };

/** An answer of the model with all its lines, and what the tools said to it, by call. */
export type StoredAnswer = {
  readonly type: "answer";
  readonly lines: readonly StoredLine[];
  readonly results: ReadonlyMap<string, StoredResult>;
};
export type StoredResult = { readonly line: StoredLine; readonly block: JsonObject };
/** Words to the model: a prompt, or with `isMeta` what joined a turn by itself. */
export type StoredInput = {
  readonly type: "input";
  readonly line: StoredLine;
  readonly content: JsonValue;
  readonly isMeta: boolean;
};

export type StoredConversation = {
  /** The conversation as it stands at the last line: other branches, and what a compaction took away, are not in it. */
  readonly steps: readonly (StoredInput | StoredAnswer)[];
  /** The names of its lines, the first one first. */
  readonly chain: readonly string[];
  /** The titles it was given, the last one last. */
  readonly titles: readonly string[];
};

/** Reads a session in the layout of Claude Code, by any program. Lines that are not understood are passed over. */
export function readConversation(text: string): StoredConversation {
  const all = text.split("\n").flatMap(parseLine);
  const lines = all.filter((line): line is StoredLine => typeof line["uuid"] === "string" && line["isSidechain"] !== true);
  const chain = chainTo(lines.findLast(isMessage), lines);
  const answers = new Map<unknown, StoredLine[]>();
  for (const line of lines) if (isAnswer(line)) answers.set(idOf(line), [...(answers.get(idOf(line)) ?? []), line]);
  const results = new Map(lines.flatMap(resultsIn));
  const told = new Set<unknown>();
  const steps = chain.flatMap((line): (StoredInput | StoredAnswer)[] => {
    if (!isAnswer(line)) return inputIn(line);
    if (told.has(idOf(line))) return [];
    told.add(idOf(line));
    return [{ type: "answer", lines: answers.get(idOf(line)) ?? [line], results }];
  });
  const titles = all.flatMap(({ type, customTitle }) =>
    type === "custom-title" && typeof customTitle === "string" && customTitle.trim() !== "" ? [customTitle] : [],
  );
  return { steps, chain: chain.map(({ uuid }) => uuid), titles };
}

function parseLine(text: string): JsonObject[] {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? [value] : [];
  } catch {
    return [];
  }
}

/** From the first line to this one, by the lines' own links. */
function chainTo(leaf: StoredLine | undefined, lines: readonly StoredLine[]): StoredLine[] {
  const byName = new Map(lines.map((line) => [line.uuid, line]));
  const chain = new Set<StoredLine>(); // a link that leads back ends it
  for (let line = leaf; line && !chain.has(line); line = byName.get(String(line["parentUuid"]))) chain.add(line);
  return [...chain].reverse();
}

function isMessage(line: StoredLine): boolean {
  return isAnswer(line) || line["type"] === "user";
}

/** Words that stand for a failed call are no answer of the model. */
function isAnswer(line: StoredLine): boolean {
  return line["type"] === "assistant" && isJsonObject(line["message"]) && line["isApiErrorMessage"] !== true;
}

/** Lines of one answer share it. */
function idOf({ message, uuid }: StoredLine): JsonValue {
  return (isJsonObject(message) ? message["id"] : undefined) ?? uuid;
}

function contentOf({ message }: StoredLine): JsonValue | undefined {
  return isJsonObject(message) ? message["content"] : undefined;
}

export function blocksOf(line: StoredLine): JsonObject[] {
  const content = contentOf(line);
  return Array.isArray(content) ? content.filter(isJsonObject) : [];
}

function resultsIn(line: StoredLine): [string, StoredResult][] {
  if (line["type"] !== "user") return [];
  return blocksOf(line).flatMap((block): [string, StoredResult][] => {
    const { type, tool_use_id: id } = block;
    return type === "tool_result" && typeof id === "string" ? [[id, { line, block }]] : [];
  });
}

function inputIn(line: StoredLine): StoredInput[] {
  const { type, attachment } = line;
  if (type === "attachment" && isJsonObject(attachment) && attachment["type"] === "queued_command")
    return [{ type: "input", line, content: attachment["prompt"] ?? "", isMeta: true }]; // a message that joined a running turn
  if (type !== "user") return [];
  const given = contentOf(line) ?? "";
  const content = Array.isArray(given) ? given.filter((block) => !isJsonObject(block) || block["type"] !== "tool_result") : given;
  return content === "" || (Array.isArray(content) && content.length === 0)
    ? []
    : [{ type: "input", line, content, isMeta: line["isMeta"] === true }];
}
