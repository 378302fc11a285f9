import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { FolderFacts, GitFacts } from "../context/environment.ts";
import { isRecord } from "../util/is-record.ts";
import type { Surroundings } from "./surroundings.ts";

/** What the first request waits for git beyond what else takes its time; after that the prompt does without the list of changes. */
const gitPatienceMs = 400;

/** Begins to look at once, so that it goes on beside whatever else has to be done before the first request. */
export function beginFolderFacts(
  cwd: string,
  { env }: Pick<Surroundings, "env">,
  patienceMs: number = gitPatienceMs,
): () => Promise<FolderFacts> {
  const looking = lookForGit(cwd, env, patienceMs).catch(() => undefined); // what cannot be told is left out
  return async () => ({ git: await looking, project: describeProject(cwd) });
}

async function lookForGit(cwd: string, env: Surroundings["env"], patienceMs: number): Promise<GitFacts> {
  for (let top = resolve(cwd); ; top = dirname(top)) {
    if (existsSync(join(top, ".git"))) return await (await import("./git-facts.ts")).lookAtGit({ cwd, top }, env, patienceMs);
    if (top === dirname(top)) return { type: "none" };
  }
}

/** By what lies in the folder: what it is written in, and what it is worked on with. Names, or endings of names behind a star. */
const signs: readonly (readonly [words: string, ...files: string[]])[] = [
  ["Node.js", "package.json"],
  ["Deno", "deno.json", "deno.jsonc"],
  ["Python", "pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "Pipfile"],
  ["Rust", "Cargo.toml"],
  ["Go", "go.mod", "go.work"],
  ["JVM", "pom.xml", "build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"],
  [".NET", "*.sln", "*.slnx", "*.csproj", "*.fsproj"],
  ["Ruby", "Gemfile"],
  ["PHP", "composer.json"],
  ["Elixir", "mix.exs"],
  ["Swift", "Package.swift"],
  ["C or C++", "CMakeLists.txt", "meson.build"],
  ["make", "GNUmakefile", "makefile", "Makefile"],
  ["just", "Justfile", "justfile"],
];

const managers: readonly (readonly [file: string, manager: string])[] = [
  ["pnpm-lock.yaml", "pnpm"],
  ["yarn.lock", "yarn"],
  ["bun.lock", "bun"],
  ["bun.lockb", "bun"],
  ["package-lock.json", "npm"],
  ["uv.lock", "uv"],
  ["poetry.lock", "poetry"],
];

const shownScripts = 12;

function describeProject(cwd: string): string | undefined {
  let names: Set<string>;
  try {
    names = new Set(readdirSync(cwd));
  } catch {
    return undefined;
  }
  const found = (sign: string): string | undefined => {
    if (!sign.startsWith("*")) return names.has(sign) ? sign : undefined;
    return [...names].find((name) => name.endsWith(sign.slice(1)));
  };
  const kinds = signs.flatMap(([words, ...files]) => {
    const [file] = files.flatMap((sign) => found(sign) ?? []);
    return file === undefined ? [] : [`${words} (${file})`];
  });
  if (kinds.length === 0) return undefined;
  const used = managers.find(([file]) => names.has(file))?.[1];
  const scripts = names.has("package.json") ? scriptsIn(join(cwd, "package.json")) : [];
  return [
    kinds.join(", "),
    ...(used ? [`packages by ${used}`] : []),
    ...(scripts.length > 0 ? [`scripts: ${scripts.join(", ")}`] : []),
  ].join("; ");
}

/** Names only, and only such as can be nothing else: the file is the project's. */
function scriptsIn(path: string): string[] {
  try {
    if (statSync(path).size > 256 * 1024) return [];
    const parsed: unknown = JSON.parse(readFileSync(path, "utf8"));
    const scripts = isRecord(parsed) && isRecord(parsed["scripts"]) ? Object.keys(parsed["scripts"]) : [];
    return scripts.filter((name) => /^[\w:.-]{1,40}$/.test(name)).slice(0, shownScripts);
  } catch {
    return []; // a manifest that is none
  }
}
