import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { createRandom, type Random } from "./random-commands.ts";
import { parseCommand } from "../packages/runtime/src/permissions/parse-command.ts";
import type { Program } from "../packages/runtime/src/permissions/parsed-command.ts";

/** CI asks for 100,000: OUTRIDER_PROPERTY_COMMANDS=100000 npm test -- permissions-bash. A failure names its seed. */
const count = Number(process.env["OUTRIDER_PROPERTY_COMMANDS"] ?? 3_000);
const seed = Number(process.env["OUTRIDER_PROPERTY_SEED"] ?? 20_261_115);
const batch = 1_000;
const drivers = 2;

/** Programs that only write their name into the log. Nothing else is on the PATH but what runs them. */
const stubs = ["alpha", "beta", "gamma", "delta", "rm", "curl", "make"];
const runners = ["bash", "sh", "env", "xargs", "find", "timeout", "nice", "nohup", "setsid", "stdbuf"];

const top = mkdtempSync(join(tmpdir(), "outrider-jail-"));
after(() => rmSync(top, { recursive: true, force: true }));

describe("what bash runs", () => {
  it("is always listed by the parser, unless it says that it does not understand", {
    timeout: 3_600_000,
    skip: process.platform !== "linux",
  }, async () => {
    const random = createRandom(seed);
    let understood = 0;
    let ran = 0;
    const problems: string[] = [];
    let generated = 0;
    const work = async (jail: string): Promise<void> => {
      prepareJail(jail);
      while (generated < count) {
        const size = Math.min(batch, count - generated);
        generated += size;
        // What the parser does not understand is never allowed by parts, whatever it would run.
        const known = Array.from({ length: size }, () => generate(random)).flatMap((command) => {
          const listed = listedIn(command);
          return listed ? [{ command, listed }] : [];
        });
        understood += known.length;
        const log = await runAll(
          jail,
          known.map(({ command }) => command),
        );
        for (const [index, { command, listed }] of known.entries()) {
          const started = log.get(index) ?? [];
          if (started.length > 0) ran++;
          const missing = started.filter((name) => !listed.has(name));
          if (missing.length > 0) problems.push(`${JSON.stringify(command)} ran ${[...new Set(missing)].join(", ")}`);
        }
      }
    };
    await Promise.all(Array.from({ length: drivers }, (_, index) => work(join(top, String(index)))));
    assert.deepEqual(problems, [], `seed ${seed}`);
    // Understanding nothing would pass, too.
    assert.ok(understood > count * 0.25 && ran > count * 0.15, `${understood} understood, ${ran} of them ran something`);
  });
});

/** The programs a command would run; undefined when the parser says that it cannot tell. */
function listedIn(command: string): Set<string> | undefined {
  const parsed = parseCommand(command);
  const programs = flatten(parsed.programs);
  if (!parsed.understood || programs.some((program) => program.hidden !== undefined)) return undefined;
  return new Set(programs.map((program) => program.name));
}

function flatten(programs: readonly Program[]): Program[] {
  return programs.flatMap((program) => [program, ...flatten(program.inside)]);
}

function prepareJail(jail: string): void {
  mkdirSync(join(jail, "bin"), { recursive: true });
  mkdirSync(join(jail, "work"));
  const stub = join(jail, "stub");
  writeStub(stub, join(jail, "log"));
  for (const name of stubs) {
    copyFileSync(stub, join(jail, "bin", name));
    writeFileSync(join(jail, "work", name), ""); // so that patterns find something
  }
  for (const name of runners) {
    const found = (process.env["PATH"] ?? "").split(":").map((folder) => join(folder, name));
    const real = found.flatMap((path) => {
      try {
        return [realpathSync(path)];
      } catch {
        return [];
      }
    })[0];
    if (real) symlinkSync(real, join(jail, "bin", name));
  }
}

/** Writes its job and name into the log: compiled where there is a compiler, because a script takes four times as long to start. */
function writeStub(path: string, log: string): void {
  const source = `#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(int count, char **words) {
  char line[256];
  const char *job = getenv("JOB"), *slash = strrchr(words[0], '/');
  int size = snprintf(line, sizeof line, "%s %s\\n", job ? job : "?", slash ? slash + 1 : words[0]);
  int file = open(${JSON.stringify(log)}, O_WRONLY | O_APPEND);
  return file < 0 || write(file, line, size) != size;
}
`;
  writeFileSync(`${path}.c`, source);
  const { status } = spawnSync("cc", ["-O1", "-static", "-o", path, `${path}.c`], { stdio: "ignore" });
  if (status !== 0) writeFileSync(path, `#!/bin/sh\necho "$JOB \${0##*/}" >> ${log}\n`);
  chmodSync(path, 0o755);
}

