import type { Assignment, Command, ParameterExpansionPart, ParsedScript, Word, WordPart } from "unbash";

/** Letters by which bash, where no quotes keep it from that, takes a text for a pattern and puts names of files in its place. */
export const patternLetter: RegExp = /[*?[\\]/;

/** The variables a text is made of that holds no letter of a pattern beside theirs; undefined when it may hold one. */
export function plainNames(value: Word | Assignment["value"]): readonly string[] | undefined {
  if (value.type === "ArrayValue") return allPlain(value.elements.map(plainNames));
  if (!value.parts) return patternLetter.test(value.value) ? undefined : [];
  return allPlain(value.parts.map(plainNamesOfPart));
}

export function plainNamesOfPart(part: WordPart): readonly string[] | undefined {
  switch (part.type) {
    case "Literal":
    case "SingleQuoted":
    case "AnsiCQuoted":
      return patternLetter.test(part.value) ? undefined : [];
    case "DoubleQuoted":
    case "LocaleString":
      return allPlain(part.parts.map(plainNamesOfPart));
    case "BraceExpansion":
      return patternLetter.test(part.text) || /[$`]/.test(part.text) ? undefined : [];
    case "SimpleExpansion":
      return [part.text.slice(1)];
    case "ParameterExpansion":
      return namesOfExpansion(part);
    case "CommandExpansion":
      return part.script && namesOfOutput(part.script);
    case "ArithmeticExpansion":
    case "ProcessSubstitution":
      return [];
    case "Glob":
    case "ExtendedGlob":
      return undefined;
  }
}

/** Cutting a text adds no letter to it; a default or a replacement may. */
function namesOfExpansion({ prefix, parameter, operation }: ParameterExpansionPart): readonly string[] | undefined {
  if (prefix !== undefined) return prefix === "#" ? [] : undefined;
  switch (operation?.type) {
    case undefined:
    case "Remove":
    case "Slice":
    case "CaseModification":
      return [parameter];
    case "Default":
      return allPlain([[parameter], plainNames(operation.operand)]);
    case "Replace":
      return allPlain([[parameter], plainNames(operation.replacement)]);
    default:
      return undefined;
  }
}

/** What the last command prints, where that is its own words, numbers, dates, and names of the machine or of commits. */
function namesOfOutput(script: ParsedScript): readonly string[] | undefined {
  const [statement, ...more] = script.commands;
  if (!statement || more.length > 0 || statement.background || script.errors?.length) return undefined;
  const { command } = statement;
  const last = command.type === "Pipeline" ? command.commands.at(-1) : command;
  if (last?.type !== "Command" || last.name?.parts || last.prefix.length > 0) return undefined;
  const names = allPlain(last.args.map((argument) => plainNames(argument.type === "Word" ? argument : argument.value)));
  return names && printsItsWords(last) ? names : undefined;
}

function printsItsWords({ name, args }: Command): boolean {
  const words = args.map(({ text }) => text).join(" ");
  switch (name?.value) {
    case "echo":
    case "printf":
    case "basename":
    case "dirname":
    case "date":
    case "seq":
    case "nproc":
    case "whoami":
    case "hostname":
    case "uname":
    case "arch":
    case "pwd":
      return true;
    case "id":
      return /^-[ugnrG]+$/.test(words);
    case "wc":
      return /^-[lwcm]+$/.test(words);
    case "grep":
      return /(?:^| )-\w*c/.test(words) && !/(?:^| )-\w*[rRHf]|--/.test(words);
    case "git":
      return gitNames.test(words);
    default:
      return false;
  }
}

/** Names that git lets no commit, branch or tag have with such a letter, and numbers. */
const gitNames =
  /^(?:rev-parse(?: (?:--(?:short|verify|abbrev-ref|quiet|show-toplevel)(?:=\d+)?|-q|[\w./~^@-]+))+|branch --show-current|rev-list --count [\w./~^@ -]+|merge-base [\w./~^@-]+ [\w./~^@-]+|log -1 (?:--date=\w+ )?(?:--format|--pretty)=["']?(?:%[hHtTpP]|%[ac][dtisI]|[\w .:/-])+["']?)$/;

/** Undefined where one of them is. */
export function allPlain(parts: readonly (readonly string[] | undefined)[]): readonly string[] | undefined {
  return parts.every((part) => part !== undefined) ? parts.flat() : undefined;
}
