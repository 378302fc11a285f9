import { isPlain, mayBeOption, type ShellWord } from "./shell-words.ts";

/**
 * The options of a program that are known to be harmless, as text: `-abc` letters without a value, `-n:` a letter with a value,
 * `-f@` a letter whose value is a file to read, `--long`, `--long:` and `--long@` the same for words, `--long?` with an optional `=value`,
 * `-#` a number, `*` whatever else there is.
 */
export type OptionSpec = {
  readonly flags: ReadonlySet<string>;
  readonly valued: ReadonlyMap<string, "text" | "file">;
  readonly optional: ReadonlySet<string>;
  readonly numbers: boolean;
  readonly any: boolean;
};

export type ReadOptions = {
  readonly operands: readonly ShellWord[];
  /** Options that were given, without their values. */
  readonly given: ReadonlySet<string>;
  readonly values: readonly { readonly option: string; readonly value: ShellWord }[];
  /** Files named by options. */
  readonly files: readonly ShellWord[];
};

const specs = new Map<string, OptionSpec>();

export function optionSpec(text: string): OptionSpec {
  const known = specs.get(text);
  if (known) return known;
  const spec = parseSpec(text);
  specs.set(text, spec);
  return spec;
}

function parseSpec(text: string): OptionSpec {
  const flags = new Set<string>();
  const valued = new Map<string, "text" | "file">();
  const optional = new Set<string>();
  for (const item of text.split(" ").filter(Boolean)) {
    const last = item.at(-1);
    const name = item.slice(0, -1);
    if (last === ":" || last === "@") valued.set(name, last === "@" ? "file" : "text");
    else if (last === "?") optional.add(name);
    else if (item.startsWith("--")) flags.add(item);
    else for (const letter of item.slice(1)) flags.add(`-${letter}`);
  }
  return { flags, valued, optional, numbers: text.includes("-#"), any: text.split(" ").includes("*") };
}

/** `loose`: no option does harm, so that a file with the name of one does none either. Undefined when an option is not among the known ones, or a word might turn out to be one. */
export function readOptions(words: readonly ShellWord[], spec: OptionSpec, loose = false): ReadOptions | undefined {
  const operands: ShellWord[] = [];
  const given = new Set<string>();
  const values: { option: string; value: ShellWord }[] = [];
  const files: ShellWord[] = [];
  const take = (option: string, value: ShellWord): void => {
    given.add(option);
    values.push({ option, value });
    if (spec.valued.get(option) === "file") files.push(value);
  };
  for (let at = 0; at < words.length; at++) {
    const word = words[at];
    if (!word) break;
    if (isPlain(word) && word.text === "--") {
      operands.push(...words.slice(at + 1));
      break;
    }
    if (!mayBeOption(word) || (loose && word.kind === "glob" && !word.text.startsWith("-"))) {
      operands.push(word);
      continue;
    }
    if (spec.any) {
      if (!isPlain(word)) operands.push(word);
      else given.add(word.text.replace(/=.*/s, ""));
      continue;
    }
    if (word.kind !== "exact" && !/^-[\w-]+=/.test(word.text) && !(word.text.startsWith("-") && !word.splits)) return undefined;
    const step = readOption(word, words[at + 1], spec);
    if (!step) return undefined;
    for (const option of step.flags) given.add(option);
    if (step.valued) take(step.valued.option, step.valued.value);
    if (step.usedNext) at++;
  }
  return { operands, given, values, files };
}

type Step = { flags: string[]; valued?: { option: string; value: ShellWord }; usedNext: boolean };

function readOption(word: ShellWord, next: ShellWord | undefined, spec: OptionSpec): Step | undefined {
  const { text } = word;
  if (text.startsWith("--")) {
    const equals = text.indexOf("=");
    const name = equals === -1 ? text : text.slice(0, equals);
    if (equals === -1 && word.kind !== "exact") return undefined;
    if (spec.valued.has(name)) {
      const value = equals === -1 ? next : { ...word, text: text.slice(equals + 1) };
      return value && !value.splits ? { flags: [], valued: { option: name, value }, usedNext: equals === -1 } : undefined;
    }
    if (spec.optional.has(name)) return { flags: [name], usedNext: false };
    return equals === -1 && spec.flags.has(name) ? { flags: [name], usedNext: false } : undefined;
  }
  if (spec.numbers && word.kind === "exact" && /^-\d+$/.test(text)) return { flags: ["-#"], usedNext: false };
  if (spec.flags.has(text) && text.length > 2) return { flags: [text], usedNext: false };
  const flags: string[] = [];
  for (let index = 1; index < text.length; index++) {
    const option = `-${text[index]}`;
    if (spec.valued.has(option)) {
      const attached = text.slice(index + 1);
      const value = attached !== "" || word.kind !== "exact" ? { ...word, text: attached } : next;
      if (!value || value.splits) return undefined;
      return { flags, valued: { option, value }, usedNext: attached === "" && word.kind === "exact" };
    }
    if (!spec.flags.has(option)) return undefined;
    flags.push(option);
  }
  return word.kind === "exact" && flags.length > 0 ? { flags, usedNext: false } : undefined;
}
