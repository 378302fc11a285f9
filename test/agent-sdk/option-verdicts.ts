import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** `works`: a test of the suite uses it. The others say what happens instead. */
type Verdict = { readonly verdict: "works" | "told" | "no effect" | "refused" | "the SDK's own"; readonly words: string };

/** What does not simply work; everything else must be used by a test of the suite. */
const others: Readonly<Record<string, Verdict>> = {
  executable: { verdict: "works", words: "every test of the suite is run with it" },
  executableArgs: { verdict: "the SDK's own", words: "arguments of the program that runs the command" },
  onUserDialog: { verdict: "the SDK's own", words: "no dialog is ever asked for" },
  supportedDialogKinds: { verdict: "the SDK's own", words: "no dialog is ever asked for" },
  perTaskStopAffordance: { verdict: "the SDK's own", words: "nothing goes on beside a turn that could be spared" },
  sessionStoreFlush: { verdict: "the SDK's own", words: "when the SDK hands lines to the store" },
  loadTimeoutMs: { verdict: "the SDK's own", words: "how long the SDK waits for its store" },
  planModeInstructions: { verdict: "told", words: "no effect; `systemPrompt.append` says how to plan" },
  promptSuggestions: { verdict: "told", words: "no effect" },
  agentProgressSummaries: { verdict: "told", words: "no effect" },
  resumeDropsTurn: { verdict: "works", words: "shown by the tests of the flag (`--resume-drops-turn`)" },
  projectConfigRoot: { verdict: "refused", words: "`settings` and `settingSources` choose others" },
  permissionMode: { verdict: "works", words: "`auto` counts as `acceptEdits`" },
  managedSettings: { verdict: "works", words: "what restricts; the rest is told" },
  "setMcpPermissionModeOverride()": { verdict: "refused", words: "`setPermissionMode()` and rules do it" },
  "updateSettings()": { verdict: "refused", words: "`applyFlagSettings()` changes the session; files are the user's" },
  "reloadOutputStyles()": { verdict: "works", words: "there is one style" },
  "backgroundTasks()": {
    verdict: "refused",
    words: "what runs is not moved there; `run_in_background` and `background` of an agent start there",
  },
};

/** Words that mean something else elsewhere. */
const uses: Readonly<Record<string, string>> = { continue: "continue: true", agents: "\\{ agents", env: "env: \\{ MY_WORD" };

export type Row = Verdict & { readonly name: string; readonly test: string | undefined };

/** A row for every option of `query()` and every method of what it answers, as the SDK declares them. */
export function readRows(suite: string): Row[] {
  const types = readFileSync(join(suite, "node_modules/@anthropic-ai/claude-agent-sdk/sdk.d.ts"), "utf8");
  const options = membersOf(types, "export declare type Options = {", /^ {4}(\w+)\??:/gm);
  const methods = membersOf(types, "export declare interface Query extends", /^ {4}(\w+)\(/gm);
  const tests = readTests(suite);
  return [...options, ...methods.map((name) => `${name}()`)].map((name) => {
    const use = uses[name] ?? (name.endsWith("()") ? `\\.${name.slice(0, -2)}\\(` : `\\b${name}\\b\\s*[:,}]`);
    const test = tests.find(({ text }) => new RegExp(use).test(text))?.title;
    return { name, test, ...(others[name] ?? { verdict: "works", words: "" }) };
  });
}

/** Names that have a row of their own here and are none of the SDK's. */
export function staleNames(rows: readonly Row[]): string[] {
  return Object.keys(others).filter((name) => rows.every((row) => row.name !== name));
}

export function toTable(rows: readonly Row[]): string {
  const line = ({ name, verdict, words, test }: Row): string => {
    const shown = test === undefined || verdict === "the SDK's own" ? "" : `“${test}”`;
    return `| \`${name}\` | ${verdict} | ${[words, shown].filter(Boolean).join(": ")} |`.replaceAll(/(?<=\w)\|(?=\w)/g, "\\|");
  };
  return ["| option or method | verdict | what happens, and the test that shows it |", "|---|---|---|", ...rows.map(line)].join(
    "\n",
  );
}

const marks = { begin: "<!-- made by npm run test:sdk -- --write-table -->", end: "<!-- end of the table -->" };

/** The document with this table between its marks. */
export function withTable(document: string, table: string): string {
  const [before = "", rest = ""] = document.split(marks.begin);
  const [, after = ""] = rest.split(marks.end);
  return `${before}${marks.begin}\n\n${table}\n\n${marks.end}${after}`;
}

function membersOf(types: string, head: string, member: RegExp): string[] {
  const at = types.indexOf(head);
  if (at === -1) throw new Error(`The SDK no longer declares ${head}`);
  const names = [...types.slice(at, types.indexOf("\n}", at)).matchAll(member)].map(([, name = ""]) => name);
  return [...new Set(names)].sort((a, b) => (a < b ? -1 : 1));
}

/** Each test with its own lines: from its title to the next one's. */
function readTests(suite: string): { title: string; text: string }[] {
  const files = readdirSync(suite).filter((file) => file.endsWith(".suite.ts"));
  return files.sort().flatMap((file) => {
    const parts = readFileSync(join(suite, file), "utf8")
      .split(/^ {2}it\(\s*"/m)
      .slice(1);
    return parts.map((part) => ({ title: part.slice(0, part.indexOf('"')), text: part }));
  });
}
