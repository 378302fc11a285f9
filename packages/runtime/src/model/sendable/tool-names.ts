import { shortChecksum } from "../../util/short-checksum.ts";

/** What every provider takes as the name of a tool: Anthropic and OpenAI take these characters, Gemini wants a letter first. */
const allowed = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;
const maxLength = 64;

export function isSendableName(name: string): boolean {
  return allowed.test(name);
}

/** The name itself where it can be sent; else one like it with a checksum, so that no two names become one. */
export function toSendableName(name: string): string {
  if (isSendableName(name)) return name;
  const mark = `_${shortChecksum(name)}`;
  const plain = name.replace(/[^A-Za-z0-9_-]/g, "_").replace(/^(?![A-Za-z_])/, "_");
  return plain.slice(0, maxLength - mark.length) + mark;
}
