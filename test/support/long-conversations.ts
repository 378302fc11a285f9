import type { EventBody } from "../../packages/runtime/src/protocol/events.ts";
import { answer, prompt } from "./compaction-bench.ts";

/**
 * Conversations of the kind that outgrow a window, made in the proportions of recorded ones: mostly reads and searches with long results, then
 * commands, then edits, a list of what is to be done now and then, and a few words of the model.
 */
export type LongConversation = {
  readonly name: string;
  /** The part before each time the context gets full. */
  readonly parts: readonly (readonly EventBody[])[];
  /** What somebody who goes on with the work must be able to answer. */
  readonly questions: readonly Question[];
};

export type Question = {
  readonly ask: string;
  readonly answer: RegExp;
  /** `always`: whatever the model writes into its summary. `told`: the model that summarises has been told it. */
  readonly survives: "always" | "told";
};

let calls = 0;

type Step = {
  readonly name: string;
  readonly input: unknown;
  readonly result: string;
  readonly say?: string;
  readonly fails?: boolean;
};

function step({ name, input, result, say = "", fails = false }: Step): EventBody[] {
  const callId = `call-${++calls}`;
  const content = [{ type: "text" as const, text: result }];
  return [
    answer(say, 0, [{ type: "tool-call", callId, name, input }]),
    { type: "tool.started", callId, name, input },
    {
      ...{ type: "tool.ended", callId, name, status: fails ? "error" : "ok", durationMs: 1 },
      result: { type: "tool-result", callId, name, content, isError: fails },
    } as EventBody,
  ];
}

const filler = (words: string, lines: number): string =>
  Array.from({ length: lines }, (_, line) => `${line + 1}\t${words} ${(line * 7919) % 1000}`).join("\n");

/** Looking around: what most calls are. */
function looks(count: number, about: string): EventBody[] {
  return Array.from({ length: count }, (_, index) =>
    index % 3 === 0
      ? step({ name: "Grep", input: { pattern: `${about}${index}` }, result: filler(`src/${about}.ts: match`, 25) })
      : step({ name: "Read", input: { file_path: `src/${about}/file${index}.ts` }, result: filler(`const ${about}`, 120) }),
  ).flat();
}

const edit = (file_path: string, say: string): EventBody[] =>
  step({ name: "Edit", input: { file_path, old_string: "a", new_string: "b" }, result: "Changed.", say });
const run = (command: string, result: string, fails = false): EventBody[] =>
  step({ name: "Bash", input: { command }, result, fails });
const todos = (...items: readonly (readonly [string, string])[]): EventBody[] =>
  step({ name: "TodoWrite", input: { todos: items.map(([content, status]) => ({ content, status })) }, result: "Kept." });

