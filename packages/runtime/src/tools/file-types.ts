/** The file types Grep knows by name. One table for both ways of searching, so that they agree. */
const extensions: Readonly<Record<string, string>> = {
  asm: "asm s S",
  astro: "astro",
  c: "c h",
  clojure: "clj cljs cljc edn",
  cpp: "cpp cc cxx c++ hpp hh hxx h++ h inl ipp",
  cs: "cs",
  css: "css scss sass less",
  csv: "csv tsv",
  dart: "dart",
  elixir: "ex exs heex eex leex",
  elm: "elm",
  erlang: "erl hrl",
  fsharp: "fs fsi fsx",
  go: "go",
  graphql: "graphql graphqls gql",
  groovy: "groovy gradle",
  haskell: "hs lhs",
  html: "html htm xhtml",
  java: "java",
  js: "js jsx mjs cjs vue",
  json: "json jsonc json5 jsonl ndjson",
  julia: "jl",
  kotlin: "kt kts",
  lua: "lua",
  markdown: "md mdx markdown",
  nix: "nix",
  objc: "m mm h",
  ocaml: "ml mli",
  perl: "pl pm t",
  php: "php phtml",
  protobuf: "proto",
  py: "py pyi pyw",
  r: "r R Rmd",
  ruby: "rb gemspec rake erb",
  rust: "rs",
  scala: "scala sbt sc",
  sh: "sh bash zsh ksh fish",
  sql: "sql",
  svelte: "svelte",
  svg: "svg",
  swift: "swift",
  tex: "tex sty cls bib",
  tf: "tf tfvars hcl",
  toml: "toml",
  ts: "ts tsx mts cts",
  txt: "txt",
  vue: "vue",
  xml: "xml xsd xsl xslt svg plist",
  yaml: "yaml yml",
  zig: "zig zon",
};

const names: Readonly<Record<string, readonly string[]>> = {
  cmake: ["CMakeLists.txt", "*.cmake"],
  docker: ["Dockerfile", "Dockerfile.*", "*.dockerfile"],
  make: ["Makefile", "makefile", "GNUmakefile", "*.mk"],
  ruby: ["Gemfile", "Rakefile"],
};

const aliases: Readonly<Record<string, string>> = {
  bash: "sh",
  csharp: "cs",
  golang: "go",
  javascript: "js",
  jsx: "js",
  kt: "kotlin",
  md: "markdown",
  python: "py",
  rb: "ruby",
  rs: "rust",
  terraform: "tf",
  tsx: "ts",
  typescript: "ts",
  yml: "yaml",
};

/** Patterns for file names (not paths), or undefined for a type nobody knows. */
export function namesOfType(type: string): string[] | undefined {
  const known = Object.hasOwn(aliases, type) ? (aliases[type] ?? type) : type;
  const byExtension = Object.hasOwn(extensions, known) ? (extensions[known] ?? "").split(" ") : [];
  const byName = Object.hasOwn(names, known) ? (names[known] ?? []) : [];
  const patterns = [...byExtension.map((extension) => `*.${extension}`), ...byName];
  return patterns.length > 0 ? patterns : undefined;
}

export function knownTypes(): string[] {
  return [...new Set([...Object.keys(extensions), ...Object.keys(names)])].sort();
}
