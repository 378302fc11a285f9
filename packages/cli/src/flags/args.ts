import { existsSync } from "node:fs";
import { RuntimeError } from "@outrider/runtime";
import { nearest } from "@outrider/runtime/host";
import { choiceProblem } from "./choices.ts";
import { type Flag, type FlagName, type FlagValues, flags } from "./flags.ts";
import { refusedFlags } from "./refused-flags.ts";

export type Arguments = {
  readonly flags: FlagValues;
  readonly positionals: readonly string[];
  /** The prompt, where it stood behind `-p` and begins with a dash: with another one on stdin it was meant for a flag. */
  readonly dashed?: string;
};

/**
 * Command-line words to typed values. The grammar is Claude Code's, which no parser library offers:
 * `--flag value` and `--flag=value`, lists that take comma- or space-separated words until the next flag, repeated scalars where the last wins.
 */
export function parseArguments(argv: readonly string[]): Arguments {
  const values: Record<string, true | string | string[]> = {};
  const positionals: string[] = [];
  const words = [...argv];
  let flagsEnded = false;
  let behindPrint: string | undefined;
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    if (flagsEnded || word === "-" || !word.startsWith("-")) {
      positionals.push(word);
    } else if (word === "--") {
      flagsEnded = true;
    } else {
      const { flag, written, inline } = findFlag(word);
      if (flag.refused !== undefined) throw refusal(written, flag.refused);
      const value = readValue(flag, {
        ...{ written, inline, words, earlier: values[flag.name] },
        hasPrompt: positionals.length > 0 || values["input-format"] === "stream-json",
      });
      values[flag.name] = value;
      if (flag.name === "prompt") positionals.push(String(value));
      if (flag.name !== "print") continue;
      const next = readBehindPrint(words);
      if (next === "prompt" || (next === "doubtful" && !hasOtherPrompt(words))) {
        behindPrint = words.shift() ?? "";
        if (next === "doubtful" && !behindPrint.includes("=")) throw ambiguous(behindPrint, words);
        positionals.push(behindPrint);
      }
    }
  }
  const isBeside = positionals.length > 1 || values["input-format"] === "stream-json";
  if (behindPrint !== undefined && isBeside) refuseSlip(behindPrint);
  // Each value was read by its flag's own kind.
  return { flags: values as FlagValues, positionals, ...(behindPrint !== undefined && { dashed: behindPrint }) };
}

/** With a prompt beside it, a word behind `-p` that is spelled like a flag was no prompt but a flag with a slip in it, and what it limits is not lost. */
export function refuseSlip(word: string): void {
  const [written = ""] = word.split("=", 1);
  if (!/^--?[a-z][\w-]*$/i.test(written)) return;
  const hint = `If ${written} begins the prompt, put -- before it: outrider … -p -- PROMPT`;
  try {
    parseArguments([word]);
  } catch (error) {
    if (error instanceof RuntimeError) throw new RuntimeError("usage", error.message, { hint });
    throw error;
  }
  throw new RuntimeError("usage", `-p ${word}: this could be a flag or a prompt, and there is another prompt`, { hint });
}

/**
 * A script's `-p "$PROMPT"` must not let the prompt choose flags, and Claude Code's `-p --output-format json "…"` must work. So a word behind
 * `-p` is a flag only when it is spelled like one of ours. One that changes what may run counts only where the prompt comes from elsewhere.
 */
function readBehindPrint([word, value]: readonly string[]): "prompt" | "word" | "doubtful" {
  if (word === undefined || word === "-" || word === "--" || !word.startsWith("-")) return "word";
  const [written = "", inline] = word.split("=", 2);
  const flag = knownFlag(written);
  if (!flag) return Object.hasOwn(refusedFlags, word) ? "word" : "prompt";
  const takesValue = flag.kind !== "switch" && flag.kind !== "optional";
  if (takesValue && inline === undefined && (value === undefined || /^--?[a-z]\S*$/i.test(value))) throw withoutValue(flag, word);
  if (flag.kind === "switch" && inline !== undefined && !flag.filter) return "prompt";
  // In one word with its value, the author of the prompt controls all of it.
  const shapes = shapesOnly.has(flag.group) && !namesFile(flag);
  const goesOn = inline === undefined && (flag.group === "Session" || shapesInput.has(flag.name));
  return shapes || goesOn ? "word" : "doubtful";
}