/** Each command in a shell of its own; which programs were started, by index. */
async function runAll(jail: string, commands: readonly string[]): Promise<Map<number, string[]>> {
  const list = join(jail, "commands");
  writeFileSync(list, commands.map((command) => `${command}\0`).join(""));
  writeFileSync(join(jail, "log"), "");
  // Each command has a process group of its own; whatever is left in one at the end is ended.
  const driver = `set -m
outrider_job=0 outrider_groups=
while IFS= read -r -d '' outrider_text <&3; do
  ( set --; ulimit -t 2; export JOB=$outrider_job; eval "$outrider_text" ) 3<&- < /dev/null > /dev/null 2>&1 &
  outrider_groups="$outrider_groups $!"
  wait $!
  outrider_job=$((outrider_job + 1))
done 3< "$1"
read -r -t 0.2 < <(read -r -t 1)
for group in $outrider_groups; do kill -KILL -- -$group; done 2> /dev/null
:`;
  const child = spawn("bash", ["-c", driver, "driver", list], {
    cwd: join(jail, "work"),
    env: { PATH: join(jail, "bin"), HOME: join(jail, "work"), FUNCNEST: "20" },
    stdio: "ignore",
  });
  const ended = await Promise.race([
    new Promise<boolean>((resolve) => child.once("exit", () => resolve(true))),
    sleep(120_000, false, { ref: false }),
  ]);
  if (!ended) child.kill("SIGKILL");
  assert.ok(ended, "a generated command did not end");
  const log = new Map<number, string[]>();
  for (const line of readFileSync(join(jail, "log"), "utf8").split("\n")) {
    const [job, name] = line.split(" ");
    if (name) log.set(Number(job), [...(log.get(Number(job)) ?? []), name]);
  }
  return log;
}

/** A command line without a slash: nothing outside the jail can be named. A third is damaged afterwards. */
function generate(random: Random): string {
  const text = list(random, 2);
  if (random.below(3) > 0) return text;
  const letters = [...text];
  for (let times = 1 + random.below(3); times > 0; times--) {
    const at = random.below(letters.length + 1);
    const damage = random.pick([
      "'",
      '"',
      "`",
      "$",
      "(",
      ")",
      "{",
      "}",
      ";",
      "&",
      "|",
      "<",
      ">",
      "\\",
      "\n",
      " ",
      "#",
      "!",
      "*",
      "=",
      "\r",
      "\t",
      "[",
      "]",
      "~",
      "\u00a0",
    ]);
    if (random.below(2)) letters.splice(at, 1);
    else letters.splice(at, 0, damage);
  }
  return letters.join("").replaceAll("/", "");
}

function list(random: Random, depth: number): string {
  const parts = Array.from({ length: 1 + random.below(2) }, () => command(random, depth));
  return parts.reduce(
    (text, part) => text + random.pick(["; ", " && ", " || ", " | ", "\n", " & ", " |& ", ";", " \\\n&& "]) + part,
  );
}

