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
const gradleEnds = ["", " --info", " --stacktrace", " --no-daemon", " --console=plain", " --continue", " -q"];
const maven = "compile test-compile test package verify".split(" ");

/**
 * Rules for everyday work, named once instead of written out: `preset:npm` in a list of rules stands for the rules below, and `preset:dev` for
 * those of all programs. They build, test, check and format. They neither install, publish, deploy nor run what else the project names.
 */
const families: Readonly<Record<PresetFamily, () => readonly string[]>> = {
  npm: () => [
    ...scriptsOf("npm", "npm t:*", "node --test:*", "node --check:*"),
    ...["npm --prefix * ", "npm -w * ", "npm --workspace * "].flatMap((start) =>
      exactly(start, ["test", ...exactly("run ", tasks)]),
    ),
    ...["turbo ", "turbo run "].flatMap((start) => exactly(start, tasks)),
    ...toolsBy("", "npx ", "npx --no-install ", "node_modules/.bin/", "./node_modules/.bin/"),
  ],
  pnpm: () => [
    ...scriptsOf("pnpm", ...tasksOf("pnpm "), ...tasksOf("pnpm -r "), "pnpm ls:*", "pnpm list:*", "pnpm why:*"),
    ...["pnpm --filter * ", "pnpm -F * "].flatMap((start) => exactly(start, [...tasks, ...exactly("run ", tasks)])),
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
  make: () =>
    ["make", "make -j", "make -j2", "make -j4", "make -j8", "make -s", "make -k"].flatMap((start) => [
      start,
      ...exactly(`${start} `, ["all", ...tasks]),
    ]),
  just: () => exactly("just ", tasks),
  task: () => exactly("task ", tasks),
  mise: () => ["mise run ", "mise r "].flatMap((start) => exactly(start, [...tasks, ...variants])),
  cmake: () => [
    ...["cmake -B build", "cmake -S . -B build", "cmake --build .", "cmake --build build", "cmake --build build -j"],
    ...["ctest", "ctest --test-dir build"].flatMap((start) => [start, `${start} --output-on-failure`]),
    ...["", " -C build"].flatMap((end) => [`ninja${end}`, `ninja${end} test`, `meson compile${end}`, `meson test${end}`]),
  ],
  gradle: () => ["gradle ", "./gradlew "].flatMap((start) => gradle.flatMap((task) => exactly(`${start}${task}`, gradleEnds))),
  maven: () =>
    ["mvn ", "./mvnw "].flatMap((start) =>
      ["", "-q ", "-B ", "-q -B ", "-o "].flatMap((word) => exactly(`${start}${word}`, maven)),
    ),
  dotnet: () => [
    ...["build", "test"].flatMap((act) => exactly(`dotnet ${act}`, ["", " --no-restore", " --no-build", " -c Release", " -v q"])),
    ...exactly("dotnet format", ["", " --verify-no-changes"]),
  ],
  bundler: () =>
    ["", "bundle exec "]
      .flatMap((start) => [...starting(start, ["rspec", "rubocop", "standardrb"]), `${start}rake test`, `${start}rails test`])
      .concat("bin/rails test"),
  composer: () => [
    ...starting("composer ", ["test", "lint", "validate"]),
    ...exactly("composer run ", tasks),
    "php artisan test",
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