/** Read on as if the first word were a flag: is there a prompt then? */
function hasOtherPrompt(words: readonly string[]): boolean {
  try {
    const { flags: given, positionals } = parseArguments(words);
    return positionals.length > 0 || (given["input-format"] === "stream-json" && !words[0]?.startsWith("--input-format"));
  } catch {
    return false; // what is wrong with the others is told when they are read
  }
}

/** Flags of these groups change how a run looks or how long it is, not what it may do. */
const shapesOnly: ReadonlySet<Flag["group"]> = new Set<Flag["group"]>(["Output", "Model", "Limits"]);
const shapesInput: ReadonlySet<string> = new Set(["print", "prompt", "input-format", "replay-user-messages"]);

function withoutValue(flag: Flag, word: string): RuntimeError {
  return new RuntimeError("usage", `-p ${word}: this could be a prompt, or a flag that lacks its value`, {
    hint: `For the flag: outrider ${word}=${flag.placeholder ?? "VALUE"} … -p. For the prompt: outrider … -p -- ${word}`,
  });
}

function ambiguous(word: string, others: readonly string[]): RuntimeError {
  parseArguments([word, ...others]); // a slip in one of the others hides the prompt, and is what is told then
  return new RuntimeError(
    "usage",
    `-p ${word}: this could be a flag or a prompt, and there is no other prompt on the command line`,
    {
      hint: `For the flag, put it before -p: outrider ${word} … -p. For the prompt: outrider -p -- ${word}`,
    },
  );
}

/** The value a flag was given anywhere, without judging the rest: for telling a failure in the format that was asked for. */
export function peekFlag(argv: readonly string[], name: FlagName): string | undefined {
  const end = argv.indexOf("--");
  const read = end === -1 ? argv : argv.slice(0, end);
  const at = read.findLastIndex(
    (word, index) => (word === `--${name}` || word.startsWith(`--${name}=`)) && read[index - 1] !== "--prompt",
  );
  const word = argv[at];
  if (word === undefined) return undefined;
  const next = read[at + 1];
  if (word.includes("=")) return word.slice(word.indexOf("=") + 1);
  return next === undefined || isFlagWord(next) ? undefined : next;
}

function findFlag(word: string): { flag: Flag; written: string; inline: string | undefined } {
  const equals = word.startsWith("--") ? word.indexOf("=") : -1;
  const written = equals === -1 ? word : word.slice(0, equals);
  const inline = equals === -1 ? undefined : word.slice(equals + 1);
  const flag = knownFlag(written);
  if (flag) return { flag, written, inline };
  const refused = Object.hasOwn(refusedFlags, written) ? refusedFlags[written] : undefined;
  if (refused !== undefined) throw refusal(written, refused);
  const offered = (flags as readonly Flag[]).filter((candidate) => candidate.refused === undefined);
  if (/\s/.test(written))
    throw new RuntimeError("usage", `A word that begins with a dash is taken for a flag: ${JSON.stringify(written)}`, {
      hint: "Put -- before a prompt that begins with a dash: outrider -p -- PROMPT",
    });
  const guess = nearest(written, offered.flatMap(spellings));
  throw new RuntimeError("usage", `Unknown flag ${written}.${guess ? ` Did you mean ${guess}?` : ""}`);
}

/** One word that is a flag of ours as it is written. */
function isFlagWord(word: string): boolean {
  return !/\s/.test(word) && knownFlag(word.split("=", 1)[0] ?? "") !== undefined;
}

function knownFlag(written: string): Flag | undefined {
  return (flags as readonly Flag[]).find((candidate) => spellings(candidate).includes(written));
}