function command(random: Random, depth: number): string {
  if (depth <= 0) return simple(random, 0);
  const inner = (): string => list(random, depth - 1);
  const one = (): string => simple(random, depth - 1);
  if (random.below(2) > 0) return simple(random, depth);
  return random.pick([
    () => `( ${inner()} )`,
    () => `{ ${inner()}\n}`,
    () => `if ${inner()}\nthen ${inner()}\nelse ${inner()}\nfi`,
    () => `for x in ${name(random)} ${word(random, depth - 1)}; do ${inner()}\ndone`,
    () => `while ${one()}; do ${inner()}\nbreak; done`,
    () => `case ${word(random, depth - 1)} in ${random.pick(["a", "*", `$(${one()})`])}) ${inner()}\n;; esac`,
    () => `! ${one()}`,
    () => `time ${random.pick(["", "-p "])}${one()}`,
    () => `f() { ${inner()}\n}; f`,
    () => `coproc ${one()}`,
    () => `eval ${quote(random, inner())}`,
    () => `eval ${one()}`,
    () => `bash -c ${quote(random, inner())}`,
    () => `sh -ec ${quote(random, inner())}`,
    () => `trap ${quote(random, inner())} EXIT`,
    () =>
      `${random.pick(["env", "env -u A", "env A=b", "nice", "nice -n 1", "nohup", "timeout 5", "timeout -k 1 5", "command", "builtin command", "exec", "stdbuf -oL", "setsid -w", "command -p"])} ${one()}`,
    () => `echo ${random.pick(stubs)} | xargs ${random.pick(["", "-n 1 ", "-I{} "])}${name(random)} ${random.pick(["a", "{}"])}`,
    () => `echo ${quote(random, inner())} | ${random.pick(["bash", "sh", "bash -s", "xargs bash -c"])}`,
    () => `find . -maxdepth 0 -exec ${name(random)} {} ${random.pick(["\\;", "+", "';'"])}`,
    () => `find . -maxdepth 0 -exec sh -c ${quote(random, inner())} \\;`,
    () => `[[ ${word(random, depth - 1)} ${random.pick(["==", "-eq", "=~", "!="])} ${word(random, depth - 1)} ]] && ${one()}`,
    () => `[ ${word(random, depth - 1)} = b ] || ${one()}`,
    () => `${one()} <<EOF\n$(${one()})\n\`${one()}\` '$(${one()})' \\$(${one()})\nEOF\n${one()}`,
    () => `${one()} <<'EOF'\n$(${one()})\nEOF\n${one()}`,
    () => `${one()} <<-\tEOF\n\t$(${one()})\n\tEOF\n${one()}`,
    () => `${one()} # ${one()}`,
    () => `(( x = $(${one()}; echo 1) ))`,
    () => `for ${variable(random)} in '$(${one()})' '${name(random).replaceAll("'", "")}'; do set -x; ${one()}\ndone`,
    () =>
      `${random.pick(["declare -a", "declare", "readonly -a", "typeset -A", "export", "declare -i", "local", "declare -x"])} ${variable(random)}='${random.pick([`($(${one()}))`, `a[$(${one()})]`, "1", "b"]).replaceAll("'", "")}'; ${one()}`,
    () => `${variable(random)}='a[$(${random.pick(stubs)})]'; echo $((${variable(random)} + 1)); ${one()}`,
    () => `read -r ${variable(random)} <<< 'a[$(${random.pick(stubs)})]'; [[ $x -eq 1 ]]; echo \${y[x]}; ${one()}`,
    () => `printf -v ${variable(random)} '%s' 'a[$(${random.pick(stubs)})]'; ${one()}`,
    () => `: {${variable(random)}}> out; ${one()}`,
    () =>
      `i=${random.pick(["0", "1", `$(${one()})`, `'a[$(${random.pick(stubs)})]'`])}; for n in 1 2; do [ $i -lt 2 ]; ${one()}\ni=$((i+1)); done`,
    () => `((i${random.pick(["++", "=1", "+=2", `=$(${one()}; echo 1)`])})); ${one()}`,
    () => `mapfile -t ${variable(random)} <<< 'a[$(${random.pick(stubs)})]'; echo $((x)); ${one()}`,
    () =>
      `x${random.pick(["", "+"])}=($(${random.pick(stubs)}) ${word(random, 0)})${random.pick(["", "b", "'c'", '"d"', "$x"])}; ${one()}`,
    () =>
      `read -r ${variable(random)} <<< 'a[$(${random.pick(stubs)})]'; y${random.pick(["", "+"])}=(${random.pick(["", "a "])}[${subscript(random)}]${random.pick(["", "+"])}=1); ${one()}`,
    () => `${one()} {q[${subscript(random)}]}${random.pick(["< alpha", "<<<a", "> out", ">&2", "<&0", "<<E\na\nE\n"])}`,
    () =>
      `x='a[$(${random.pick(stubs)})]'; ${random.pick(["unset 'y[x]'", "read 'y[x]' <<< 1", "printf -v 'y[x]' 1", "[[ -v y[x] ]]", "test -v 'y[x]'", "y[x]=1", `echo \${y[x]}`, `echo \${y:x}`, "declare 'y[x]=1'", "b=([x]=1)", "let x", "true & wait -n -p 'y[x]'"])}; ${one()}`,
    () => `read -r x <<< '-py[$(${random.pick(stubs)})]'; true & wait ${random.pick(['"$x"', "$!", '"$!"', "$x"])}; ${one()}`,
    () =>
      `echo ${random.pick(stubs)} | xargs ${random.pick(["--replace", "-I{} -n1", "-E -I", "--max-lines", "-n1 -I{}"])} ${name(random)} ${name(random)} {}`,
    () => `x='($(${random.pick(stubs)}))'; declare -a y=$x; ${one()}`,
    () => `select ${variable(random)} in a; do ${one()}\nbreak; done <<< 1`,
    () => `trap ${quote(random, one())} DEBUG; ${one()}`,
    () => `${random.pick(["command", "builtin"])} ${random.pick(["eval", "read x <<<", "declare"])} ${quote(random, one())}`,
    () => `alias ${random.pick(stubs)}=${name(random)}; ${one()}`,
  ])();
}

