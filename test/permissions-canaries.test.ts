import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { canary, createGround, type Ground, toRules } from "./command-ground.ts";
import { createRandom, type Random } from "./random-commands.ts";

/** Many more by hand: OUTRIDER_PROPERTY_COMMANDS=1000000 npm test -- permissions-canaries. A failure names its seed. */
const count = Number(process.env["OUTRIDER_PROPERTY_COMMANDS"] ?? 1_500);
const seed = Number(process.env["OUTRIDER_PROPERTY_SEED"] ?? 20_261_116);
const batch = 500;
const inside = "canary-inside-91d";

describe("what a decision lets run", () => {
  it("shows nothing from outside or that a rule protects, and runs and writes nothing it did not tell of", {
    timeout: 7_200_000,
    skip: process.platform !== "linux",
  }, async () => {
    const random = createRandom(seed);
    let allowed = 0;
    const problems: string[] = [];
    for (let done = 0; done < count; done += batch) {
      const isProtected = (done / batch) % 2 === 1;
      const ground = createGround({ hostile: (done / batch) % 4 < 2 });
      try {
        prepare(ground);
        const commands: string[] = [];
        for (let one = 0; one < Math.min(batch, count - done); one++) {
          const command = generate(random);
          const { effect } = await ground.judge(command, isProtected ? { deny: toRules(["Read(./.env)"]) } : {});
          if (effect === "allow") commands.push(command);
        }
        allowed += commands.length;
        const before = listing(ground);
        const outputs = await runAll(ground, commands);
        for (const [index, command] of commands.entries()) {
          const output = outputs[index] ?? "";
          if (output.includes(canary)) problems.push(`${JSON.stringify(command)} shows what is outside`);
          if (isProtected && output.includes(inside)) problems.push(`${JSON.stringify(command)} shows what a rule protects`);
        }
        if (listing(ground) !== before) problems.push(`something was written by one of ${JSON.stringify(commands)}`);
      } finally {
        ground.remove();
      }
    }
    assert.deepEqual(problems, [], `seed ${seed}`);
    assert.ok(allowed > count * 0.1, `${allowed} of ${count} were allowed`); // asking about everything would pass, too
  });
});

/** Files whose content becomes code or names where it is believed. */
function prepare({ root }: Ground): void {
  const top = dirname(root);
  writeFileSync(join(root, ".env"), `${inside}\n`);
  writeFileSync(join(root, "a"), "../outside/secret.txt\n");
  writeFileSync(join(root, "b"), "a[$(: > pwned)]\n");
  writeFileSync(join(root, "c"), ".env\n");
  writeFileSync(join(root, "0.txt"), "../outside/secret.txt\0");
  cpSync(join(top, "outside"), join(top, "home"), { recursive: true });
}

function listing({ root }: Ground): string {
  return readdirSync(dirname(root), { recursive: true }).sort().join("\n");
}

/** Each command in a shell of its own, as the session starts it; what each prints. */
async function runAll({ root }: Ground, commands: readonly string[]): Promise<string[]> {
  const top = dirname(root);
  const list = `${top}.commands`;
  const log = `${top}.log`;
  writeFileSync(list, commands.map((command) => `${command}\0`).join(""));
  const driver = `set -m
while IFS= read -r -d '' outrider_text <&3; do
  ( set --; ulimit -t 2 -f 2000; eval "$outrider_text" ) 3<&- < /dev/null 2>&1 &
  wait $!
  printf '\\0'
done 3< "$1" > "$2"
:`;
  const child = spawn("bash", ["-c", driver, "driver", list, log], {
    cwd: root,
    env: { PATH: process.env["PATH"] ?? "", HOME: join(top, "home"), LANG: "C" },
    stdio: "ignore",
  });
  const ended = await Promise.race([
    new Promise<boolean>((resolve) => child.once("exit", () => resolve(true))),
    sleep(300_000, false, { ref: false }),
  ]);
  if (!ended) child.kill("SIGKILL");
  assert.ok(ended, "a generated command did not end");
  const outputs = existsSync(log) ? readFileSync(log, "utf8").split("\0") : [];
  for (const file of [list, log]) rmSync(file, { force: true });
  return outputs;
}

function generate(random: Random): string {
  const text = line(random, 2);
  if (random.below(5) > 0) return text;
  const letters = [...text];
  const at = random.below(letters.length + 1);
  if (random.below(2)) letters.splice(at, 1);
  else letters.splice(at, 0, random.pick([..."'\"`$(){};&|<>\\\n #!*=[]~?-,"]));
  return letters.join("");
}

function line(random: Random, depth: number): string {
  const one = (): string => (depth > 0 ? form(random, depth - 1) : look(random));
  return random.below(3) === 0 ? `${one()}${random.pick(["; ", " && ", " || ", " | ", "\n", " & "])}${one()}` : one();
}

function form(random: Random, depth: number): string {
  const inner = (): string => line(random, depth);
  const name = random.pick(["x", "f", "i", "OPTIND", "RANDOM", "PATH", "IFS", "PS4", "HOME", "y"]);
  const value = random.pick([...places, "'a[$(: > pwned)]'", "'($(: > pwned))'", "'.e*'", "'link*'", "1", "'a b'"]);
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
    () => `while read -r f; do cat "$f"; done < ${path(random)}`,
    () => `cd ${path(random)} && ${inner()}`,
    () => `(${inner()})`,
    () => `{ ${inner()}; }`,
    () => `if ${inner()}; then ${inner()}; fi`,
    () =>
      `${source(random)} | xargs ${random.pick(["", "-n1 ", "-0 ", "-I{} ", "-d '\\n' "])}${look(random).replace(/ .*/s, "")} ${random.pick(["", "{}", "x"])}`,
    () => `${random.pick(["cat", "wc -l", "head -1", "grep x"])} $(${source(random)})`,
    () =>
      `find ${random.pick(["", "-L ", "-H "])}${random.pick([".", "src", "linkd", "linkd/", "p"])} ${random.pick(["", "-type f ", "-type l ", "-name '*.txt' ", "! -type d "])}-exec ${random.pick(["cat", "grep x", "head"])} {} ${random.pick(["+", "\\;"])}`,
    () => `diff <(${inner()}) <(${inner()})`,
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
    "find . -type f",
    "find src",
    "find . -print0",
    "find -L . -type f",
    "git ls-files",
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
    "node --check",
    "yq .",
  ]);
  const words = Array.from({ length: 1 + random.below(2) }, () => path(random));
  return `${program} ${words.join(" ")}${random.below(8) === 0 ? ` < ${path(random)}` : ""}`;
}
