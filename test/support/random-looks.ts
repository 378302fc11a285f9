import { lookingForms } from "./hostile-repositories.ts";
import type { Random } from "./random-commands.ts";
import { shellGrammar } from "./random-shell.ts";

/** A line that looks at files, or seems to; with `writes` it also changes some. */
export function fileCommand(random: Random, { writes }: { writes: boolean }): string {
  if (writes && random.below(3) === 0) return changing(random);
  if (random.below(4) === 0) return everySyntax(random);
  if (random.below(12) === 0) return random.pick(lookingForms);
  return line(random, 2);
}

function line(random: Random, depth: number): string {
  const one = (): string => (depth > 0 ? form(random, depth - 1) : look(random));
  return random.below(3) === 0 ? `${one()}${random.pick(["; ", " && ", " || ", " | ", "\n", " & "])}${one()}` : one();
}

function form(random: Random, depth: number): string {
  const inner = (): string => line(random, depth);
  const name = random.pick(["x", "f", "i", "OPTIND", "RANDOM", "PATH", "IFS", "PS4", "HOME", "y"]);
  const value = random.pick([...places, "'a[$(./evil)]'", "'($(./evil))'", "'.e*'", "'link*'", "1", "'a b'"]);
  return random.pick([
    () => look(random),
    () => look(random),
    () => look(random),
    () => `${name}=${value}; ${look(random)}`,
    () => `${name}=${value} && ${look(random)}`,
    () =>
      `${random.pick(["declare", "export", "readonly", "typeset", "declare -a", "declare -i", "declare -n"])} ${name}=${value}; ${inner()}`,
    () => `for ${name} in ${path(random)} ${path(random)}; do ${inner()}; done`,
    () =>
      `for f in ${path(random)}; do ${random.pick([...setters, ":"])}; cat ${random.pick(["$f", '"$f"', "$f/secret.txt"])}; done`,
    () => `${random.pick(setters)}; cat $f`,
    () => spread(random),
    () => spread(random),
    () => `while read -r f; do cat "$f"; done < ${path(random)}`,
    () => `cd ${path(random)} && ${inner()}`,
    () => `(${inner()})`,
    () => `{ ${inner()}; }`,
    () => `if ${inner()}; then ${inner()}; fi`,
    () =>
      `${source(random)} | xargs ${random.pick(["", "-n1 ", "-0 ", "-I{} ", "-d '\\n' "])}${look(random).replace(/ .*/s, "")} ${random.pick(["", "{}", "x"])}`,
    () => `${random.pick(["cat", "wc -l", "head -1", "grep x", "sort"])} $(${source(random)})`,
    () =>
      `find ${random.pick(["", "-L ", "-H "])}${random.pick([".", "src", "linkd", "linkd/", "p"])} ${random.pick(["", "-type f ", "-type l ", "-name '*.txt' ", "-name 'a*' ", "! -name 'a*' ", "-name '*.md' -o -name 'l*' ", "-iname 'LINK*' ", "! -type d "])}-exec ${random.pick(["cat", "grep x", "head"])} {} ${random.pick(["+", "\\;"])}`,
    () =>
      `${source(random)} | while ${random.pick(["", "IFS= ", "IFS=/ "])}read ${random.pick(["-r ", ""])}f; do ${random.pick(["cat", "head -1", "wc -l <"])} ${random.pick(['"$f"', "$f", '"./$f"', '"src/$f"', '"../$f"', '"$f.txt"'])}; done${random.pick(["", "", " < a", " <<< linkf.txt"])}`,
    () => `for f in $(${source(random)}); do ${random.pick(["cat", "grep x", "wc -l <"])} ${random.pick(['"$f"', "$f"])}; done`,
    () =>
      `for f in ${random.pick(["*", "*/*", "*/*/*", `$(${source(random)})`])}; do (cd docs && cat ${random.pick(['"$f"', "$f"])}); done`,
    () => `${source(random)} | (cd docs; ${random.pick(["xargs cat", 'while read f; do cat "$f"; done'])})`,
    () => `${source(random)} | xargs cat < ${path(random)}`,
    () => `cat < ${path(random)}`,
    () =>
      `cat ${random.pick(["", '"'])}${random.pick(["$(pwd)", "`pwd`"])}/${random.pick(places)}`.replace(/^(cat ".*)$/s, '$1"'),
    () => `diff <(${inner()}) <(${inner()})`,
    () => `cd "$(git rev-parse --show-toplevel)"${random.pick([" && ", "; ", " || "])}${inner()}`,
    () => `cd ${path(random)} && cd "$(git rev-parse --show-toplevel)" && ${look(random)}`,
    () =>
      `${random.pick(["ls", "ls -R", "stat", "cat", "readlink"])} $(${random.pick(["which", "command -v"])} ${random.pick(places)})`,
    () =>
      `find ${random.pick([".", "src", "linkd", ". src"])} ${random.pick(["", "-type f ", "-name '*.txt' "])}-exec ${random.pick(["sh", "bash"])} -c '${random.pick(["", "cd docs; ", "shift; ", "set -- a ../outside/secret.txt; "])}cat ${random.pick(['"$1"', "$1", '"$0"', '"../$1"', '"$1/secret.txt"', '"$2"', '"$@"'])}' ${random.pick(["_ ", "sh ", "", "a b "])}{} ${random.pick(["\\;", "+"])}`,
    () =>
      `n=${random.pick(["1", "$(wc -l < a)", "$(cat b)", "'1e'", "'r a;'"])}; sed -n "${random.pick([`\${n}p`, `$((n-2)),\${n}p`, `\${n}r ../outside/secret.txt`, `r\${n}`])}" ${path(random)}`,
    () => `i=${random.pick(["0", "1", value, "$(cat b)", "$(wc -l < a)"])}; echo $((i+1)); ${inner()}`,
    () => `x=${random.pick(["$(cat b)", "b", "1"])}; [[ $x -eq 1 ]]; echo \${y[x]}`,
    () =>
      `shopt -s ${random.pick(["dotglob", "globstar", "nullglob", "extglob"])}; cat ${random.pick(["*", "**/*", ".*", "!(a)"])}`,
    () => `trap '${inner().replaceAll("'", "")}' ${random.pick(["EXIT", "DEBUG"])}; ${inner()}`,
    () => `eval ${inner()}`,
    () => `bash -c '${inner().replaceAll("'", "")}'`,
    () => `${random.pick(["timeout 2", "nice", "env", "env A=1", "command", "time", "stdbuf -oL"])} ${look(random)}`,
  ])();
}

/** A variable or a substitution without quotes, of which bash may make names of files. */
function spread(random: Random): string {
  const text = random.pick([
    "'../*'",
    "'../outside/*'",
    "../o*/c*",
    "'a ../*'",
    "'~/*'",
    "..",
    "a",
    "'src/*'",
    '"$x"',
    "$x",
    "*",
  ]);
  const set = random.pick([
    `x=${text}`,
    `x=(${text})`,
    `x[1]=${text}; x=\${x[1]}`,
    `read x <<< ${text}`,
    `read -r x y <<< ${text}`,
    `mapfile -t x <<< ${text}`,
    `declare x=${text}`,
    `export x=${text}`,
    `for x in ${text}; do :; done`,
    `x=$(echo ${text})`,
    `x=$(cat <<< ${text})`,
    `y=${text}; x=$y`,
    `y=${text}; x="$y"`,
    `x=${text}; x+=/*`,
    `if [ -e a ]; then x=${text}; else x=a; fi`,
    `printf -v x %s ${text}`,
    `x=1; : ${text}`,
  ]);
  const use = random.pick([
    ...[
      "$x",
      `\${x[0]}`,
      `\${x[@]}`,
      `\${x%y}`,
      `\${x#y}`,
      `\${x:-../*}`,
      `\${x:+$x}`,
      `\${x/a/*}`,
      `\${x,,}`,
      `\${x:0}`,
      "$_",
      "$y",
      "$1",
    ],
    ...[
      "$x/*",
      "a$x",
      '"$x"',
      "$REPLY",
      `\${x@Q}`,
      `$(echo ${text})`,
      "$(cat a)",
      "$(ls)",
      "$(git ls-files)",
      "$(date)",
      "`echo $x`",
    ],
  ]);
  const show = random.pick(["echo", "printf '%s '", "basename -a", "echo -n", "for f in", "y=(", "ls -d", "bash -c 'echo $0'"]);
  const ending = show === "for f in" ? '; do echo "$f"; done' : show === "y=(" ? `); echo "\${y[@]}"` : "";
  return `${set}; ${show} ${use}${ending}`;
}

const setters = [
  "f=../outside/secret.txt",
  "read f < a",
  "read f <<< ../outside/secret.txt",
  "printf -v f ../outside/secret.txt",
  "mapfile -t f < a",
  `: \${f:=../outside/secret.txt}`,
  "f+=/../../outside/secret.txt",
  "unset f",
  "command read f < a",
  "declare f=../outside/secret.txt",
];

const places = [
  "a",
  "a.txt",
  "src",
  "src/a.ts",
  "linkf.txt",
  "linkd",
  "linkd/",
  "linkd/secret.txt",
  "../outside/secret.txt",
  "..",
  ".",
  ".env",
  "src/linkf.ts",
  "p/o/secret.txt",
  "src/../linkf.txt",
  "~/secret.txt",
  "etc",
  "0.txt",
  "secrets/key.txt",
  "open/key.txt",
  "open",
  "secrets",
  "p/l/config",
  "here.txt",
  "here/../outside/secret.txt",
  "src/here.ts",
  "../herekey",
];

function path(random: Random): string {
  if (random.below(3) === 0) return random.pick(["a", "b", "src/a.ts", "a.txt", "README.md", "src", "docs"]);
  if (random.below(2)) return random.pick(places);
  return random.pick([
    "*",
    "*.txt",
    "link*",
    "src/*",
    "*/*",
    ".e*",
    ".*",
    "[l]*",
    "?",
    "{a,linkf.txt}",
    "{a,.env}",
    "link{f.txt,d}",
    'l"inkf".txt',
    "$x",
    '"$x"',
    "$f",
    '"$f"',
    "$x/secret.txt",
    '"$PWD/a"',
    '"$PWD/../outside/secret.txt"',
    '"$HOME/secret.txt"',
    "$HOME/secret.txt",
    "$(echo linkf.txt)",
    "$(cat a)",
    "<(cat linkf.txt)",
    "--",
    "-R",
    "-r",
    "@a",
    "@0.txt",
    "--files0-from=0.txt",
    "-f a",
    "--file=a",
    "$'linkf.txt'",
    "../o*/s*",
    "$i",
    "\\.env",
  ]);
}

function source(random: Random): string {
  return random.pick([
    "find . -name '*.txt'",
    "find . -name '*.md'",
    "find . ! -name '*.md'",
    "find . -type f",
    "find src",
    "find . -print0",
    "find -L . -type f",
    "git ls-files",
    "git ls-files",
    "git ls-files -z",
    "git ls-files -d",
    "git ls-files | sort -u",
    "git ls-files | cat -v",
    "git diff --name-only",
    "git diff --name-only HEAD",
    "git diff --cached --name-only",
    "git diff --name-only HEAD~1 | grep -v x",
    "git diff -z --name-only HEAD~1",
    "git status --porcelain",
    "find . | cat -v",
    "find . | rg -r ../outside/secret.txt '.+'",
    "find . | grep -o '/.*'",
    "grep -l . 'odd dir /etc/passwd'",
    "find 'x ..'",
    'find "$PWD"',
    "ls 'x ../outside/secret.txt/y'",
    "ls",
    "ls -a",
    "rg -l x",
    "rg --files",
    "grep -rl x .",
    "cat a",
    "echo linkf.txt",
    "find . | sort",
    "find . -type f | head -5",
    "ls | grep -v x",
    "cat c",
  ]);
}

function look(random: Random): string {
  const program = random.pick([
    "cat",
    "head -1",
    "tail -2",
    "grep -h .",
    "grep -r canary",
    "grep -R canary",
    "grep -d recurse canary",
    "grep -rh . ",
    "rg canary",
    "rg -uu canary",
    "rg -L canary",
    "rg -g .env canary",
    "rg --hidden canary",
    "wc -l",
    "sort",
    "uniq",
    "nl",
    "tac",
    "strings",
    "od -c",
    "xxd -p",
    "base64",
    "diff",
    "diff -r",
    "diff -N",
    "comm",
    "paste",
    "sed -n p",
    "awk 1",
    "awk '{print FILENAME}'",
    "readlink -f",
    "ls -d",
    "ls -ld",
    "bc",
    "nm",
    "objdump -s",
    "jq -R .",
    "find",
    "ls -R",
    "du -a",
    "file",
    "md5sum",
    "cut -c1-",
    "fold",
    "column",
    "echo",
    "test -f",
    "wc --files0-from=0.txt",
    "sort --files0-from=0.txt",
    "xargs -a a cat",
    "file -f a",
    "date -f a",
    "grep -f a",
    "tree",
    "tree -l",
    "stat",
    "realpath",
    "join",
    "cmp",
    "rev",
    "expand",
    "shuf",
    "cksum",
    "git log",
    "git grep canary",
    "git status",
    "git diff",
    "git show",
    "git blame",
    "git log -p --",
    "git ls-files -m -o",
    "node --check",
    "yq .",
    "zcat",
    "gzip -dc",
    "zgrep -h .",
    "xzcat -f",
    "bzip2 -dc",
    "tar tf",
    "tar -tvf",
    "unzip -p",
    "unzip -l",
    "zipinfo",
    "iconv -f utf-8",
    "bash -n",
    "shellcheck",
    "bat -p",
    "eza -l",
    "man",
    "ss -F",
    "printenv",
    "env",
    "basename",
    "python3 -m json.tool",
    "python3 -I -m json.tool",
    "pip show",
    "git symbolic-ref",
    "git cherry",
    "git var",
    "xargs sed -n p",
  ]);
  const words = Array.from({ length: 1 + random.below(2) }, () => path(random));
  return `${program} ${words.join(" ")}${random.below(8) === 0 ? ` < ${path(random)}` : ""}`;
}

/** A line with a program that changes files, alone or beside one that looks. */
function changing(random: Random): string {
  const one = change(random);
  return random.pick([
    () => one,
    () => one,
    () => one,
    () => `${one}; ${look(random)}`,
    () => `${one} && ${change(random)}`,
    () => `cd ${path(random)} && ${one}`,
    () => `for f in ${path(random)}; do ${one}; done`,
    () => `x=${random.pick(targets)}; ${one}`,
    () => `(${one})`,
    () => `${random.pick(["timeout 2", "nice", "env", "command"])} ${one}`,
    () => `${source(random)} | xargs ${one}`,
    () => `[ -e a ] && ${one}`,
    () => `mkdir -p out; ${one}`,
    () => `${oddly(random)}${random.pick(["; ", " && ", "\n", " | "])}${random.pick(feeding)}`,
  ])();
}

function change(random: Random): string {
  // One odd word is enough to be asked about: where all are odd, little is ever tried.
  const target = (): string =>
    random.pick(random.below(2) === 0 ? plainTargets : random.below(4) === 0 ? [path(random)] : targets);
  const [to, from] = [target(), random.below(2) === 0 ? random.pick(plainSources) : path(random)];
  return random.pick([
    () => `${look(random)} ${random.pick([">", ">>", "&>", ">|", "2>"])} ${to}`,
    () => `echo ${random.pick(["x", "'$(./evil)'", "'[core]'"])} ${random.pick([">", ">>"])} ${to}`,
    () => `cat > ${to} <<E\ntext $(cat ${from})\nE`,
    () => `touch ${random.pick(["", "-h ", `-r ${from} `, "-d @5 "])}${to} ${target()}`,
    () => `mkdir ${random.pick(["", "-p ", "-m 700 "])}${to}`,
    () => `rmdir ${random.pick(["", "-p "])}${to}`,
    () => `rm ${random.pick(["", "-r ", "-f ", "-rf "])}${to}`,
    () => `cp ${random.pick(["", "-r ", "-rL ", "-P ", "-a ", "-l ", "-s ", "-n ", "-t out ", "--parents "])}${from} ${to}`,
    () => `mv ${random.pick(["", "-n ", "-f ", "-T ", "-b "])}${random.pick([from, to])} ${target()}`,
    () => `ln ${random.pick(["", "-s ", "-sf ", "-sr ", "-L "])}${from} ${to}`,
    () => `install ${random.pick(["", "-D ", "-d ", "-m 755 "])}${from} ${to}`,
    () =>
      `sed -i${random.pick(["", ".bak", "'.git/hooks/*'"])} ${random.pick(["s/a/b/", "'1e ./evil'", "'w .git/config'", "'r ../outside/secret.txt'", "2d"])} ${to}`,
    () => `tee ${random.pick(["", "-a "])}${to} < ${from}`,
    () => `${look(random)} | tee ${to}`,
    () => `truncate -s 1 ${to}`,
    () => `chmod ${random.pick(["+x", "-R 700", "644"])} ${to}`,
    () => `dd if=${from} of=${to} count=1`,
    () => `sort ${from} -o ${to}`,
    () => `uniq ${from} ${to}`,
    () => `split -l 1 ${from} ${to}`,
    () => `tar ${random.pick(["cf", "chf", "rf"])} ${to} ${from}`,
    () => `find ${from} -name '*.txt' ${random.pick(["-delete", `-fprint ${to}`, "-exec rm {} +", `-exec cp {} ${to} ;`])}`,
    () => `awk '{ print > "${to.replaceAll(/["']/g, "")}" }' ${from}`,
    () => `unlink ${to}`,
    () => `shred -u ${to}`,
  ])();
}

/** A name that is taken apart, or for an option, where it becomes a word. */
function oddly(random: Random): string {
  const odd = random.pick(["./--files0-from=0.txt", "'x ../outside/secret.txt'", "'./x *'", "./-r", "'y ..'", "./@a", "new.txt"]);
  return random.pick([
    `touch ${odd}`,
    `mkdir -p ${odd}`,
    `echo x > ${odd}`,
    `cp a ${odd}`,
    `mv a ${odd}`,
    `tee ${odd} < a`,
    `cd src && touch ${odd}`,
  ]);
}

const feeding = [
  "sort $(ls)",
  "cat $(ls)",
  "ls | xargs cat",
  "find . | xargs cat",
  "find . -type f | while read f; do cat $f; done",
  "for f in $(ls); do cat $f; done",
  "for f in *; do cat $f; done",
  "echo $(ls)",
  "grep canary $(git ls-files -o)",
  "rg --files | xargs head",
  "sort *",
];

const plainSources = ["a", "a.txt", "src/a.ts", "docs", "src", "README.md", "c"];
const plainTargets = ["new.txt", "out", "out/x", "src/new.ts", "docs/guide.md", "a.txt", "empty", "b.txt"];
const targets = [
  ..."new.txt out out/x out/ src/new.ts a.txt b src docs/guide.md empty/x new/deep . ./-x linkf.txt linkd/new linkd src/linkf.ts p/o/x p/l/config p/l".split(
    " ",
  ),
  ..."../outside/new ../new ../project/new.txt .git/hooks/post-index-change .git/config .git .git/info/attributes sub/.git/config ebare/config".split(
    " ",
  ),
  ..."moved/config .gitattributes .vscode/tasks.json .claude/settings.json .claude/tmp/x .envrc .env .mcp.json package.json evil bin2/ls bin2/cat".split(
    " ",
  ),
  ...'~/.bashrc ~/new $HOME/new $x $f out$x {a.txt,new.txt} {out,.git}/config *.txt src/* .e* "$PWD/new.txt" secrets/key.txt secrets open/key.txt open'.split(
    " ",
  ),
];

const everySyntax = shellGrammar({
  programs: ["cat", "cat", "head", "ls", "wc", "grep", "./evil", "git", "sort", "touch", "evil"],
  files: [
    "linkf.txt",
    ".env",
    "a.txt",
    "../outside/secret.txt",
    "linkd/secret.txt",
    "secrets/key.txt",
    "src/a.ts",
    "status",
    ".",
  ],
});