/** What may stand in brackets: bash evaluates it. */
function subscript(random: Random): string {
  return random.pick(["1", "x", "REPLY", `'$(${random.pick(stubs)})'`, `"$(${random.pick(stubs)})"`, "x+1", "_", "a b"]);
}

/** Some mean something to bash. */
function variable(random: Random): string {
  return random.pick([
    "x",
    "y",
    "i",
    "A",
    "OPTIND",
    "RANDOM",
    "SECONDS",
    "PS4",
    "IFS",
    "HISTCMD",
    "BASH_ENV",
    "PROMPT_COMMAND",
    "REPLY",
  ]);
}

function simple(random: Random, depth: number): string {
  const words = Array.from({ length: random.below(3) }, () => word(random, depth - 1));
  const prefix = random.below(6) === 0 ? `A=${word(random, depth - 1)} ` : "";
  const redirect =
    random.below(6) === 0
      ? random.pick([" > out", " 2>&1", " < alpha", " >| out", " &> out", " <<< x", ` > >(${name(random)})`])
      : "";
  return `${prefix}${name(random)}${words.map((text) => ` ${text}`).join("")}${redirect}`;
}

/** A program, spelled in one of many ways. */
function name(random: Random): string {
  const plain = random.pick([...stubs, ...stubs, "echo", "true", "printf", "test"]);
  const half = Math.floor(plain.length / 2);
  const [first, second] = [plain.slice(0, half), plain.slice(half)];
  if (random.below(4) > 0) return plain;
  return random.pick([
    `${first}\\${second}`,
    `\\${plain}`,
    `'${plain}'`,
    `"${plain}"`,
    `${first}''${second}`,
    `${first}"${second}"`,
    `$'${first}\\x${second.charCodeAt(0).toString(16)}${second.slice(1)}'`,
    `${first}\\\n${second}`,
    `{${plain},a}`,
    `$(echo ${plain})`,
    `\`echo ${plain}\``,
    `\${A:-${plain}}`,
    `${plain.slice(0, -1)}?`,
    `$A ${plain}`,
    "$x",
    `x=${plain}; $x`,
    `env A=$x ${plain}`,
    `nice -n $A 1 ${plain}`,
    `""$@${plain}`,
  ]);
}

function word(random: Random, depth: number): string {
  const text = depth > 0 ? () => list(random, depth - 1) : () => random.pick(stubs);
  if (random.below(2) > 0) return random.pick(["a", "-x", '"b c"', "'d;e'", random.pick(stubs)]);
  return random.pick([
    () => `'$(${text()})'`.replace(/(?!^)'(?!$)/g, ""),
    () => `"$(${text()})"`,
    () => `$(${text()})`,
    () => `\`${random.pick(stubs)}\``,
    () => `"\`${random.pick(stubs)} a\`"`,
    () => `<(${text()})`,
    () => `\${A:-$(${text()})}`,
    () => `"\${A:-\`${random.pick(stubs)}\`}"`,
    () => `\${A:=\${B:+$(${text()})}}`,
    () => `\${A/$(${random.pick(stubs)})/b}`,
    () => `"\${A#"$(${random.pick(stubs)})"}"`,
    () => `\${A@P}`,
    () => `\${!A}`,
    () => `$((1 + $(${random.pick(stubs)}; echo 1)))`,
    () => `$((a[$(${random.pick(stubs)})]))`,
    () => `$'\\'$(${random.pick(stubs)})'`,
    () => `"a 'b' $(${random.pick(stubs)} 'c')"`,
    () => `\\$(echo ${random.pick(stubs)})`,
    () => `"\\$(${random.pick(stubs)})"`,
    () => `"\\\\$(${random.pick(stubs)})"`,
    () => `a=$(${random.pick(stubs)})`,
    () => `{a,$(${random.pick(stubs)})}`,
    () => `$[ $(${random.pick(stubs)}; echo 1) ]`,
    () => `$"$(${random.pick(stubs)})"`,
    () => `*`,
  ])();
}

function quote(random: Random, text: string): string {
  if (random.below(3) === 0) return `"${text.replace(/["\\`]/g, "\\$&")}"`;
  return `'${text.replaceAll("'", "'\\''")}'`;
}
