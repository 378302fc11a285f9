import { type UserMessage, userText } from "../../protocol/content.ts";
import type { Prompt } from "./prompt-turn.ts";

/** Words that stand before a prompt, as if somebody had written them in front of it. */
export function withInitialPrompt<Words extends Prompt>(prompt: Words, words: string): Words {
  const before = (text: string): string => (text === "" ? words : `${words}\n\n${text}`);
  const { displayInput } = prompt;
  return {
    ...prompt,
    message: beforeMessage(prompt.message, before),
    ...{ input: before(prompt.input), rawInput: before(prompt.rawInput) },
    displayInput: displayInput === undefined ? undefined : before(displayInput),
  };
}

function beforeMessage(message: UserMessage, before: (text: string) => string): UserMessage {
  const [first, ...rest] = message.content;
  if (first?.type === "text") return { ...message, content: [{ ...first, text: before(first.text) }, ...rest] };
  return { ...message, content: [...userText(before("")).content, ...message.content] };
}