export const longConversations: readonly LongConversation[] = [
  {
    name: "a bug that takes a long look",
    parts: [
      [
        prompt("Parsing of nested quotes fails. Mend it, but never touch the public names in src/index.ts."),
        ...looks(20, "parser"),
        answer(
          "The tokenizer loses its depth. I decided for a stack instead of a counter, because quotes of two kinds can nest.",
        ),
        prompt("Good. Do it with the stack."),
        ...edit("src/tokenizer.ts", "The tokenizer gets a stack of open quotes."),
        ...edit("src/parser.ts", "The parser asks the stack for its depth."),
        ...run("npm test -- parser", "1 passing", false),
        ...run("npm test -- quotes", `${filler("ok", 400)}\nnot ok 17 - keeps mixed quotes\nexpected depth 2, got 1`, true),
        ...todos(
          ["Stack in the tokenizer", "completed"],
          ["Mend quotes test 17", "in_progress"],
          ["Add a test for mixed quotes", "pending"],
        ),
        ...looks(20, "quotes"),
        prompt("Go on."),
        ...looks(4, "rest"),
      ],
    ],
    questions: [
      { ask: "what must not be touched?", answer: /never touch the public names in src\/index\.ts/, survives: "always" },
      {
        ask: "which files were changed?",
        answer: /changed: "src\/tokenizer\.ts".*\nchanged: "src\/parser\.ts"/,
        survives: "always",
      },
      {
        ask: "why was the tokenizer changed?",
        answer: /src\/tokenizer\.ts" — "The tokenizer gets a stack of open quotes/,
        survives: "always",
      },
      {
        ask: "which test fails, and how?",
        answer: /failing: "npm test -- quotes" — ".*expected depth 2, got 1/,
        survives: "always",
      },
      {
        ask: "what is open?",
        answer: /todo: "Mend quotes test 17" — "in_progress"\ntodo: "Add a test for mixed quotes"/,
        survives: "always",
      },
      {
        ask: "what was decided, and why?",
        answer: /stack instead of a counter, because quotes of two kinds can nest/,
        survives: "told",
      },
      { ask: "what did the failing test say?", answer: /not ok 17/, survives: "told" },
    ],
  },
  {
    name: "work that is summarised twice",
    parts: [
      [
        prompt("Move the settings to TOML. Answers in Danish, please."),
        ...looks(20, "settings"),
        ...edit("src/settings/load.ts", "TOML is read beside JSON."),
        ...run("cargo test settings", "error: no method named `table`", true),
        ...run("cargo fmt --check", "Diff in src/old.rs", true),
        ...todos(["Read TOML", "completed"], ["Write TOML", "pending"], ["Tell users", "pending"]),
        ...looks(20, "toml"),
        prompt("Keep JSON readable for a year."),
        ...looks(3, "json"),
      ],
      [
        ...run("cargo fmt --check", "", false),
        ...edit("src/settings/save.ts", "Saving writes TOML."),
        ...todos(["Write TOML", "completed"], ["Tell users", "in_progress"]),
        ...looks(40, "later"),
        prompt("And now?"),
        ...looks(3, "end"),
      ],
    ],
    questions: [
      { ask: "in which language are answers?", answer: /Answers in Danish, please/, survives: "always" },
      { ask: "what about JSON?", answer: /Keep JSON readable for a year/, survives: "always" },
      { ask: "what was changed before the first summary?", answer: /changed: "src\/settings\/load\.ts"/, survives: "always" },
      { ask: "and after it?", answer: /changed: "src\/settings\/save\.ts" — "Saving writes TOML/, survives: "always" },
      {
        ask: "what still fails?",
        answer: /failing: "cargo test settings" — "error: no method named `table`"/,
        survives: "always",
      },
      { ask: "what is open by the last list?", answer: /^todo: "Tell users" — "in_progress"\nfailing/m, survives: "always" },
    ],
  },
  {
    name: "patches of several files, and edits that failed",
    parts: [
      [
        prompt("Rename Widget to Gadget everywhere."),
        ...looks(30, "widget"),
        ...step({
          ...{ name: "apply_patch", result: "Changed.", say: "The class and its test are renamed." },
          input: {
            input: "*** Begin Patch\n*** Update File: lib/widget.py\n@@\n-a\n+b\n*** Add File: lib/gadget.py\n+x\n*** End Patch",
          },
        }),
        ...step({
          name: "Edit",
          input: { file_path: "lib/broken.py", old_string: "q", new_string: "r" },
          result: "Not found",
          fails: true,
        }),
        ...looks(30, "gadget"),
        prompt("Is that all?"),
        ...looks(3, "docs"),
      ],
    ],
    questions: [
      {
        ask: "what was changed by the patch?",
        answer: /changed: "lib\/widget\.py".*\nchanged: "lib\/gadget\.py" — "The class and its test are renamed/,
        survives: "always",
      },
      { ask: "was the edit that failed a change?", answer: /^(?![\s\S]*changed: "lib\/broken\.py")/, survives: "always" },
      { ask: "what was asked first?", answer: /Rename Widget to Gadget everywhere/, survives: "always" },
    ],
  },
];
