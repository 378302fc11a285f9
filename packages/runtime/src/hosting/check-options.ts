import { nearest } from "../util/nearest.ts";
import { RuntimeError } from "../protocol/errors.ts";
import { permissionModes } from "../protocol/permission.ts";
import { isRecord } from "../util/is-record.ts";

const choices: Readonly<Record<string, readonly string[]>> = {
  permissionMode: permissionModes,
  sandboxMode: ["auto", "require", "off"],
  effort: ["minimal", "low", "medium", "high"],
};
const listsOf: Readonly<Record<string, readonly string[] | undefined>> = {
  settingSources: ["user", "project", "local"],
  without: ["instructions", "agents", "hooks", "servers"],
  allowedTools: undefined,
  disallowedTools: undefined,
  builtinTools: undefined,
  passEnv: undefined,
};
const positive = ["maxTurns", "maxRequests", "maxOutputTokens", "maxBudgetUsd", "thinkingTokens", "outputLimit"];
const texts = ["cwd", "model", "settings", "systemPrompt", "appendSystemPrompt", "sessionId", "resumeSessionId", "mainAgent"];

/** What a program without types may get wrong, told in its own words before anything else goes wrong because of it. */
export function checkSessionOptions(options: unknown): void {
  if (!isRecord(options)) throw wrong("InteractiveSession", "an object with cwd and provider", options);
  const { provider } = options;
  if (!isRecord(provider) || typeof provider["stream"] !== "function")
    throw wrong("provider", "a provider, such as createAnthropicProvider({ apiKey }) makes", provider);
  for (const name of texts)
    if (isGiven(options, name) && typeof options[name] !== "string") throw wrong(name, "a text", options[name]);
  for (const name of positive)
    if (isGiven(options, name) && !(typeof options[name] === "number" && options[name] > 0))
      throw wrong(name, "a number above 0", options[name]);
  for (const [name, words] of Object.entries(choices)) if (isGiven(options, name)) checkWord(name, options[name], words);
  for (const [name, words] of Object.entries(listsOf)) if (isGiven(options, name)) checkList(name, options[name], words);
  const { mcpServers } = options;
  if (mcpServers !== undefined && !(Array.isArray(mcpServers) && mcpServers.every((one) => isRecord(one) && "value" in one)))
    throw wrong("mcpServers", 'a list of { value: { mcpServers: { … } }, source: "where it is written" }', mcpServers);
}

function isGiven(options: Record<string, unknown>, name: string): boolean {
  return options[name] !== undefined;
}

function checkList(name: string, value: unknown, words: readonly string[] | undefined): void {
  if (!Array.isArray(value) || !value.every((one) => typeof one === "string")) throw wrong(name, "a list of texts", value);
  if (words) for (const word of value) checkWord(name, word, words);
}

function checkWord(name: string, value: unknown, words: readonly string[]): void {
  if (typeof value === "string" && words.includes(value)) return;
  const near = typeof value === "string" ? nearest(value, [...words]) : undefined;
  throw wrong(name, `one of ${words.join(", ")}${near === undefined ? "" : `; did you mean ${near}?`}`, value);
}

function wrong(name: string, expected: string, value: unknown): RuntimeError {
  const shown = typeof value === "string" ? JSON.stringify(value.slice(0, 80)) : Array.isArray(value) ? "a list" : String(value);
  return new RuntimeError("usage", `${name} is ${expected}. It was ${shown}`);
}
