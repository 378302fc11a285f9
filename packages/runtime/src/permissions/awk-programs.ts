/** An awk program that computes, and prints to where its output goes. Every word and sign of it must be one that is understood to do no more. */
export function isHarmlessAwk(program: string): boolean {
  const tokens = readTokens(program);
  if (!tokens) return false;
  const own = new Set(tokens.flatMap(({ text }, at) => (/^func(?:tion)?$/.test(`${tokens[at - 1]?.text}`) ? [text] : [])));
  const isKnown = ({ type, text }: Token, at: number): boolean => {
    if (type === "sign") return !/^(?:\|&?|>>)$/.test(text);
    if (type !== "name") return true;
    const isCalled = tokens[at + 1]?.text === "(";
    return keywords.has(text) || functions.has(text) || own.has(text) || (!isCalled && isVariable(text));
  };
  return tokens.every(isKnown) && !printsToFile(tokens);
}

type Token = { readonly type: "name" | "value" | "sign" | "newline"; readonly text: string };

const words = (text: string): ReadonlySet<string> => new Set(text.split(" "));

const keywords = words(
  "BEGIN END BEGINFILE ENDFILE function func if else while for do break continue next nextfile exit return delete in print printf switch case default",
);

/** All but `system`, `close` and `fflush`, which only matter to programs that are run, and those of extensions. */
const functions = words(
  "length substr index split sub gsub gensub match sprintf sin cos atan2 exp log sqrt int rand srand tolower toupper strftime systime mktime " +
    "asort asorti patsplit strtonum and or xor lshift rshift compl isarray typeof",
);

const specialVariables = words(
  "NR NF FNR FS OFS RS ORS RT FILENAME SUBSEP RSTART RLENGTH CONVFMT OFMT IGNORECASE FIELDWIDTHS FPAT",
);

/** In capitals awk has variables of its own, which show and change more than the program: of those only the known. */
function isVariable(name: string): boolean {
  if (name === "getline") return false;
  return (
    specialVariables.has(name) || /[a-z]/.test(name) || /^_*[A-Z]{1,3}\d*$|^(?:TOTAL|COUNT|FOUND|LAST|PREV|NAME|LINE)$/.test(name)
  );
}

/** `print … > x` with the sign outside of all brackets; anywhere else it compares. */
function printsToFile(tokens: readonly Token[]): boolean {
  /** Brackets that are open since the last `print`, while that goes on. */
  let depth = noPrint;
  for (const [at, { type, text }] of tokens.entries()) {
    if (/^printf?$/.test(text)) depth = 0;
    if (/^[([]$/.test(text)) depth++;
    if (/^[)\]]$/.test(text)) depth--;
    if (depth === 0 && text === ">") return true;
    if (/^[;{}]$/.test(text) || (type === "newline" && depth === 0 && endsExpression(tokens[at - 1]))) depth = noPrint;
  }
  return false;
}

/** However many brackets are opened. */
const noPrint = Number.NEGATIVE_INFINITY;

/** A line may be broken behind anything else. */
function endsExpression(token: Token | undefined): boolean {
  return token !== undefined && (token.type !== "sign" || /^(?:[)\]]|\+\+|--)$/.test(token.text));
}

const pieces = {
  space: /(?:[ \t\r]|\\\r?\n)+/y,
  // What a backslash at the end of a comment means depends on the version.
  comment: /#[^\n\\]*(?=\n|$)/y,
  newline: /\n/y,
  string: /"(?:\\[\s\S]|[^"\\\n])*"/y,
  // Versions disagree about a slash in brackets.
  regex: /\/(?:\\.|\[\^?(?:\[:\w+:\]|\\.|[^\]\\\n/[])+\]|[^\\/[\n])*\//y,
  number: /(?:\d|\.\d)[\w.]*/y,
  name: /[A-Za-z_]\w*/y,
  sign: /\|&|>>|\*\*=?|\+\+|--|&&|\|\||[-+*/%^!<>=]=|!~|[-{}()[\];,+*/%^!<>~?:=$|]/y,
};

const kinds: readonly (readonly [keyof typeof pieces, Token["type"]])[] = [
  ["string", "value"],
  ["number", "value"],
  ["name", "name"],
  ["newline", "newline"],
  ["sign", "sign"],
];

/** Undefined where something is not understood. */
function readTokens(program: string): readonly Token[] | undefined {
  const tokens: Token[] = [];
  /** Of each open parenthesis: is it the condition of a statement? */
  const conditions: boolean[] = [];
  let slash: Slash = "regex";
  let at = 0;
  const take = (kind: keyof typeof pieces): string | undefined => {
    const pattern = pieces[kind];
    pattern.lastIndex = at;
    const [found] = pattern.exec(program) ?? [];
    if (found !== undefined) at = pattern.lastIndex;
    return found;
  };
  while (at < program.length) {
    if (take("space") ?? take("comment")) continue;
    let token: Token | undefined;
    for (const [kind, type] of program[at] === "/" ? slashes[slash] : kinds) {
      const text: string | undefined = token ? undefined : take(kind);
      if (text !== undefined) token = { type, text };
    }
    if (!token) return undefined;
    if (token.text === "(") conditions.push(/^(?:if|while|for|switch)$/.test(`${tokens.at(-1)?.text}`));
    const isCondition = token.text === ")" && conditions.pop() === true;
    slash = isCondition ? "regex" : slashAfter(token);
    tokens.push(token);
  }
  return tokens;
}

type Slash = "regex" | "sign" | "unclear";
const slashes: Readonly<Record<Slash, typeof kinds>> = { regex: [["regex", "value"]], sign: [["sign", "sign"]], unclear: [] };

/** Behind a value it divides, elsewhere it starts a pattern. */
function slashAfter({ type, text }: Token): Slash {
  if (type === "name") return /^(?:print|printf|return|exit|in|else|do|case)$/.test(text) ? "regex" : "sign";
  if (type === "value" || /^[)\]]$/.test(text)) return "sign";
  return /^(?:\+\+|--)$/.test(text) ? "unclear" : "regex";
}
