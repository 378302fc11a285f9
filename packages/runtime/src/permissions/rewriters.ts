import { readExpression } from "./find-expression.ts";
import type { Program } from "./parsed-command.ts";
import { exactWord, type ShellWord } from "./shell-words.ts";
import { firstNameOf } from "./subcommand-names.ts";

/**
 * Files that a program changes without being told their names: those it keeps (`named`: a manifest, a lock, a folder of packages), and all
 * that are `below` some words, of certain endings.
 */
export type Rewritten = {
  readonly named: readonly string[];
  readonly below: readonly ShellWord[];
  /** Absent: any. */
  readonly endings?: readonly string[] | undefined;
};

const nothing: Rewritten = { named: [], below: [] };

export function rewrittenBy({ name, words }: Pick<Program, "name" | "words">): Rewritten {
  const rest = words.slice(1);
  if (name === "find") return deletedBy(rest);
  const operands = rest.filter(({ text }) => !text.startsWith("-"));
  const [first] = operands;
  const verb = first === undefined ? "" : firstNameOf(name, first.text);
  const kept = Object.hasOwn(keepers, name) ? keepers[name] : undefined;
  const isAtRest = kept?.quiet.test([verb, ...rest.filter((word) => word !== first).map(({ text }) => text)].join(" ").trim());
  const form =
    formatters.find(
      ({ names, by, not }) =>
        names.includes(name) && rest.some(({ text }) => by.test(text)) && !rest.some(({ text }) => not?.test(text)),
    ) ?? alwaysFormat.find(({ names, not }) => names.includes(name) && !rest.some(({ text }) => not?.test(text)));
  const named = kept && !isAtRest ? kept.files : nothing.named;
  if (!form) return { ...nothing, named };
  const targets = operands.filter((word) => !form.verbs?.test(word.text)).map(toFolder);
  return { named, below: targets.length > 0 ? targets : [exactWord(".")], endings: form.endings };
}

/** `find -delete` works on all that is below where it starts; a name keeps it to files with that ending. */
function deletedBy(words: readonly ShellWord[]): Rewritten {
  const { starts, actions, only } = readExpression(words);
  if (!actions.includes("-delete")) return nothing;
  const [, ending] = /\.(\w+)$/.exec(only ?? "") ?? [];
  return { named: [], below: starts, endings: ending === undefined ? undefined : [ending] };
}

