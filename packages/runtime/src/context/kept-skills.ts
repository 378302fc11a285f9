import { type Message, textOf, type UserMessage } from "../protocol/content.ts";
import { firstTokens } from "./summary-steps.ts";
import { estimateText } from "./token-estimate.ts";

/** The instructions of a skill, as the model was shown them. */
export type KeptSkill = { name: string; text: string };

export type KeptSkillsOptions = {
  /** The skills that only the first `replaced` messages show are kept. */
  readonly replaced: number;
  /** The first message is the summary of an earlier compaction. */
  readonly hasSummary: boolean;
  readonly maxTokens: number;
};

/** Of one skill, and of all of them: as much as Claude Code keeps. */
const maxTokensEach = 5_000;
const maxTokensAll = 25_000;
/** Less of one is no help. */
const minTokens = 50;

/** What a compaction must not make a model forget: the instructions it works by, each as it was shown last, the newest first within the limit. */
export function keepSkills(messages: readonly Message[], { replaced, hasSummary, maxTokens }: KeptSkillsOptions): KeptSkill[] {
  const stillShown = new Set(skillsIn(messages.slice(replaced), false).keys());
  const kept: KeptSkill[] = [];
  let left = Math.min(maxTokens, maxTokensAll);
  for (const [name, whole] of [...skillsIn(messages.slice(0, replaced), hasSummary)].toReversed()) {
    if (stillShown.has(name)) continue;
    if (left < minTokens) break;
    const text = cut(whole.replace(/<(?=\/skill\b)/gi, "‹"), Math.min(left, maxTokensEach));
    left -= estimateText(text) + estimateText(name);
    kept.push({ name, text });
  }
  return kept;
}

/** By name, what was shown last behind what was shown before. */
function skillsIn(messages: readonly Message[], hasSummary: boolean): Map<string, string> {
  const [first] = messages;
  const before = hasSummary && first?.role === "user" ? keptBefore(textOf(first.content)) : [];
  const found = new Map(before.map(({ name, text }) => [name, text]));
  for (const { name, text } of skillMessages(messages).values()) {
    found.delete(name);
    found.set(name, text);
  }
  return found;
}

/** Instructions of a skill that stand in the user's place; `typed` is what the user said, if it was the user. */
export type SkillMessage = KeptSkill & { readonly typed?: string };

/** By their places: the messages that are no words of the user's. */
export function skillMessages(messages: readonly Message[]): Map<number, SkillMessage> {
  const found = new Map<number, SkillMessage>();
  let launched: string[] = [];
  for (const [index, message] of messages.entries()) {
    if (message.role === "assistant") launched = [];
    if (message.role === "tool") launched = message.content.flatMap((part) => launchedBy(textOf(part.content)));
    if (message.role !== "user") continue;
    const name = launched.shift();
    const skill = name === undefined ? typedIn(message) : { name, text: textOf(message.content) };
    if (skill) found.set(index, skill);
  }
  return found;
}

/** The words that say that a skill's text comes next. */
function launchedBy(result: string): string[] {
  const [, name] = /^Launching skill: (\S[^\n]*)/.exec(result) ?? [];
  return name === undefined ? [] : [name];
}

/** The marks of what was typed, and behind them the text that was meant. */
function typedIn({ content }: UserMessage): SkillMessage | undefined {
  const [marks, ...rest] = content;
  const text = rest.at(-1);
  if (marks?.type !== "text" || text?.type !== "text") return undefined;
  const [, name] =
    /^<command-message>[^\n]*<\/command-message>\n<command-name>\/([^\n]*)<\/command-name>\n/.exec(marks.text) ?? [];
  const [, args] = /\n<command-args>([\s\S]*)<\/command-args>\n$/.exec(marks.text) ?? [];
  return name === undefined ? undefined : { name, text: text.text, typed: args === undefined ? `/${name}` : `/${name} ${args}` };
}

/** What the message of an earlier compaction holds; nothing in it can look like the end of one. */
function keptBefore(text: string): KeptSkill[] {
  return [...text.matchAll(/\n\n<skill name=("(?:[^"\\]|\\.)*")>\n([\s\S]*?)\n<\/skill>/g)]
    .map(([, name = '""', body = ""]) => ({ name: String(JSON.parse(name)), text: body })) // a string of JSON, by the pattern
    .toReversed();
}

function cut(text: string, tokens: number): string {
  const head = firstTokens(text, tokens - 10);
  return head.length === text.length ? text : `${head}\n[… ${text.length - head.length} characters more in its file …]`;
}
