import { maxJsonDepth } from "./too-deep.ts";

/** Nothing that is meant seriously has more lists and objects, and making many of them keeps everybody else waiting. */
export const maxJsonContainers = 200_000;

/** It is JSON, perhaps, but none that anybody has to read. */
export class UnwieldyJson extends Error {
  override readonly name = "UnwieldyJson";
}

/**
 * JSON from somebody who may mean harm. Its text is looked through before anything is made of it: sixteen megabytes of brackets take
 * `JSON.parse` several seconds, in which a server answers nobody. Throws `UnwieldyJson`, and what `JSON.parse` throws.
 */
export function parseBoundedJson(text: string): unknown {
  const reason = unwieldy(text);
  if (reason !== undefined) throw new UnwieldyJson(reason);
  return JSON.parse(text);
}

/** Why nobody has to read it; what is no JSON may pass, or not. */
function unwieldy(text: string): string | undefined {
  let depth = 0;
  let containers = 0;
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case quote:
        at = endOfText(text, at + 1);
        break;
      case openList:
      case openObject:
        if (depth++ > maxJsonDepth) return `nested more than ${maxJsonDepth} levels deep`;
        if (containers++ === maxJsonContainers) return `made of more than ${maxJsonContainers} lists and objects`;
        break;
      case closeList:
      case closeObject:
        depth--;
    }
  }
  return undefined;
}

/** Where the quote is that closes a text. */
function endOfText(text: string, start: number): number {
  let at = start;
  while (at < text.length) {
    const character = text.charCodeAt(at);
    if (character === quote) return at;
    at += character === backslash ? 2 : 1;
  }
  return at;
}

const [quote, backslash, openList, closeList, openObject, closeObject] = [0x22, 0x5c, 0x5b, 0x5d, 0x7b, 0x7d];
