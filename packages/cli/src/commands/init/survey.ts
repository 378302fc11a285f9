import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { basename, join } from "node:path";

/** What a project is worked on with. `commands` are those a person would type, by what they are for. */
export type Survey = {
  readonly name: string;
  readonly managers: readonly string[];
  readonly commands: readonly { readonly purpose: Purpose; readonly command: string }[];
  readonly folders: readonly string[];
  readonly platform: "github" | "gitlab" | undefined;
};

export type Purpose = "install" | "build" | "test" | "check";

type Found = { readonly manager: string; readonly commands: readonly (readonly [Purpose, string])[] };

/** Only looks: nothing of the project is run, and of its files only names and known fields are used. */
export function surveyProject(root: string): Survey {
  const has = (name: string): boolean => existsSync(join(root, name));
  const read = (name: string): string => readSmall(join(root, name));
  const found = [node, python, cargo, go, java, ruby, php, elixir, dotnet, deno, make, mise].flatMap(
    (look) => look({ has, read, root }) ?? [],
  );
  const commands = found.flatMap((one) => one.commands.map(([purpose, command]) => ({ purpose, command })));
  return {
    name: basename(root),
    managers: found.map(({ manager }) => manager),
    commands: commands.filter(({ command }, index) => commands.findIndex((other) => other.command === command) === index),
    folders: foldersIn(root),
    platform: platformOf({ has, read, root }),
  };
}

type Place = { has(name: string): boolean; read(name: string): string; readonly root: string };

const lockFiles = [
  ["pnpm-lock.yaml", "pnpm"],
  ["yarn.lock", "yarn"],
  ["bun.lock", "bun"],
  ["bun.lockb", "bun"],
  ["package-lock.json", "npm"],
] as const;

const installs: Readonly<Record<string, string>> = {
  npm: "npm ci",
  pnpm: "pnpm install --frozen-lockfile",
  yarn: "yarn install --immutable",
  bun: "bun install --frozen-lockfile",
};

const scriptNames: readonly (readonly [string, Purpose])[] = [
  ["build", "build"],
  ["test", "test"],
  ["check", "check"],
  ["lint", "check"],
  ["typecheck", "check"],
];

function node({ has, read }: Place): Found | undefined {
  if (!has("package.json")) return undefined;
  const { packageManager, scripts } = parseObject(read("package.json"));
  const named = /^(npm|pnpm|yarn|bun)@/.exec(String(packageManager))?.[1];
  const lock = lockFiles.find(([file]) => has(file));
  const manager = named ?? lock?.[1] ?? "npm";
  const known = typeof scripts === "object" && scripts !== null ? scripts : {};
  const own = scriptNames
    .filter(([name]) => Object.hasOwn(known, name) && !isPlaceholder(Reflect.get(known, name)))
    .map(
      ([name, purpose]) =>
        [purpose, name === "test" && manager !== "bun" ? `${manager} test` : `${manager} run ${name}`] as const,
    );
  return { manager, commands: [["install", lock ? (installs[manager] ?? "") : `${manager} install`], ...own] };
}

/** What `npm init` writes where there are no tests. */
function isPlaceholder(script: unknown): boolean {
  return typeof script !== "string" || script.includes("no test specified");
}

