/** Does a program take this word for the subcommand that a rule names? Some take other names for it, and any beginning that is clear. */
export function meansSubcommand(name: string, given: string, wanted: string): boolean {
  if (given === wanted) return true;
  const groups = Object.hasOwn(otherNames, name) ? otherNames[name] : undefined;
  const known = groups?.find((group) => group.includes(given));
  if (known) return known.includes(wanted);
  const names = groups?.find((group) => group.includes(wanted)) ?? [wanted];
  return takesBeginnings.has(name) && given !== "" && names.some((one) => one.startsWith(given));
}

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
  docker: groups("rm | rmi | ps"),
};
