import { RuntimeError } from "@outrider/runtime";
import { type DescribedPrompt, describePrompt } from "@outrider/runtime/admin";
import { exitCodes } from "../exit-codes.ts";
import { parseArguments } from "../flags/args.ts";
import { takeOwnWords } from "../flags/words.ts";
import { surroundings } from "../request/plan-run.ts";
import { toSessionRequest } from "../request/session-request.ts";
import { print, visible } from "../terminal/visible.ts";

const usage = `Usage:
  outrider prompt [FLAGS of a run] [--json | --raw | --tools]
                  show what a model gets before the first prompt: the system prompt part by part and the tools, with estimated
                  token counts. Connects to the servers in the settings, as a run does; asks no model and stores nothing.
  --raw           only the exact system prompt
  --json          everything as one object, with the tools' schemas
  --tools         also the description of each tool
`;

/** What a session with these flags would tell the model first. */
export async function runPromptCommand(args: readonly string[]): Promise<number> {
  if (args.includes("--help") || args.includes("-h")) {
    await print(usage);
    return exitCodes.success;
  }
  const words = takeOwnWords(args, { switches: ["--json", "--raw", "--tools"], values: [] });
  const { flags, positionals } = parseArguments(words.rest);
  if (positionals.length > 0) throw new RuntimeError("usage", `prompt takes no words, only flags\n${usage}`);
  const request = await toSessionRequest(flags, warn);
  const described = await describePrompt(request, { around: surroundings(), warn });
  if (words.has("--json")) await print(`${JSON.stringify(described, null, 2)}\n`);
  else await print(words.has("--raw") ? described.system : toText(described, words.has("--tools")));
  return exitCodes.success;
}

function toText({ model, permissionMode, parts, tools, tokens }: DescribedPrompt, withTools: boolean): string {
  const block = (title: string, text: string): string => `${rule(title)}\n${shownLines(text)}\n`;
  const shown = [
    ...parts.map((part) => block(`${part.name}, about ${count(part.tokens)} tokens: ${part.reason}`, part.text)),
    ...(withTools ? tools : []).map((tool) =>
      block(`tool ${visible(tool.name)}, about ${count(tool.tokens)} tokens with its schema`, tool.description),
    ),
  ];
  const sum = (rows: readonly { readonly tokens: number }[]): number => rows.reduce((all, row) => all + row.tokens, 0);
  const rows: [string, number][] = [
    ...parts.map(({ name, tokens: own }): [string, number] => [name, own]),
    ...tools.map(({ name, tokens: own }): [string, number] => [`tool ${visible(name)}`, own]),
    ["the system prompt", sum(parts)],
    ["all tools", sum(tools)],
    ["together", tokens],
  ];
  const width = Math.max(...rows.map(([name]) => name.length));
  const table = rows.map(([name, own]) => `${name.padEnd(width)}  ${count(own).padStart(8)}`);
  return `${shown.join("\n")}\n${rule(`tokens, as estimated, for ${visible(model)} in mode ${permissionMode}`)}\n${table.join("\n")}\n`;
}

function shownLines(text: string): string {
  return text.split("\n").map(visible).join("\n");
}

function rule(words: string): string {
  return `── ${words} ──`;
}

function count(tokens: number): string {
  return tokens.toLocaleString("en-US");
}

function warn(line: string): void {
  process.stderr.write(`outrider: ${visible(line)}\n`);
}