function python({ has, read }: Place): Found | undefined {
  const files = ["pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "Pipfile"].filter(has);
  if (files.length === 0) return undefined;
  const project = ["pyproject.toml", "setup.cfg", "tox.ini", "requirements.txt", "requirements-dev.txt"]
    .filter(has)
    .map(read)
    .join("\n");
  const manager = has("uv.lock") ? "uv" : has("poetry.lock") ? "poetry" : has("Pipfile") ? "pipenv" : "pip";
  const runs = manager === "pip" ? "" : `${manager} run `;
  const install = {
    uv: "uv sync",
    poetry: "poetry install",
    pipenv: "pipenv install --dev",
    pip: has("requirements.txt") ? "pip install -r requirements.txt" : "pip install -e .",
  }[manager];
  const isTested = has("pytest.ini") || has("conftest.py") || has("tests/conftest.py") || /\bpytest\b/.test(project);
  const commands: [Purpose, string][] = [["install", install]];
  if (isTested) commands.push(["test", `${runs}pytest`]);
  if (has("ruff.toml") || /\bruff\b/.test(project)) commands.push(["check", `${runs}ruff check .`]);
  if (has("mypy.ini") || /\bmypy\b/.test(project)) commands.push(["check", `${runs}mypy .`]);
  return { manager, commands };
}

function cargo({ has }: Place): Found | undefined {
  if (!has("Cargo.toml")) return undefined;
  return {
    manager: "cargo",
    commands: [
      ["build", "cargo build"],
      ["test", "cargo test"],
      ["check", "cargo clippy"],
    ],
  };
}

function go({ has }: Place): Found | undefined {
  if (!has("go.mod")) return undefined;
  return {
    manager: "go",
    commands: [
      ["build", "go build ./..."],
      ["test", "go test ./..."],
      ["check", "go vet ./..."],
    ],
  };
}

function java({ has }: Place): Found | undefined {
  if (has("pom.xml")) {
    const maven = has("mvnw") ? "./mvnw" : "mvn";
    return {
      manager: "maven",
      commands: [
        ["build", `${maven} package`],
        ["test", `${maven} test`],
      ],
    };
  }
  if (!has("build.gradle") && !has("build.gradle.kts")) return undefined;
  const gradle = has("gradlew") ? "./gradlew" : "gradle";
  return {
    manager: "gradle",
    commands: [
      ["build", `${gradle} build`],
      ["test", `${gradle} test`],
    ],
  };
}

function ruby({ has }: Place): Found | undefined {
  if (!has("Gemfile")) return undefined;
  const tests: [Purpose, string][] = has("spec")
    ? [["test", "bundle exec rspec"]]
    : has("Rakefile")
      ? [["test", "bundle exec rake test"]]
      : [];
  return { manager: "bundler", commands: [["install", "bundle install"], ...tests] };
}

function php({ has }: Place): Found | undefined {
  if (!has("composer.json")) return undefined;
  const isTested = has("phpunit.xml") || has("phpunit.xml.dist");
  return {
    manager: "composer",
    commands: [["install", "composer install"], ...(isTested ? [["test", "vendor/bin/phpunit"] as const] : [])],
  };
}

function elixir({ has }: Place): Found | undefined {
  return has("mix.exs")
    ? {
        manager: "mix",
        commands: [
          ["install", "mix deps.get"],
          ["test", "mix test"],
        ],
      }
    : undefined;
}

function dotnet({ root }: Place): Found | undefined {
  if (!namesIn(root).some((name) => /\.(?:sln|slnx|csproj|fsproj)$/.test(name))) return undefined;
  return {
    manager: "dotnet",
    commands: [
      ["build", "dotnet build"],
      ["test", "dotnet test"],
    ],
  };
}

function deno({ has }: Place): Found | undefined {
  if (!has("deno.json") && !has("deno.jsonc")) return undefined;
  return {
    manager: "deno",
    commands: [
      ["test", "deno test"],
      ["check", "deno lint"],
    ],
  };
}

function make({ has, read }: Place): Found | undefined {
  const file = ["GNUmakefile", "makefile", "Makefile"].find(has);
  if (file === undefined) return undefined;
  const targets = new Set([...read(file).matchAll(/^([a-z]+)\s*:(?!=)/gm)].map(([, name]) => name));
  return {
    manager: "make",
    commands: scriptNames.flatMap(([name, purpose]) => (targets.has(name) ? [[purpose, `make ${name}`] as const] : [])),
  };
}

function mise({ has, read }: Place): Found | undefined {
  const file = ["mise.toml", ".mise.toml"].find(has);
  if (file === undefined) return undefined;
  const named = new Set(
    [...read(file).matchAll(/^(?:\[tasks\.["']?([\w:-]+)["']?\]|([\w-]+)\s*=)/gm)].map(([, table, key]) => table ?? key),
  );
  return {
    manager: "mise",
    commands: scriptNames.flatMap(([name, purpose]) => (named.has(name) ? [[purpose, `mise run ${name}`] as const] : [])),
  };
}

/** By files of the platform, else by where git fetches from. */
function platformOf({ has, read }: Place): Survey["platform"] {
  if (has(".github")) return "github";
  if (has(".gitlab-ci.yml") || has(".gitlab")) return "gitlab";
  const config = read(".git/config");
  if (/^\s*url = .*\bgithub\.com[:/]/m.test(config)) return "github";
  return /^\s*url = .*\bgitlab\b/m.test(config) ? "gitlab" : undefined;
}

const passedOver = new Set(["node_modules", "dist", "build", "target", "vendor", "coverage", "venv", "__pycache__", "out"]);
const mostFolders = 12;

function foldersIn(root: string): string[] {
  return namesIn(root)
    .filter((name) => /^[A-Za-z0-9][\w.-]*$/.test(name) && !passedOver.has(name) && isFolder(join(root, name)))
    .slice(0, mostFolders);
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).sort();
  } catch {
    return [];
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

const largestRead = 1024 * 1024;

/** Empty for what is no ordinary file, or is too long to be one that people write. */
function readSmall(path: string): string {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat?.isFile() || stat.size > largestRead) return "";
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

function parseObject(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}
