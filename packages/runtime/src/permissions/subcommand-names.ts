/** Does a program take this word for the subcommand that a rule names? Some take other names for it, and any beginning that is clear. */
export function meansSubcommand(name: string, given: string, wanted: string): boolean {
  if (given === wanted) return true;
  const groups = Object.hasOwn(otherNames, name) ? otherNames[name] : undefined;
  const known = groups?.find((group) => group.includes(given));
  if (known) return known.includes(wanted);
  const names = groups?.find((group) => group.includes(wanted)) ?? [wanted];
  return takesBeginnings.has(name) && given !== "" && names.some((one) => one.startsWith(given));
}

/** Does it take its operands for tasks, all of which it does, whatever their order and what is set between them? */
export function takesTasks(name: string): boolean {
  return taskRunners.test(name.toLowerCase());
}

const taskRunners =
  /^(?:[gbp]?make|mingw32-make|ninja|samu|just|task|rake|gradlew?|mvnw?|mvnd|ant|sbt|lein|invoke|inv|fab|doit|gulp|grunt|jake|mage)$/;

/** The words as they are, and without what may stand in front of a subcommand and leaves it the same one. */
export function withoutFront<Word>(name: string, words: readonly Word[], textOf: (word: Word) => string): (readonly Word[])[] {
  const operands = words.filter((word) => !textOf(word).startsWith("-"));
  const found = (Object.hasOwn(fronts, name) ? (fronts[name] ?? []) : []).find(({ front, before }) => {
    const isFront = front.every((text, at) => text.test(operands[at] === undefined ? "" : textOf(operands[at])));
    const next = operands[front.length];
    return isFront && next !== undefined && (before === undefined || before.includes(textOf(next)));
  });
  if (!found) return [words];
  const left = new Set(operands.slice(0, found.front.length));
  return [words, words.filter((word) => !left.has(word))];
}

/** `before`: only in front of these. */
const front = (words: string, before?: string) => ({
  front: words.split(" ").map((word) => new RegExp(`^${word.replace("+", "\\+").replace("*", ".*")}$`)),
  before: before?.split(" "),
});

const containers = [
  front(
    "container",
    "attach commit cp create diff exec export kill logs pause port rename restart rm remove run start stats stop top unpause update wait",
  ),
  front("image", "build history import load pull push save tag"),
  front("build(?:er|x)", "build"),
  front("system", "info events"),
];

const fronts: Readonly<Record<string, readonly ReturnType<typeof front>[]>> = {
  docker: containers,
  podman: containers,
  nerdctl: containers,
  cargo: [front("+*")],
  rustc: [front("+*")],
  pnpm: [front("(?:recursive|multi|m)")],
  yarn: [front("workspace *"), front("npm", "publish"), front("workspaces (?:foreach|run)"), front("workspaces")],
};

/** The first name of the subcommand that the program takes this word for; the word itself where it has but one. */
export function firstNameOf(name: string, given: string): string {
  const groups = Object.hasOwn(otherNames, name) ? otherNames[name] : undefined;
  return groups?.find(([first = "", ...others]) => first === given || others.includes(given))?.[0] ?? given;
}

const takesBeginnings: ReadonlySet<string> = new Set("npm gem bundle bundler rails hg ip nmcli".split(" "));

const groups = (text: string): readonly (readonly string[])[] => text.split("|").map((group) => group.trim().split(" "));

const otherNames: Readonly<Record<string, readonly (readonly string[])[]>> = {
  npm: groups(
    "install i in ins inst insta instal isnt isnta isntal isntall add | ci clean-install ic install-clean isntall-clean | " +
      "install-test it | install-ci-test cit clean-install-test sit | uninstall un unlink remove rm r | update up upgrade udpate | " +
      "run run-script rum urn | test t tst | exec x | init create innit | ls list la ll | view v info show | search find s se | " +
      "config c | dedupe ddp | link ln | rebuild rb | version verison | explain why | docs home | bugs issues | owner author | " +
      "adduser login add-user | help hlep | dist-tag dist-tags | publish | unpublish | audit | pkg | pack | prune | start | stop | restart | " +
      "outdated | token | profile | team | org ogr | access | hook | star | unstar | stars | set | get | cache | root | prefix | fund | ping | " +
      "whoami | logout | query | repo | sbom | shrinkwrap | doctor | diff | edit | explore | deprecate | undeprecate | completion",
  ),
  pnpm: groups(
    "install i | remove rm un uni uninstall | update up upgrade | test t tst | run run-script | list ls | exec | publish | link ln",
  ),
  yarn: groups("remove rm | run run-script | upgrade up | list ls"),
  bun: groups("install i | add a | remove rm | run | x"),
  cargo: groups("build b | check c | doc d | run r | test t | remove rm"),
  gem: groups("install i | uninstall | push | update | list"),
  bundle: groups("exec e | install i | check c"),
  brew: groups("uninstall rm remove | install | upgrade | list ls"),
  docker: groups("rm remove | rmi | ps"),
  podman: groups("rm remove | rmi | ps"),
  helm: groups("uninstall un del delete | list ls | dependency dep dependencies | history hist | show inspect"),
};
