import type { ContextUse } from "./command.ts";

/** For people: the whole, and a row for each part of it. */
export function describeUse({ model, usedTokens, maxTokens, compactsAt, shares }: ContextUse): string {
  const count = (tokens: number): string => Math.round(tokens).toLocaleString("en-US");
  const share = (tokens: number): string => `${((tokens / maxTokens) * 100).toFixed(1)} %`;
  const room =
    compactsAt === undefined ? "older messages are never summarised by themselves" : `room is made at ${count(compactsAt)}`;
  const width = Math.max(...shares.map(({ name }) => name.length), 4);
  const rows = [...shares, { name: "free", tokens: Math.max(0, maxTokens - usedTokens) }];
  return [
    `About ${count(usedTokens)} of ${count(maxTokens)} tokens (${share(usedTokens)}) of ${model} are in use; ${room}.`,
    ...rows.map(({ name, tokens }) => `${name.padEnd(width)}  ${count(tokens).padStart(9)}  ${share(tokens).padStart(7)}`),
  ].join("\n");
}
