import { type PresetFamily, presetIn } from "./preset-names.ts";
import { parseRule, type Rule } from "./rules.ts";

/** What scripts, targets and tasks are called that build, test, check and format. */
const tasks = "test build lint format fmt check typecheck type-check types tsc compile coverage unit e2e".split(" ");

const nodeTools = [
  ..."tsc eslint prettier vitest jest mocha ava biome oxlint knip cspell stylelint markdownlint svelte-check vue-tsc".split(" "),
  ...["playwright test", "cypress run", "astro check", "next build", "next lint", "vite build"],
];
const pythonTools = "pytest ruff mypy black isort flake8 pylint pyright".split(" ");

const starting = (start: string, words: readonly string[]): string[] => words.map((word) => `${start}${word}:*`);
/** Scripts that many projects have. Others begin with the same word and do more, such as `build-and-publish`. */
const variants = ["test", "lint", "format", "check"].flatMap((task) =>
  [":unit", ":e2e", ":ci", ":fix", "-fix"].map((end) => `${task}${end}`),
);
/** With whatever the script is given. */
const tasksOf = (start: string): string[] => [...tasks, ...variants].map((task) => `${start}${task}:*`);
const toolsBy = (...starts: string[]): string[] => starts.flatMap((start) => starting(start, nodeTools));

function scriptsOf(manager: string, ...more: string[]): string[] {
  return [`${manager} test:*`, ...tasksOf(`${manager} run `), ...more];
}

/** Where every further word is one more target, script or goal, a rule is for exactly one. */
const exactly = (start: string, words: readonly string[]): string[] => words.map((word) => `${start}${word}`);

const gradle =
  "build test check assemble classes compileJava compileKotlin lint ktlintCheck detekt spotlessCheck spotlessApply".split(" ");
const maven = "compile test-compile test package verify".split(" ");

/**
 * Rules for everyday work, named once instead of written out: `preset:npm` in a list of rules stands for the rules below, and `preset:dev` for
 * those of all programs. They build, test, check and format. They neither install, publish, deploy nor run what else the project names.
 */
const families: Readonly<Record<PresetFamily, () => readonly string[]>> = {
  npm: () => [
    ...scriptsOf("npm", "npm t:*", "node --test:*", "node --check:*"),
    ...exactly("npm --prefix * ", ["test", ...exactly("run ", tasks)]),
    ...["turbo ", "turbo run "].flatMap((start) => exactly(start, tasks)),
    ...toolsBy("", "npx ", "npx --no-install ", "node_modules/.bin/", "./node_modules/.bin/"),
  ],
  pnpm: () => [
    ...scriptsOf("pnpm", ...tasksOf("pnpm "), ...tasksOf("pnpm -r "), "pnpm ls:*", "pnpm list:*", "pnpm why:*"),
    ...toolsBy("pnpm ", "pnpm exec "),
  ],
  yarn: () => [
    ...scriptsOf("yarn", ...tasksOf("yarn "), "yarn list:*", "yarn why:*"),
    ...["yarn workspace * ", "yarn workspace * run "].flatMap((start) => exactly(start, tasks)),
    ...toolsBy("yarn "),
  ],
  bun: () => [...scriptsOf("bun"), ...toolsBy("bunx ")],
  deno: () => [...starting("deno ", ["test", "bench", "lint", "fmt", "check"]), ...exactly("deno task ", tasks)],
  cargo: () => [
    ...starting("cargo ", ["build", "check", "test", "clippy", "fmt", "bench", "doc", "nextest run", "tree", "metadata"]),
    "rustfmt:*",
  ],
  go: () => [
    ...starting("go ", ["build", "test", "vet", "fmt", "list", "mod verify", "mod graph"]),
    ...["gofmt:*", "goimports:*", "golangci-lint run:*", "staticcheck:*"],
  ],
  python: () => [
    ...["", "uv run ", "poetry run ", "pipenv run ", "pdm run ", "hatch run ", "python -m ", "python3 -m "].flatMap((start) =>
      starting(start, pythonTools),
    ),
    ...["python", "python3"].flatMap((python) => starting(`${python} -m `, ["unittest", "compileall", "py_compile"])),
    ...["tox", "tox run", "tox -q", "nox"],
  ],
  make: () => ["make", "make all", ...exactly("make ", tasks)],
  just: () => exactly("just ", tasks),
  task: () => exactly("task ", tasks),
  mise: () => ["mise run ", "mise r "].flatMap((start) => exactly(start, [...tasks, ...variants])),
  cmake: () => ["cmake --build .", "cmake --build build", "ctest", "ninja", "ninja test", "meson compile", "meson test"],
  gradle: () => ["gradle ", "./gradlew "].flatMap((start) => exactly(start, gradle)),
  maven: () => ["mvn ", "./mvnw ", "mvn -q ", "mvn -B "].flatMap((start) => exactly(start, maven)),
  dotnet: () => exactly("dotnet ", ["build", "test", "format"]),
  bundler: () =>
    ["", "bundle exec "].flatMap((start) => [...starting(start, ["rspec", "rubocop", "standardrb"]), `${start}rake test`]),
  composer: () => [
    ...starting("composer ", ["test", "lint", "validate"]),
    ...["vendor/bin/", "./vendor/bin/"].flatMap((start) =>
      starting(start, ["phpunit", "pest", "phpstan", "php-cs-fixer", "phpcs"]),
    ),
  ],
  mix: () => starting("mix ", ["test", "compile", "format", "credo", "dialyzer"]),
  swift: () => starting("swift ", ["build", "test"]),
};

/** Rules whose wildcards would let in other code than the project's. */
const narrow = /^(?:node --test|deno (?:test|bench)):\*$| \* /;

/** What the preset stands for, in the words of rules; undefined when there is none of that name. */
export function rulesOfPreset(name: string): readonly string[] | undefined {
  const named = Object.entries(families).filter(([family]) => name === "dev" || name === family);
  return named.length === 0 ? undefined : named.flatMap(([, rules]) => rules()).map((pattern) => `Bash(${pattern})`);
}

const read = new Map<string, readonly Rule[]>();

/** Presets as the rules they stand for. Each says which preset it is of, and is found where that was written. */
export function withPresets(rules: readonly Rule[]): readonly Rule[] {
  if (!rules.some(({ text }) => presetIn(text) !== undefined)) return rules;
  return rules.flatMap((rule) => {
    const name = presetIn(rule.text);
    if (name === undefined) return [rule];
    const known = read.get(name) ?? (rulesOfPreset(name) ?? []).map((text) => parseRule(text));
    read.set(name, known);
    const source = [rule.source, rule.text].filter(Boolean).join(", ");
    return known.map((one) => ({ ...one, source, ...(narrow.test(one.pattern ?? "") && { narrow: true as const }) }));
  });
}

export function isPreset({ text }: Rule): boolean {
  return presetIn(text) !== undefined;
}
