import type { Random } from "./random-commands.ts";

export type Vocabulary = { readonly programs: readonly string[]; readonly files: readonly string[] };

/** Makes lines of all the syntax bash has, over some programs and names of files. */
export function shellGrammar({ programs, files }: Vocabulary): (random: Random) => string {
  const program = (random: Random): string => random.pick(programs);
  const file = (random: Random): string => random.pick(files);

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
      () => `echo ${program(random)} | xargs ${random.pick(["", "-n 1 ", "-I{} "])}${name(random)} ${random.pick(["a", "{}"])}`,
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
      () => `${variable(random)}='a[$(${program(random)})]'; echo $((${variable(random)} + 1)); ${one()}`,
      () => `read -r ${variable(random)} <<< 'a[$(${program(random)})]'; [[ $x -eq 1 ]]; echo \${y[x]}; ${one()}`,
      () => `printf -v ${variable(random)} '%s' 'a[$(${program(random)})]'; ${one()}`,
      () => `: {${variable(random)}}> out; ${one()}`,
      () =>
        `i=${random.pick(["0", "1", `$(${one()})`, `'a[$(${program(random)})]'`])}; for n in 1 2; do [ $i -lt 2 ]; ${one()}\ni=$((i+1)); done`,
      () => `((i${random.pick(["++", "=1", "+=2", `=$(${one()}; echo 1)`])})); ${one()}`,
      () => `mapfile -t ${variable(random)} <<< 'a[$(${program(random)})]'; echo $((x)); ${one()}`,
      () =>
        `x${random.pick(["", "+"])}=($(${program(random)}) ${word(random, 0)})${random.pick(["", "b", "'c'", '"d"', "$x"])}; ${one()}`,
      () =>
        `read -r ${variable(random)} <<< 'a[$(${program(random)})]'; y${random.pick(["", "+"])}=(${random.pick(["", "a "])}[${subscript(random)}]${random.pick(["", "+"])}=1); ${one()}`,
      () =>
        `${one()} {q[${subscript(random)}]}${random.pick([`< ${file(random)}`, "<<<a", "> out", ">&2", "<&0", "<<E\na\nE\n"])}`,
      () =>
        `x='a[$(${program(random)})]'; ${random.pick(["unset 'y[x]'", "read 'y[x]' <<< 1", "printf -v 'y[x]' 1", "[[ -v y[x] ]]", "test -v 'y[x]'", "y[x]=1", `echo \${y[x]}`, `echo \${y:x}`, "declare 'y[x]=1'", "b=([x]=1)", "let x", "true & wait -n -p 'y[x]'"])}; ${one()}`,
      () => `read -r x <<< '-py[$(${program(random)})]'; true & wait ${random.pick(['"$x"', "$!", '"$!"', "$x"])}; ${one()}`,
      () =>
        `echo ${program(random)} | xargs ${random.pick(["--replace", "-I{} -n1", "-E -I", "--max-lines", "-n1 -I{}"])} ${name(random)} ${name(random)} {}`,
      () => `x='($(${program(random)}))'; declare -a y=$x; ${one()}`,
      () => `select ${variable(random)} in a; do ${one()}\nbreak; done <<< 1`,
      () => `trap ${quote(random, one())} DEBUG; ${one()}`,
      () => `${random.pick(["command", "builtin"])} ${random.pick(["eval", "read x <<<", "declare"])} ${quote(random, one())}`,
      // A name, an option or a builtin that only a variable holds.
      () => {
        const code = `$(${program(random)})`;
        const set = random.pick([
          "declare",
          "export",
          "typeset",
          "readonly",
          "declare -x",
          "\\export",
          "'declare'",
          "$d",
          "$d $o",
        ]);
        const told = random.pick([`"$n=\\${code}"`, `"$n"='${code}'`, `$n='${code}'`, '"$p"', "$p", '"x"=$q', "x=$q", '"x=$q"']);
        const given = `${random.pick(["read -r", "read", "mapfile -t", "$r"])} ${random.pick(['"$n"', "$n"])} <<< '${code}'`;
        const printed = `printf ${random.pick(["-v", "$v"])} ${random.pick(['"$n"', "$n"])} '${code}'`;
        const named = (): string => random.pick(["PS4", "PS4", "PS4", variable(random)]);
        const names = `n=${named()}; d=declare; r=read; v=-v; o=-x`;
        const values = `p=${named()}='${code}'; q='1 ${named()}=${code}'`;
        return `${names}; ${values}; ${random.pick([`${set} ${told}`, given, printed])}; set -x; ${one()}`;
      },
      () => `alias ${program(random)}=${name(random)}; ${one()}`,
    ])();
  }

  /** What may stand in brackets: bash evaluates it. */
  function subscript(random: Random): string {
    return random.pick(["1", "x", "REPLY", `'$(${program(random)})'`, `"$(${program(random)})"`, "x+1", "_", "a b"]);
  }

  function simple(random: Random, depth: number): string {
    const words = Array.from({ length: random.below(3) }, () => word(random, depth - 1));
    const prefix = random.below(6) === 0 ? `A=${word(random, depth - 1)} ` : "";
    const redirect =
      random.below(6) === 0
        ? random.pick([" > out", " 2>&1", ` < ${file(random)}`, " >| out", " &> out", " <<< x", ` > >(${name(random)})`])
        : "";
    return `${prefix}${name(random)}${words.map((text) => ` ${text}`).join("")}${redirect}`;
  }

  /** A program, spelled in one of many ways. */
  function name(random: Random): string {
    const plain = random.pick([...programs, ...programs, "echo", "true", "printf", "test"]);
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
    const text = depth > 0 ? () => list(random, depth - 1) : () => program(random);
    if (random.below(2) > 0) return random.pick(["a", "-x", '"b c"', "'d;e'", file(random), file(random)]);
    return random.pick([
      () => `'$(${text()})'`.replace(/(?!^)'(?!$)/g, ""),
      () => `"$(${text()})"`,
      () => `$(${text()})`,
      () => `\`${program(random)}\``,
      () => `"\`${program(random)} a\`"`,
      () => `<(${text()})`,
      () => `\${A:-$(${text()})}`,
      () => `"\${A:-\`${program(random)}\`}"`,
      () => `\${A:=\${B:+$(${text()})}}`,
      () => `\${A/$(${program(random)})/b}`,
      () => `"\${A#"$(${program(random)})"}"`,
      () => `\${A@P}`,
      () => `\${!A}`,
      () => `$((1 + $(${program(random)}; echo 1)))`,
      () => `$((a[$(${program(random)})]))`,
      () => `$'\\'$(${program(random)})'`,
      () => `"a 'b' $(${program(random)} 'c')"`,
      () => `\\$(echo ${program(random)})`,
      () => `"\\$(${program(random)})"`,
      () => `"\\\\$(${program(random)})"`,
      () => `a=$(${program(random)})`,
      () => `{a,$(${program(random)})}`,
      () => `$[ $(${program(random)}; echo 1) ]`,
      () => `$"$(${program(random)})"`,
      () => `*`,
    ])();
  }

  return (random) => list(random, 2);
}

/** A third of the lines, with some letters too many or too few. */
export function damage(random: Random, text: string): string {
  if (random.below(3) > 0) return text;
  const letters = [...text];
  for (let times = 1 + random.below(3); times > 0; times--) {
    const at = random.below(letters.length + 1);
    if (random.below(2)) letters.splice(at, 1);
    else letters.splice(at, 0, random.pick(signs));
  }
  return letters.join("");
}

const signs = [..."'\"`$(){};&|<>\\\n #!*=\r\t[]~\u00a0"];

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

function quote(random: Random, text: string): string {
  if (random.below(3) === 0) return `"${text.replace(/["\\`]/g, "\\$&")}"`;
  return `'${text.replaceAll("'", "'\\''")}'`;
}
