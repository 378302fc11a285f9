import { callsOf, type JsonObject, type Message, textOf, type ToolCallPart } from "../protocol/content.ts";
import type { FactsOf, ToolFacts } from "../protocol/tool-facts.ts";
import { isRecord } from "../util/is-record.ts";
import { shorten } from "./history-text.ts";
import { skillMessages } from "./kept-skills.ts";
import { estimateText } from "./token-estimate.ts";

/**
 * What must not hang on how well a model summarises: taken word for word from the part of the conversation that is left out, and handed on from
 * one summary to the next.
 */
export type KeptFacts = {
  /** What is still to be done, by the last list there was. */
  readonly todo: readonly Fact[];
  /** Commands that failed and did not succeed since, with the end of what they said. */
  readonly failing: readonly Fact[];
  /** Files that were changed, with what the model said it did. */
  readonly changed: readonly Fact[];
  /** What the user said, but for the last prompt, which stays as it is. */
  readonly user: readonly Fact[];
};

type Fact = { readonly what: string; readonly more?: string | undefined };
type Kind = keyof KeptFacts;

/** In this order they get their room; within a kind the newest do first. */
const kinds: readonly Kind[] = ["todo", "failing", "changed", "user"];
const nothing: KeptFacts = { todo: [], failing: [], changed: [], user: [] };
const longest: Readonly<Record<Kind, readonly [what: number, more: number]>> = {
  todo: [200, 20],
  failing: [200, 400],
  changed: [200, 160],
  user: [600, 0],
};

export type FactsSource = {
  readonly messages: readonly Message[];
  /** The first message is the summary of an earlier compaction. */
  readonly hasSummary: boolean;
  /** Where the last prompt stands, if it is among them. */
  readonly prompt: number | undefined;
  readonly factsOf: FactsOf;
};

/** Of the messages that are about to be left out. */
export function findFacts({ messages, hasSummary, prompt, factsOf }: FactsSource): KeptFacts {
  const first = messages[0];
  const before = hasSummary && first?.role === "user" ? parseFacts(textOf(first.content)) : nothing;
  const failed = new Map<string, boolean>();
  const outputs = new Map<string, string>();
  for (const message of messages)
    if (message.role === "tool")
      for (const part of message.content) {
        failed.set(part.callId, part.isError);
        outputs.set(part.callId, textOf(part.content));
      }
  const changed = toMap(before.changed);
  const failing = toMap(before.failing);
  let todo = before.todo;
  let said = "";
  const user = [...before.user];
  const skills = skillMessages(messages);
  for (const [index, message] of messages.entries()) {
    const skill = skills.get(index);
    if (message.role === "user" && index !== prompt && !(hasSummary && index === 0))
      user.push(...saidBy(skill ? (skill.typed ?? "") : textOf(message.content)));
    if (message.role !== "assistant") continue;
    said = textOf(message.content).trim() || said;
    for (const call of callsOf(message)) {
      const facts = factsOf(call.name);
      const isError = failed.get(call.callId);
      const plan = isError ? undefined : listIn(call, facts);
      if (plan) todo = plan;
      const command = fieldOf(call, facts?.fields?.command);
      if (command !== undefined) failing.delete(command);
      if (command !== undefined && isError) failing.set(command, lastLines(outputs.get(call.callId) ?? ""));
      if (facts?.kind === "edit" && isError === false)
        for (const path of filesOf(call, facts)) {
          changed.delete(path);
          changed.set(path, said);
        }
    }
  }
  return { todo, failing: fromMap(failing).slice(-3), changed: fromMap(changed), user };
}

/** As text for the model, within `maxTokens`; empty when there is nothing to tell. */
export function writeFacts(facts: KeptFacts, maxTokens: number): string {
  let left = maxTokens - 40;
  const lines = new Map<Kind, string[]>();
  for (const kind of kinds) {
    const shown: string[] = [];
    for (const fact of facts[kind].toReversed()) {
      const line = toLine(kind, fact);
      const size = estimateText(line) + 1;
      if (size > left) break;
      left -= size;
      shown.unshift(line);
    }
    lines.set(kind, shown);
  }
  const all = kinds.flatMap((kind) => lines.get(kind) ?? []);
  return all.length === 0 ? "" : `<kept>\n${all.join("\n")}\n</kept>`;
}

/** What `writeFacts` wrote into the message of an earlier compaction. Nothing else there can look like it: summaries have no such tags. */
export function parseFacts(text: string): KeptFacts {
  const block = /<\/summary>\n\n<kept>\n([\s\S]*?)\n<\/kept>/.exec(text)?.[1] ?? "";
  const found: Record<Kind, Fact[]> = { todo: [], failing: [], changed: [], user: [] };
  for (const line of block.split("\n")) {
    const [, kind, what, more] = /^(\w+): ("(?:[^"\\]|\\.)*")(?: — ("(?:[^"\\]|\\.)*"))?$/.exec(line) ?? [];
    if (what === undefined || !kinds.includes(kind as Kind)) continue;
    found[kind as Kind].push({ what: JSON.parse(what), more: more === undefined ? undefined : JSON.parse(more) }); // strings of JSON, by the pattern
  }
  return found;
}

function toLine(kind: Kind, { what, more }: Fact): string {
  const [longestWhat, longestMore] = longest[kind];
  const second = more ? ` — ${JSON.stringify(shorten(more, longestMore))}` : "";
  return `${kind}: ${JSON.stringify(shorten(what, longestWhat))}${second}`;
}

/** What hooks and the machine said in the user's place is not the user's. */
function saidBy(text: string): Fact[] {
  const words = text.trim();
  return words === "" || words.startsWith("<system-reminder>") ? [] : [{ what: words }];
}

function listIn(call: ToolCallPart, facts: ToolFacts | undefined): Fact[] | undefined {
  const field = facts?.fields?.plan;
  const list = field !== undefined && isRecord(call.input) ? call.input[field] : undefined;
  if (!Array.isArray(list)) return undefined;
  return list.flatMap((item): Fact[] => {
    if (!isRecord(item) || typeof item["content"] !== "string" || item["status"] === "completed") return [];
    return [{ what: item["content"], more: typeof item["status"] === "string" ? item["status"] : undefined }];
  });
}

/** The files that a call is about, by what its tool says. */
export function filesOf({ input }: Pick<ToolCallPart, "input">, facts: ToolFacts | undefined): readonly string[] {
  if (!isRecord(input)) return [];
  if (facts?.filesIn) return facts.filesIn(input as JsonObject); // calls come out of JSON
  const path = facts?.fields?.file === undefined ? undefined : input[facts.fields.file];
  return typeof path === "string" ? [path] : [];
}

function fieldOf({ input }: ToolCallPart, field: string | undefined): string | undefined {
  const value = field !== undefined && isRecord(input) ? input[field] : undefined;
  return typeof value === "string" ? value : undefined;
}

function lastLines(text: string): string {
  return text.trim().split("\n").slice(-8).join("\n");
}

function toMap(facts: readonly Fact[]): Map<string, string> {
  return new Map(facts.map(({ what, more = "" }) => [what, more]));
}

function fromMap(map: ReadonlyMap<string, string>): Fact[] {
  return [...map].map(([what, more]) => ({ what, more }));
}
