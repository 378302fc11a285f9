import { readFileSync, realpathSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { AgentDefinition } from "../tasks/agent-definition.ts";
import type { McpServerConfigs } from "../tools/mcp/server-config.ts";
import type { SessionOptions } from "../session/session-options.ts";
import { isInside } from "../util/is-inside.ts";

/** Something that is started outside of any box: a program with its words, or a line for a shell. */
type Started = { readonly line: string; readonly env: Readonly<Record<string, string>> };
/** Where a line is read: what its paths start at, and the file it stands in. */
type Place = { readonly root: string; readonly cwd: string; readonly file?: string };

const maxFiles = 200;
const maxBytes = 256 * 1024;

type Starters = Pick<SessionOptions, "cwd" | "hookSettings" | "hooks" | "permissions"> & {
  readonly agents?: readonly AgentDefinition[] | undefined;
};

/** Hooks, servers and helpers run outside of any box: the scripts of the project that they run are protected as settings are. */
export function protectScripts<T extends Starters>(options: T, servers: McpServerConfigs, helper: string | undefined): T {
  const { cwd = ".", hookSettings, hooks, agents = [], permissions } = options;
  const started = [
    ...(hookSettings?.sources ?? []).flatMap(({ value, trusted }) => (trusted ? startedIn(value) : [])),
    ...startedIn(hooks),
    ...agents.flatMap((agent) => [...startedIn(agent.hooks), ...startedIn(agent.mcpServers)]),
    ...[...servers.values()].flatMap((server) => startedIn(server)),
    ...(helper === undefined ? [] : [{ line: helper, env: {} }]),
  ];
  const files = scriptsRunBy(started, realPath(resolve(cwd)));
  if (files.length === 0) return options;
  return { ...options, permissions: { ...permissions, runOutside: [...(permissions?.runOutside ?? []), ...files] } };
}

/** Whatever has a `command`, wherever it stands. */
function startedIn(value: unknown, env: Started["env"] = {}): Started[] {
  if (Array.isArray(value)) return value.flatMap((item) => startedIn(item, env));
  if (value instanceof Map) return startedIn([...value.values()], env);
  if (typeof value !== "object" || value === null) return [];
  const { command, args, env: own, headersHelper } = value as Readonly<Record<string, unknown>>;
  const known = { ...env, ...(typeof own === "object" ? (own as Started["env"]) : {}) };
  const words = Array.isArray(args) ? args.map((word) => `'${String(word)}'`) : [];
  const lines = [
    ...(typeof command === "string" ? [[command, ...words].join(" ")] : []),
    ...(typeof headersHelper === "string" ? [headersHelper] : []),
  ];
  return [...lines.map((line) => ({ line, env: known })), ...Object.values(value).flatMap((inner) => startedIn(inner, known))];
}

/** The files below `root` that these lines run, and what those load in turn, as far as it is written out. */
export function scriptsRunBy(started: readonly Started[], root: string): string[] {
  const found = new Set<string>();
  const open: string[] = [];
  const add = (path: string): void => {
    const real = fileAt(path);
    if (real === undefined || !isInside(root, real) || found.has(real) || found.size >= maxFiles) return;
    found.add(real);
    open.push(real);
  };
  for (const { line, env } of started) for (const path of runIn(spell(line, root, env), { root, cwd: root })) add(path);
  // The loop also walks what it appends: scripts of scripts.
  for (const file of open) for (const path of loadedBy(file, root)) add(path);
  return [...found];
}

function spell(line: string, root: string, env: Started["env"]): string {
  const variables = { CLAUDE_PROJECT_DIR: root, OUTRIDER_PROJECT_DIR: root, PWD: root, ...env };
  return line.replaceAll(/\$\{?([A-Z_]\w*)\}?/g, (whole, name: string) =>
    String(Object.hasOwn(variables, name) ? variables[name as "PWD"] : whole),
  );
}

const separators = /&&|\|\||\$\(|[;|&\n(){}`]/;
/** What stands before a program. */
const before =
  /^(?:\w+=.*|-.*|\d+[smhd]?|if|then|else|elif|do|while|until|!|exec|command|builtin|env|nice|nohup|time|timeout|sudo|xargs|setsid|npx|bunx|uvx|uv|poetry|pipenv|rye|run)$/;
const interpreters = /^(?:(?:ba|da|k|z|fi)?sh|node|deno|bun|tsx|ts-node|(?:python|pypy)[\d.]*|ruby|perl|php|pwsh|osascript)$/;
const ownFolder =
  /["']?(?:\$\(\s*dirname\s+(?:--\s+)?["']?(?:\$0|\$\{?BASH_SOURCE(?:\[0\])?\}?)["']?\s*\)|\$\{(?:0|BASH_SOURCE(?:\[0\])?)%\/\*\})["']?/g;

/** Paths that a line of a shell runs or reads as a script. Read as its author means it: who wrote it may run things here anyway. */
function runIn(text: string, { root, cwd, file }: Place): string[] {
  const here = file === undefined ? cwd : dirname(file);
  const found: string[] = [];
  let folder = cwd;
  for (const part of text.replaceAll(ownFolder, here).split(separators)) {
    const words = part
      .split(/\s+/)
      .map((word) => word.replaceAll(/["'\\]/g, ""))
      .filter(Boolean);
    const at = words.findIndex((word) => !before.test(word));
    const [program = "", ...rest] = at === -1 ? [] : words.slice(at);
    const [first = ""] = rest;
    if (program === "cd") folder = resolve(folder, first || root);
    else if (program === "." || program === "source") found.push(resolve(folder, first), resolve(here, first));
    else if (interpreters.test(program.slice(program.lastIndexOf("/") + 1))) found.push(...scriptsGiven(rest, folder));
    if (program.includes("/")) found.push(resolve(folder, program));
  }
  return found;
}

/** Of an interpreter: its script, and what its options load. */
function scriptsGiven(words: readonly string[], folder: string): string[] {
  const found: string[] = [];
  for (const [index, word] of words.entries()) {
    const next = words[index + 1] ?? "";
    const [, attached] = /^-\w*m(.*)$/s.exec(word) ?? [];
    if (attached !== undefined) found.push(...moduleFiles(attached || next, folder));
    if (/^(?:-r|--require|--import|--loader)$/.test(word)) found.push(resolve(folder, next));
    const [, value] = /^--(?:require|import|loader)=(.*)$/s.exec(word) ?? [];
    if (value !== undefined) found.push(resolve(folder, value));
    if (word.startsWith("-") || word === "run") continue;
    found.push(resolve(folder, word));
    if (!/^(?:-m|-r|--require|--import|--loader)$/.test(words[index - 1] ?? "")) break;
  }
  return found;
}

function moduleFiles(module: string, folder: string): string[] {
  const path = join(folder, ...module.split("."));
  return [`${path}.py`, join(path, "__main__.py"), join(path, "__init__.py")];
}

function loadedBy(file: string, root: string): string[] {
  const text = textOf(file);
  if (/\.[cm]?[jt]sx?$/.test(file) || /^#!.*\b(?:node|deno|bun|tsx)\b/.test(text)) {
    const names = [...text.matchAll(/(?:\bfrom|\bimport|\brequire)\s*\(?\s*["'](\.[^"']*)["']/g)].map(([, name = ""]) => name);
    return names.flatMap((name) =>
      ["", ".js", ".mjs", ".cjs", ".ts", "/index.js", "/index.ts"].map((end) => resolve(dirname(file), `${name}${end}`)),
    );
  }
  if (/\.py$/.test(file) || /^#!.*\bpython/.test(text)) {
    const names = [...text.matchAll(/^\s*(?:from|import)\s+\.*([\w.]+)/gm)].map(([, name = ""]) => name);
    return names.flatMap((name) => [...moduleFiles(name, dirname(file)), ...moduleFiles(name, root)]);
  }
  if (/\.(?:rb|pl|php)$/.test(file)) return [];
  return runIn(spell(text, root, {}), { root, cwd: root, file });
}

function textOf(file: string): string {
  try {
    return statSync(file).size > maxBytes ? "" : readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

function fileAt(path: string): string | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isFile() ? realpathSync(path) : undefined;
  } catch {
    return undefined; // a name that no file can have
  }
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
