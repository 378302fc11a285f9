// Writes docs/api: every published name with its declaration, from the declarations that the build made. `--check` only says whether the
// files are up to date. TypeScript 7 has no interface for programs, so the declarations are read with a parser.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parse } from "@babel/parser";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const runtime = join(root, "packages/runtime");
const folder = join(root, "docs/api");
const { exports: published } = JSON.parse(readFileSync(join(runtime, "package.json"), "utf8"));

const kinds = { class: "Classes", function: "Functions", value: "Values", type: "Types" };
const files = new Map();
const modules = new Map();

const parts = Object.entries(published).map(([subpath, { types }]) => describePart(subpath, join(runtime, types)));
for (const { file, text } of parts) files.set(file, text);
files.set("README.md", overview(parts));

const stale = [...files].filter(([name, text]) => read(join(folder, name)) !== text).map(([name]) => name);
const gone = existing().filter((name) => !files.has(name));
if (process.argv.includes("--check")) {
  if (stale.length + gone.length > 0) {
    console.error(`docs/api is out of date (${[...stale, ...gone].join(", ")}): run npm run build, then npm run api`);
    process.exit(1);
  }
} else {
  mkdirSync(folder, { recursive: true });
  for (const name of gone) rmSync(join(folder, name));
  for (const [name, text] of files) writeFileSync(join(folder, name), text);
  console.log(`docs/api: ${files.size} files, ${parts.reduce((sum, { names }) => sum + names.length, 0)} names`);
}

function describePart(subpath, path) {
  const name = subpath === "." ? "index" : subpath.slice(2);
  const specifier = join("@outrider/runtime", subpath);
  const { text, ast } = load(path);
  const intro = commentBefore(ast.program.body[0]) ?? "";
  const names = ast.program.body
    .flatMap((statement) => statement.specifiers?.map((one) => exported(one, statement, path)) ?? [])
    .sort((one, other) => (one.name.toLowerCase() < other.name.toLowerCase() ? -1 : 1));
  if (names.length === 0) throw new Error(`${path} exports nothing: ${text.slice(0, 200)}`);
  const sections = Object.entries(kinds).flatMap(([kind, title]) => {
    const own = names.filter((one) => one.kind === kind);
    return own.length === 0 ? [] : [`## ${title}\n`, ...own.map(entry)];
  });
  const head = `# ${specifier}\n\n${intro}\n\nGenerated from the declarations by \`npm run api\`; do not edit.\n`;
  return { file: `${name}.md`, name, specifier, intro, names, text: `${[head, ...sections].join("\n").trim()}\n` };
}

function entry({ name, comment, declarations }) {
  return [`### ${name}\n`, ...(comment ? [`${comment}\n`] : []), "```ts", declarations.join("\n\n"), "```\n"].join("\n");
}

function overview(all) {
  const rows = all.map(
    ({ file, specifier, intro, names }) => `| [${specifier}](${file}) | ${names.length} | ${intro.replaceAll("\n", " ")} |`,
  );
  return [
    "# The published names of @outrider/runtime",
    "",
    "Generated from the declarations by `npm run api`; do not edit. How they are used: [the guide](../library.md). What may change: [versioning](../versioning.md).",
    "",
    "| import | names | what it is |",
    "|---|---|---|",
    ...rows,
    "",
  ].join("\n");
}

function exported(specifier, statement, path) {
  const local = specifier.local.name;
  const found = find(local, resolve(dirname(path), statement.source.value));
  const name = specifier.exported.name;
  return { name, ...found, ...(name !== local && { declarations: [`// the same as ${local}`, ...found.declarations] }) };
}

/** The declarations of a name in a module, wherever it comes from. */
function find(name, source) {
  const { text, ast, path } = load(source.replace(/\.ts$/, ".d.ts"));
  const own = [];
  for (const statement of ast.program.body) {
    if (statement.type !== "ExportNamedDeclaration") continue;
    const passedOn = statement.specifiers?.find((one) => one.exported?.name === name);
    if (passedOn && statement.source) return find(passedOn.local.name, resolve(dirname(path), statement.source.value));
    const { declaration } = statement;
    if (!declaration) continue;
    const declared = declaration.declarations?.map(({ id }) => id.name) ?? [declaration.id?.name];
    if (declared.includes(name)) own.push({ statement, declaration });
  }
  if (own.length === 0) throw new Error(`${name} is not declared in ${path}`);
  const comment = own.map(({ statement }) => commentBefore(statement)).find((words) => words !== undefined);
  return {
    kind: kindOf(own[0].declaration),
    comment,
    declarations: [
      ...own.map(({ statement }) => plain(text.slice(statement.start, statement.end))),
      ...own.flatMap(({ declaration }) => baseOf(declaration, { ast, path })),
    ],
  };
}

/** What a class of ours inherits is a part of it, though the class it inherits from has no published name. */
function baseOf({ superClass }, { ast, path }) {
  for (const { type, specifiers, source } of ast.program.body) {
    const base = type === "ImportDeclaration" && specifiers.find(({ local }) => local.name === superClass?.name);
    if (!base) continue;
    const [declaration, ...more] = find(base.imported.name, resolve(dirname(path), source.value)).declarations;
    return [declaration.replace(`class ${base.imported.name}`, `class ${superClass.name}`), ...more];
  }
  return [];
}

function kindOf({ type }) {
  if (type === "ClassDeclaration") return "class";
  if (type === "TSDeclareFunction") return "function";
  return type === "VariableDeclaration" ? "value" : "type";
}

/** As somebody would write it, without what only compilers need. */
function plain(declaration) {
  return declaration
    .replace(/^export (declare )?/, "")
    .replace(/^ {4}#private;\n/gm, "")
    .replace(/import\("[^"]*"\)\./g, "")
    .replace(/^( {4})+/gm, (spaces) => " ".repeat(spaces.length / 2));
}

function commentBefore(node) {
  const comment = node?.leadingComments?.filter(({ value }) => value.startsWith("*")).at(-1);
  return comment?.value
    .replace(/^\*/, "")
    .split("\n")
    .map((line) => line.replace(/^\s*\* ?/, "").trim())
    .join("\n")
    .trim();
}

function load(path) {
  const known = modules.get(path);
  if (known) return known;
  const text = readFileSync(path, "utf8");
  const module = {
    path,
    text,
    ast: parse(text, { sourceType: "module", plugins: [["typescript", { dts: true }]], attachComment: true }),
  };
  modules.set(path, module);
  return module;
}

function read(path) {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

function existing() {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
