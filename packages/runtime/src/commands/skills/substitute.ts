/** What placeholders in the text of a skill stand for. */
export type SkillPromptContext = {
  /** As they were typed. */
  readonly args?: string | undefined;
  /** Names for the arguments, in their order. */
  readonly argumentNames?: readonly string[] | undefined;
  /** `${NAME}` and `$NAME` of these, such as `CLAUDE_SESSION_ID`. What is not among them stays as it is. */
  readonly variables?: Readonly<Record<string, string>> | undefined;
};

const placeholder =
  /(?<!\\)\\\$(ARGUMENTS\[\d+\]|\d+|[A-Za-z_]\w*)|\$ARGUMENTS\[(\d+)\]|\$ARGUMENTS|\$(\d+)(?!\w)|\$\{([A-Za-z_]\w*|user_config\.\w+)\}|\$([A-Za-z_]\w*)/g;

/**
 * Puts arguments and variables in the place of `$ARGUMENTS`, `$ARGUMENTS[N]`, `$N` (from 0), `$name` and `${NAME}`, in one pass: what an
 * argument holds is data, whatever it looks like. `\$1` is `$1`; after two backslashes it is an argument. Arguments that no placeholder asks for are added at the end.
 */
export function substituteVariables(text: string, context: SkillPromptContext): string {
  const { text: made, asked } = substitute(text, context);
  return asked ? made : made + unaskedArguments(context);
}

/** Arguments that no placeholder asks for. */
export function unaskedArguments({ args = "" }: SkillPromptContext): string {
  return args.trim() === "" ? "" : `\n\nARGUMENTS: ${args}`;
}

/** The same for a part of a text, and whether it asks for an argument. */
export function substitute(
  text: string,
  { args = "", argumentNames = [], variables = {} }: SkillPromptContext,
): { readonly text: string; readonly asked: boolean } {
  const values = splitArguments(args);
  let asked = false;
  const made = text.replace(placeholder, (whole: string, ...groups: (string | undefined)[]) => {
    const [escaped, index, number = index, braced, name] = groups;
    if (escaped !== undefined) return isArgument(escaped, argumentNames) ? `$${escaped}` : whole;
    if (whole === "$ARGUMENTS") {
      asked = true;
      return args;
    }
    if (number !== undefined) {
      asked = true;
      return values[Number(number)] ?? whole;
    }
    if (braced !== undefined) return own(variables, braced) ?? whole;
    const at = argumentNames.indexOf(name ?? "");
    if (at < 0) return own(variables, name ?? "") ?? whole;
    asked = true;
    return values[at] ?? "";
  });
  return { text: made, asked };
}

function isArgument(word: string, names: readonly string[]): boolean {
  return /^(?:ARGUMENTS\b|\d)/.test(word) || names.includes(word);
}

function own(variables: Readonly<Record<string, string>>, name: string): string | undefined {
  return Object.hasOwn(variables, name) ? variables[name] : undefined;
}

/** As a shell would cut them: quotes hold words together. A quote that is not closed is a character like any other. */
export function splitArguments(args: string): string[] {
  const found = args.matchAll(/(?:"(?:\\.|[^"\\])*"|'[^']*'|\\.|[^\s"'\\]|["'\\])+/gs);
  return [...found].map(([word]) =>
    word.replace(/"((?:\\.|[^"\\])*)"|'([^']*)'|\\(.)/gs, (_, double?: string, single?: string, escaped?: string) => {
      return double !== undefined ? double.replace(/\\(["\\$`])/g, "$1") : (single ?? escaped ?? "");
    }),
  );
}
