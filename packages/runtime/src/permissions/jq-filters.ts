/** A filter of jq that computes with what it is given: every word of it must be one that is understood to read nothing else, or be its own. */
export function isHarmlessJq(filter: string): boolean {
  return hasOnlyKnownWords(filter, jqWords);
}

/** The same for the two programs called yq. To one of them `.a-b` is a name, to the other a difference. */
export function isHarmlessYq(expression: string): boolean {
  const isOfName = (name: string): boolean => !name.split("-").some((part) => acting.has(part));
  return hasOnlyKnownWords(
    expression.replace(/\.[A-Za-z_]\w*(?:-\w+)+/g, (name) => (isOfName(name) ? ".name" : name)),
    yqWords,
  );
}

function hasOnlyKnownWords(filter: string, known: ReadonlySet<string>): boolean {
  const tokens = readTokens(filter);
  if (!tokens) return false;
  const own = ownWords(tokens);
  const open: string[] = [];
  return tokens.every((token, at) => {
    if (/^[([{]$/.test(token)) open.push(token);
    if (/^[)\]}]$/.test(token)) open.pop();
    if (token.startsWith("$")) return !/^\$(?:ENV$|__(?!loc__$))/.test(token);
    if (!/^[A-Za-z_]/.test(token) || known.has(token) || own.has(token)) return true;
    return open.at(-1) === "{" && isKey(tokens[at - 1], tokens[at + 1]);
  });
}

/** `{a, b: 1}`: names of what is made. */
function isKey(before: string | undefined, after: string | undefined): boolean {
  return /^[{,]$/.test(`${before}`) && /^[:,}]$/.test(`${after}`);
}

/** `def f(g; h): …`. A name of jq's own stays what it is. */
function ownWords(tokens: readonly string[]): ReadonlySet<string> {
  const own = new Set<string>();
  for (const [at, token] of tokens.entries()) {
    if (token !== "def") continue;
    for (const name of tokens.slice(at + 1, tokens.indexOf(":", at))) own.add(name);
  }
  return new Set([...own].filter((name) => !acting.has(name)));
}

const words = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/));

/** What a definition of its own must not be called: it might not count where the word stands. */
const acting = words(
  "env input_filename modulemeta get_search_list import include load load_str strload strenv envsubst eval system",
);

const common = `if then elif else end and or not as reduce foreach def try catch label break true false null
  length has in inside keys values map map_values path del to_entries from_entries with_entries select empty error add any all flatten range
  floor ceil round sqrt pow log tostring tonumber type sort sort_by group_by min max min_by max_by unique unique_by reverse contains index split
  join first last test match capture sub gsub ascii_downcase ascii_upcase downcase upcase trim ltrimstr rtrimstr getpath setpath delpaths paths
  pick walk tojson fromjson now recurse until limit startswith endswith debug`;

const jqWords = words(`${common}
  utf8bytelength keys_unsorted log2 log10 exp exp2 exp10 fabs abs trunc significand toarray infinite nan isinfinite isnan isnormal isvalid
  indices rindex combinations ltrim rtrim trimstr explode implode ascii while repeat recurse_down transpose input inputs stderr
  input_line_number truncate_stream fromstream tostream bsearch todate fromdate date dateadd datesub mktime gmtime localtime strftime
  strptime strflocaltime fromdateiso8601 todateiso8601 scan splits leaf_paths nth skip arrays objects iterables booleans numbers normals
  finites strings nulls scalars halt halt_error isempty getpath IN INDEX ascii builtins have_literal_numbers have_decnum ltrimstr limit`);

const yqWords = words(`${common}
  tag style kind anchor alias line column line_comment head_comment foot_comment comments document_index di parent key is_key explode
  to_json from_json to_yaml from_yaml to_props to_csv to_tsv to_xml sort_keys with ireduce pivot shuffle omit array_to_map to_number
  to_string filter collect splitDoc single`);

const pieces = {
  space: /\s+/y,
  // What a backslash at the end of a comment means depends on the version.
  comment: /#[^\n\r\\]*(?=\n|$)/y,
  // Older versions take space between the sign and the name.
  variable: /\$\s*[A-Za-z_][\w:]*/y,
  field: /\.[A-Za-z_]\w*|@[A-Za-z_]\w*/y,
  number: /\d[\w.]*|\.\d\w*/y,
  word: /[A-Za-z_]\w*(?:::\w+)*/y,
  sign: /[-+*/%<>=!?|,:;.()[\]{}&]/y,
};

/** Undefined where something is not understood. What is put into a text is part of the filter. */
function readTokens(filter: string): readonly string[] | undefined {
  const tokens: string[] = [];
  /** Open parentheses; `text` where one is part of a text, which goes on behind it. */
  const open: ("code" | "text")[] = [];
  let at = 0;
  const take = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    const [found] = pattern.exec(filter) ?? [];
    if (found !== undefined) at = pattern.lastIndex;
    return found;
  };
  const takeText = (): boolean => {
    take(/(?:\\[^(]|[^"\\])*/y);
    if (take(/\\\(/y) !== undefined) {
      open.push("text");
      tokens.push("(");
      return true;
    }
    return take(/"/y) !== undefined;
  };
  while (at < filter.length) {
    if (take(pieces.space) ?? take(pieces.comment)) continue;
    if (take(/"/y) !== undefined) {
      if (takeText()) continue;
      return undefined;
    }
    const variable = take(pieces.variable)?.replace(/\s/g, "");
    const token = variable ?? take(pieces.field) ?? take(pieces.number) ?? take(pieces.word) ?? take(pieces.sign);
    if (token === undefined) return undefined;
    tokens.push(token);
    if (token === "(") open.push("code");
    if (token === ")" && open.pop() === "text" && !takeText()) return undefined;
  }
  return tokens;
}