function refusal(written: string, reason: string): RuntimeError {
  return new RuntimeError("usage", `${written} is not supported: ${reason}`);
}

function namesFile({ placeholder = "" }: Flag): boolean {
  return /FILE|DIR|JSON/.test(placeholder);
}

function spellings(flag: Flag): string[] {
  return [`--${flag.name}`, ...(flag.short ? [`-${flag.short}`] : []), ...(flag.aliases ?? []).map((alias) => `--${alias}`)];
}

/** Like Claude Code, but a prompt is never one of them: a word is only taken where another word is the prompt. */
function readMore({ inline, words, hasPrompt }: Reading): string[] {
  const more: string[] = [];
  if (inline !== undefined) return more;
  while (words[0] !== undefined && !words[0].startsWith("-")) {
    if (!hasPrompt && !(existsSync(words[0]) && hasOtherPrompt(words.slice(1)))) break;
    more.push(words.shift() ?? "");
  }
  return more;
}

type Reading = {
  written: string;
  inline: string | undefined;
  words: string[];
  earlier: true | string | string[] | undefined;
  hasPrompt: boolean;
};

function readValue(flag: Flag, reading: Reading): true | string | string[] {
  const { written, inline, words, earlier } = reading;
  if (flag.kind === "switch") {
    if (flag.filter && inline === undefined && words[0] !== undefined && flag.filter.test(words[0])) words.shift();
    if (inline !== undefined && !flag.filter) throw new RuntimeError("usage", `${written} takes no value`);
    return true;
  }
  if (flag.kind === "optional") {
    if (inline !== undefined) return inline;
    const [next] = words;
    if (next === undefined || next.startsWith("-") || /\s/.test(next)) return true;
    if (flag.filter?.test(next)) return words.shift() ?? true;
    // One word that is no prompt by its looks: `-w feature/login` is a name with a slip in it.
    if (/^[\w.~-]*[/\\][\w./\\~-]*$/.test(next))
      throw new RuntimeError(
        "usage",
        `${written}: ${JSON.stringify(next)} is no ${flag.placeholder ?? "value"}. If it is the prompt, put it before ${written}`,
      );
    return true;
  }
  const first = inline ?? words.shift();
  const takesFlag = first !== undefined && inline === undefined && flag.name !== "prompt" && isFlagWord(first);
  // A variable of a script that is not set must not name the current folder, or nothing, nor the flag behind it.
  const isMissing = first === undefined || (first === "" && namesFile(flag)) || takesFlag;
  if (isMissing)
    throw new RuntimeError("usage", `${written} needs a value: ${written} ${flag.placeholder ?? "VALUE"}`, {
      ...(first && { hint: `${first} is a flag. As a value it is written ${written}=${first}` }),
    });
  if (flag.kind === "value") return checkChoice(flag, written, first);
  if (flag.kind === "words")
    return [...(Array.isArray(earlier) ? earlier : []), first, ...(flag.variadic ? readMore(reading) : [])];
  const items = splitList(first);
  // Like Claude Code, a list takes the words that follow it; unlike it, it stops before a word that can be no rule, such as a prompt.
  while (inline === undefined && words[0] !== undefined && !words[0].startsWith("-") && isRuleList(words[0])) {
    items.push(...splitList(words.shift() ?? ""));
  }
  return [...(Array.isArray(earlier) ? earlier : []), ...items];
}

function checkChoice(flag: Flag, written: string, value: string): string {
  const problem = flag.open ? undefined : choiceProblem(flag.name as FlagName, value, written); // it is one of the list
  if (problem) throw problem;
  return value;
}

/** Splits at commas and spaces, but not inside parentheses. */
function splitList(text: string): string[] {
  return (text.match(/(?:[^\s,(]|\([^)]*\)?)+/g) ?? []).map((item) => item.trim()).filter(Boolean);
}

function isRuleList(text: string): boolean {
  return splitList(text).every((item) => /^[A-Z]\w*(?:\(.*\))?$|^mcp__[\w*-]+$/s.test(item));
}
