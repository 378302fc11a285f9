import { exactWord, isPlain, type ShellWord } from "./shell-words.ts";
import { firstNameOf } from "./subcommand-names.ts";

type Words = readonly ShellWord[];

/** Starts programs of packages, or any others, by their names: `npx`, `npm exec`, `bundle exec`. */
export function isPackageRunner(name: string): boolean {
  return Object.hasOwn(runners, name);
}

/** Where the words of what it runs may start: several where an option may have a value. Empty when it runs nothing. */
export function startsOfRun(
  name: string,
  words: Words,
): { readonly programs: readonly Words[]; readonly scripts: readonly string[] } {
  const runner = Object.hasOwn(runners, name) ? runners[name] : undefined;
  const at = runner?.verbs ? words.findIndex((word, index) => index > 0 && !word.text.startsWith("-")) : 0;
  const verb = words[at]?.text ?? "";
  const isRun = runner && (!runner.verbs || (at !== -1 && runner.verbs.includes(firstNameOf(name, verb))));
  if (!isRun) return { programs: [], scripts: [] };
  const programs: Words[] = [];
  const scripts: string[] = [];
  let left = runner.operands;
  // `yarn npm publish` does what npm would.
  for (let index = verb === "npm" ? at : at + 1; index < words.length; index++) {
    const { text = "" } = words[index] ?? {};
    const before = words[index - 1]?.text ?? "";
    if (/^(?:-c|--call)$/.test(before)) scripts.push(text);
    if (text.startsWith("-")) continue;
    programs.push(programFrom(words, index));
    // What stands behind an option may be its value.
    if (!before.startsWith("-") || before === "--") left--;
    if (left < 0 || programs.length === 6) break;
  }
  const dashes = words.findIndex((word, index) => index > at && word.text === "--");
  if (dashes !== -1 && dashes + 1 < words.length) programs.push(programFrom(words, dashes + 1));
  return { programs, scripts };
}

/** `npm@latest publish` is `npm publish`. */
function programFrom(words: Words, index: number): Words {
  return words
    .slice(index)
    .map((word, at) => (at === 0 && isPlain(word) ? exactWord(word.text.replace(/(?<=.)@[^/]*$/, "")) : word));
}

/** With which words they run others, and how many words stand before those. */
const runner = (verbs = "", operands = 0) => ({ verbs: verbs === "" ? undefined : verbs.split(" "), operands });

const runners: Readonly<Record<string, ReturnType<typeof runner>>> = {
  npx: runner(),
  pnpx: runner(),
  bunx: runner(),
  uvx: runner(),
  pipx: runner("run"),
  corepack: runner(),
  npm: runner("exec"),
  pnpm: runner("exec dlx"),
  yarn: runner("exec dlx npm"),
  bun: runner("x"),
  uv: runner("run"),
  poetry: runner("run"),
  pipenv: runner("run"),
  pdm: runner("run"),
  hatch: runner("run"),
  rye: runner("run"),
  pixi: runner("run"),
  conda: runner("run"),
  mamba: runner("run"),
  bundle: runner("exec"),
  bundler: runner("exec"),
  mise: runner("exec x"),
  asdf: runner("exec"),
  rbenv: runner("exec"),
  pyenv: runner("exec"),
  nodenv: runner("exec"),
  volta: runner("run"),
  fnm: runner("exec"),
  nvm: runner("exec", 1),
  direnv: runner("exec", 1),
  dotenvx: runner("run"),
  doppler: runner("run"),
  op: runner("run"),
  "aws-vault": runner("exec", 1),
  chamber: runner("exec", 1),
};