/** To go, `./...` is all that is below; patterns in quotes are the program's own. */
function toFolder(word: ShellWord): ShellWord {
  const text = /[*?[{!]/.test(word.text) ? word.text.replace(/[^/]*[*?[{!].*$/s, "") : word.text.replace(/\/?\.\.\.$/, "");
  return { ...word, text: text || "." };
}

/** `quiet`: with these words, subcommand first, they keep their files as they are, or run code of the project, which may change what it likes. */
type Keeper = { readonly files: readonly string[]; readonly quiet: RegExp };

const keeper = (files: string, quiet: RegExp): Keeper => ({ files: files.split(" "), quiet });

const nodeQuiet =
  /^(?:ls|list|view|search|outdated|explain|why|root|prefix|bin|config get|whoami|ping|help|docs|bugs|repo|fund|query|doctor|token|owner|team|profile|dist-tag|deprecate|access|publish|unpublish|adduser|logout|star|run|test|start|stop|restart|exec|dlx|x|pkg get|sbom|cache|info|npm|workspaces|completion)(?: |$)|^(?:version|audit|--version|-v|--help|-h)$|^audit --(?:json|omit=\w+|audit-level=\w+)$/;

const keepers: Readonly<Record<string, Keeper>> = {
  npm: keeper("package.json package-lock.json npm-shrinkwrap.json node_modules", nodeQuiet),
  pnpm: keeper("package.json pnpm-lock.yaml pnpm-workspace.yaml node_modules", nodeQuiet),
  yarn: keeper("package.json yarn.lock .yarn .yarnrc.yml .pnp.cjs .pnp.loader.mjs node_modules", nodeQuiet),
  bun: keeper(
    "package.json bun.lock bun.lockb node_modules",
    /^(?:run|test|x|pm ls|build|--version|--help)(?: |$)|^\S+\.[cm]?[jt]sx?(?: |$)/,
  ),
  lerna: keeper("package.json package-lock.json lerna.json CHANGELOG.md", /^(?:ls|list|run|exec|changed|diff|info)(?: |$)/),
  changeset: keeper("package.json CHANGELOG.md .changeset", /^status(?: |$)/),
  "standard-version": keeper("package.json package-lock.json CHANGELOG.md", /--dry-run/),
  "release-it": keeper("package.json package-lock.json CHANGELOG.md", /--dry-run/),
  "npm-check-updates": keeper("package.json", /^(?!.*(?:-u|--upgrade))/),
  ncu: keeper("package.json", /^(?!.*(?:-u|--upgrade))/),
  "sort-package-json": keeper("package.json", /--check/),
  syncpack: keeper("package.json", /^(?:list|lint)/),
  cargo: keeper(
    "Cargo.toml Cargo.lock target",
    /^(?:fmt|search|login|logout|owner|yank|help|version|--version|-V|--list|locate-project|config)(?: |$)|^(?:tree|metadata|pkgid|verify-project) .*--(?:locked|frozen)/,
  ),
  go: keeper(
    "go.mod go.sum go.work go.work.sum vendor",
    /^(?!get|mod (?:tidy|edit|init|vendor|download)|work (?:init|use|edit|sync|vendor)|.*-mod[= ]mod)/,
  ),
  poetry: keeper(
    "pyproject.toml poetry.lock",
    /^(?:show|run|check|env|config|search|build|publish|about|help|version|--version)(?: |$)/,
  ),
  uv: keeper(
    "pyproject.toml uv.lock .venv .python-version",
    /^(?:pip|tree|tool|cache|self|help|version|--version)(?: |$)|--(?:locked|frozen)/,
  ),
  pdm: keeper("pyproject.toml pdm.lock", /^(?:list|show|run|info|search|--version)(?: |$)/),
  pipenv: keeper("Pipfile Pipfile.lock", /^(?:run|graph|check|shell|--version)(?: |$)/),
  bundle: keeper(
    "Gemfile Gemfile.lock .bundle vendor",
    /^(?:exec|list|show|info|outdated|check|doctor|version|help|--version)(?: |$)/,
  ),
  composer: keeper(
    "composer.json composer.lock vendor",
    /^(?:show|validate|outdated|why|why-not|run|run-script|exec|diagnose|--version)(?: |$)/,
  ),
  mix: keeper("mix.lock deps _build", /^(?:format|help|--version)(?: |$)/),
  terraform: keeper(
    ".terraform .terraform.lock.hcl terraform.tfstate",
    /^(?:fmt|validate|plan|show|output|graph|version|providers|console)(?: |$)/,
  ),
};

/** Programs that rewrite what they are given, or all there is: `by` which word they do, and by which they only look. */
type Formatter = {
  readonly names: readonly string[];
  readonly by: RegExp;
  readonly not?: RegExp | undefined;
  readonly endings?: readonly string[] | undefined;
  /** Words that name no file. */
  readonly verbs?: RegExp | undefined;
};

const formatter = (names: string, by: RegExp, more: { not?: RegExp; endings?: string; verbs?: RegExp } = {}): Formatter => ({
  names: names.split(" "),
  by,
  not: more.not,
  endings: more.endings?.split(" "),
  verbs: more.verbs,
});

const python = "py pyi ipynb";
const anyWord = /^/;
const check =
  /^--?(?:check|diff|dry-run|lint|test|verify|list|version|help|c|n|check-only|check-formatted|verify-no-changes|vcs)(?:=|$)/;

const formatters: readonly Formatter[] = [
  formatter(
    "prettier biome eslint stylelint xo standard oxlint tslint knip markdownlint markdownlint-cli2 textlint rome",
    /^(?:--(?:write|fix|apply|unsafe)|-w$)/,
    {
      verbs: /^(?:check|format|lint|ci)$/,
    },
  ),
  formatter("ruff", /^(?:--(?:fix|unsafe-fixes|add-noqa)|format$)/, {
    not: /^--(?:check|diff)$/,
    endings: python,
    verbs: /^(?:check|format)$/,
  }),
  formatter("autopep8 yapf docformatter autoflake", /^(?:-[a-zA-Z]*i|--in-place)/, { endings: python }),
  formatter("gofmt goimports gofumpt", /^-[a-z]*w/, { endings: "go" }),
  formatter("go", /^(?:fmt|fix)$/, { endings: "go", verbs: /^(?:fmt|fix)$/ }),
  formatter("cargo", /^(?:fmt|fix|--fix)$/, { not: /^--check$/, endings: "rs", verbs: /^(?:fmt|fix|clippy)$/ }),
  formatter("clang-format ocamlformat swift-format ormolu fourmolu", /^(?:-i|--in-?place|--mode)/),
  formatter("shfmt buf codespell typos", /^(?:-[a-z]*w|--write)/, { verbs: /^format$/ }),
  formatter("terraform tofu", /^fmt$/, { not: /^-{1,2}check$/, endings: "tf tfvars hcl", verbs: /^fmt$/ }),
  formatter("mix", /^format$/, { not: check, endings: "ex exs heex", verbs: /^format$/ }),
  formatter("dotnet", /^format$/, { not: check, verbs: /^(?:format|whitespace|style|analyzers)$/ }),
  formatter("deno", /^(?:fmt|--fix)$/, { not: check, verbs: /^(?:fmt|lint)$/ }),
  formatter("dprint taplo zig trunk treefmt", /^(?:fmt|format)$/, { not: check, verbs: /^(?:fmt|format)$/ }),
  formatter("dart", /^(?:format|--apply)$/, { not: /^(?:-o|--output)/, endings: "dart", verbs: /^(?:format|fix)$/ }),
  formatter("rubocop standardrb", /^(?:-[axA]|--(?:auto|fix))/, { endings: "rb rake gemspec ru" }),
  formatter("php-cs-fixer", /^fix$/, { not: check, endings: "php", verbs: /^fix$/ }),
  formatter("ktlint", /^(?:-F|--format)/, { endings: "kt kts" }),
  formatter("sqlfluff", /^(?:fix|format)$/, { endings: "sql", verbs: /^(?:fix|format)$/ }),
  formatter("comby swiftlint djlint hlint", /^(?:-i|-U|-a|-in-place|--(?:in-place|update-all|autofix|fix|reformat|refactor))/),
  formatter("ast-grep sg semgrep", /^(?:-U|-a|--(?:update-all|autofix))$/, { verbs: anyWord }),
  formatter("perltidy", /^-b/),
];

const alwaysFormat: readonly Formatter[] = [
  formatter("black isort", /^/, { not: check, endings: python }),
  formatter("rustfmt", /^/, { not: check, endings: "rs" }),
  formatter("phpcbf pint", /^/, { not: check, endings: "php" }),
  formatter("scalafmt swiftformat stylua nixfmt alejandra nixpkgs-fmt elm-format pyupgrade jscodeshift dos2unix unix2dos", /^/, {
    not: check,
  }),
  formatter("fastmod codemod lint-staged pre-commit", /^/, { not: /^(?:-d|--dry|--version|--help)/, verbs: anyWord }),
];
