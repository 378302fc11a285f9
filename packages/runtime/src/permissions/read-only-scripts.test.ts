import { describe } from "node:test";
import { itHolds } from "../../../../test/support/it-holds.ts";
import { showWord } from "../../../../test/support/show-command.ts";
import { parseCommand } from "./parse-command.ts";
import type { Looking } from "./read-only-commands.ts";
import { readAwk, readFind, readJq, readPrintf, readSed, readTest, readYq } from "./read-only-scripts.ts";
import type { ShellWord } from "./shell-words.ts";

const readers: Readonly<Record<string, (words: readonly ShellWord[]) => Looking | undefined>> = {
  sed: readSed,
  awk: readAwk,
  jq: readJq,
  yq: readYq,
  find: readFind,
  printf: readPrintf,
  test: readTest,
  "[": readTest,
};

/** What is read by commands that only look; others are a `no`. */
// biome-ignore format: a list
const commands: Readonly<Record<string, readonly string[]>> = {
  "looks": [
    "sed p", "sed --debug p", "sed --posix -u p", "awk '{print}'", "jq -n 1", "find", "printf a", "printf -- a",
    "printf '%s' a", "printf '%d%%\\n' 1", "printf '%%n'", "printf '%s n' x", "printf a -v", "printf '* %s' a '%s'", "test", "test -f",
    "test -v x", "test -v x y", "test -v", "test a -v", "test \"$x\"", "test \"$x\" = a", "test a = \"$x\"",
    "test a = \"$x\" -a b", "test \"$x\" -eq 1", "test -n \"$x\"", "test \\( \"$x\" \\)", "[ \"$x\" = a ]", "[ -n \"$x\" ]",
    "[ a = \"$x\" ]", "[ \"$x\" ]", "[ -f ]", "[ a -a b ]", "[ -o x ]", "[ -t 1 ]", "[ -z a ]", "printf '%d%%\\n' 1", "printf '100%%\\n'",
  ],
  "looks \"\"\u2026 \"\"\u2026 names": [
    "[ \"$x\" -nt \"$y\" ]",
  ],
  "looks a names": [
    "test -f a", "[ -f a ]", "[ ! -e a ]", "[ -a a ]", "[ ! -a a ]", "test \\( -a a \\)", "[ -n x -a -d a ]", "[ x -o -L a ]",
    "[ -h a ]", "[ -S a ]", "[ -N a ]", "[ -x a -a b ]", "[ -e a -a -n \"$x\" ]",
  ],
  "looks a ] names": [
    "[ -f a -a -e ] ]",
  ],
  "looks a b names": [
    "[ a -nt b ]", "test a -ot b", "test ! a -ef b", "[ -r a -a -w b ]", "[ a -nt b -a c ]",
  ],
  "looks \"\"\u2026 .": [
    "find . -newer \"$x\"",
  ],
  "looks .": [
    "find .", "find . -name '*.ts'", "find . -name *.ts", "find . -name \"$x\"", "find . -exec rm {} \\;",
    "find . -exec rm {} \\; -print", "find . -print -o -prune", "find . \\( -name a -o -name b \\) -print",
    "find . ! -name a", "find . -name a , -print", "find . -type f )", "find . -maxdepth 1 -ls",
    "find . -regextype posix -regex x", "find . -exec a -delete \\; -name b", "find . -exec a", "find . -name -delete",
  ],
  "looks . a\u2026": [
    "find . \"a$x\" -print",
  ],
  "looks ./**(links)": [
    "find -L",
  ],
  "looks ./*.ts*": [
    "find ./*.ts",
  ],
  "looks a": [
    "sed -n p a", "sed -e p -e d a", "sed --expression=p a", "sed --expression p a", "sed -ne p a", "sed -E 's/a/b/' a",
    "sed -l 5 p a", "sed '' a", "sed '{p}' a", "sed '{' a", "sed '/a/{p;d}' a", "sed '1p' a", "sed '1~2p' a",
    "sed '1,3p' a", "sed '1,+3p' a", "sed '1,~3p' a", "sed '$p' a", "sed '1,$p' a", "sed '/a/p' a", "sed '/a/Ip' a",
    "sed '/a/,/b/p' a", "sed '/a/ , /b/I p' a", "sed '/a\\/b/p' a", "sed '/a/!p' a", "sed '/a/! p' a", "sed 'q' a",
    "sed 'q5' a", "sed 'Q 5' a", "sed ':a;N;$!ba;p' a", "sed 't' a", "sed 'T x;p' a", "sed 's/a/b/' a", "sed 's/a/b/g' a",
    "sed 's/a/b/gp' a", "sed 's/a/b/2I' a", "sed 's|a|b|' a", "sed 's,a,b,' a", "sed 's#a#b#g' a", "sed 's!a!b!;p' a",
    "sed 's|[/]|b|' a", "sed 's|/[^/]*$||' a", "sed -n \"$((1)),$((2))p\" a", "sed -n \"$?p;$((1))q\" a",
    "sed 's~a~b~' a", "sed 's%a%b%' a", "sed 's/a\\/b/c/' a", "sed 's/a/b/;s/c/d/' a", "sed 's/a/b/}' a",
    "sed 's/a/b/ p' a", "sed 's/[ab]/b/' a", "sed 's/\\[/b/' a", "sed 'y/ab/cd/' a", "sed 'y,a,b,;p' a",
    "sed 'y/a\\/b/cde/' a", "sed '=' a", "sed 'l' a", "sed 'z' a", "sed 'F' a", "sed 'G;h;H;x;n;N;P;D;g' a", "sed -s p a",
    "sed --sandbox p a", "sed -z p a", "awk -F: '{print $1}' a", "awk -F : '{print $1}' a", "awk -v x=1 '{print x}' a",
    "awk --assign x=1 --field-separator , '{print}' a", "awk '$1 || $2' a", "awk '$1 > 3' a", "awk '$1 > 3 {print}' a",
    "awk '{if ($1 > 3) print}' a", "awk '{while ($1 > 3) print}' a", "awk '{print; if ($1 > 3) print}' a",
    "awk '{printf \"%s\", $1}' a", "awk '{if (\"a\" > 3) print; print}' a", "jq . a", "jq -r .x a", "jq --arg x 1 . a",
    "jq --argjson x 1 . a", "jq --indent 2 . a", "jq --tab . a", "jq '.env' a", "jq '$env' a", "jq '.a_env' a",
    "awk '{print; x = $1 > 3}' a", "awk '{print} $1 > 3' a", "jq \"--arg\" \"$x\" 1 . a", "jq . a --arg x 1", "awk '{x = $1 > 3; print}' a",
  ],
  "looks a b": [
    "sed p a b", "sed -e p a b", "awk '{print}' a b", "jq . a b",
  ],
  "looks a b starts": [
    "yq ea .x a b",
  ],
  "looks a starts": [
    "yq . a", "yq -r .x a", "yq e .x a", "yq eval .x a", "yq eval-all .x a", "yq -o json . a", "yq --indent=2 . a",
  ],
  "looks a*.ts*": [
    "find a*.ts",
  ],
  "looks b .": [
    "find . -newer b", "find . -samefile b -newermt x",
  ],
  "looks b a": [
    "jq --rawfile x b . a", "jq --slurpfile x b . a",
  ],
  "looks e": [
    "sed -e p -n e",
  ],
  "looks src": [
    "find -P src", "find -E src -print",
  ],
  "looks src test": [
    "find src test",
  ],
  "looks src/**(links)": [
    "find -L src", "find -H src -print", "find src -follow",
  ],
  "looks src/**(links) src\u2026": [
    "find -L src \"src$x\"",
  ],
  "looks src\u2026": [
    "find -L \"src$x\"", "find \"src$x\"",
  ],
  "no": [
    "sed", "sed -e p -e e a", "sed -i p a", "sed -f x a", "sed \"$x\" a", "sed p \"$x\"", "sed -e \"$x\" a", "sed ~ a",
    "sed '1!e' a", "sed '1e' a", "sed 'e' a", "sed 'w x' a", "sed 'r x' a", "sed '1W x' a", "sed 'p;e' a", "sed 'p e' a",
    "sed 'q e' a", "sed 'ba;e' a", "sed 's/a/b/e' a", "sed 's/a/b/ge' a", "sed 's/a/b/w x' a", "sed 's/a/b/gw x' a",
    "sed 's@a@b@e' a", "sed 'sxaxbx' a", "sed 's/a/b' a", "sed 's/a\\/b/c/e' a", "sed 's/a/b\\/c/e' a", "sed 's/[/]/b/' a",
    "sed 's/[^/]/b/' a", "sed 's/[]/]/b/' a", "sed 's|[|]|b|' a", "sed 's|a|b|;/[/]/p' a", 
    "sed '2,/[/]/s|a|b|' a", "n=$(wc -l < b); sed -n \"$n\"w\"x\" a", "sed -n \"$n\"p a", "sed \"$((1))e\" a", "sed 's/[/b/' a", "sed 'y/a/b/e' a",
    "sed 'y/a/b/ e' a", "sed 'a x' a", "sed 'i\\x' a", "sed 'c x' a", "awk", "awk -f x a", "awk \"$x\" a",
    "awk '{system(\"x\")}' a", "awk '{\"x\" | getline}' a", "awk 'BEGIN{print ENVIRON[\"x\"]}'",
    "awk '{print PROCINFO[\"x\"]}'", "awk '{print SYMTAB[\"x\"]}'", "awk '{print FUNCTAB[\"x\"]}'",
    "awk '{ARGV[1]=\"x\"}' a", "awk '{ARGC=3}' a", "awk '@include \"x\"' a", "awk '{print | \"x\"}' a",
    "awk '$1 || $2 | \"x\"' a", "awk '{print > \"x\"}' a", "awk '{print >> \"x\"}' a",
    "awk '{if ($1 > 3) print > \"x\"}' a", "jq",
    "jq --slurpfile x", "jq --rawfile", "jq --args . a", "jq --jsonargs . a", "jq -f x a", "jq \"$x\" a", "jq . \"$x\"",
    "jq 'env' a", "jq '$ENV.x' a", "jq 'import \"x\" as y; .' a", "jq 'include \"x\"; .' a", "jq 'input_filename' a",
    "jq 'modulemeta' a", "jq 'get_search_list' a", "jq -L x . a", "jq \"--arg$x\" a", "yq", "yq e", "yq e \"$x\" a",
    "yq \"$x\" a", "yq 'load(\"x\")' a", "yq 'env(x)' a", "yq 'eval(\"x\")' a", "yq 'split_doc' a", "yq -s .x a", "sed 's/[[:x:]/]/w f/' a",
    "yq '$ENV' a", "yq -i .x a", "find . -name *", "find . -name $x", "find . -name", "find . -delete",
    "find . -exec rm {} \\; -delete", "find . -fprint x", "find . -type f -print0 x", "find -L \"$x\"", "find \"$x\"",
    "find *.ts", "find . -print \"a$x\"", "find -D x .", "printf", "printf -- -v", "printf -v x a", "printf '%n' x", "printf '?v' -v", "printf '[a' b '%n'", "printf '*' \"$x\"",
    "printf '%5n' x", "printf \"$x\"", "printf \"a$x\"", "printf --", "test -v 'x[0]'", "test -v \"$x\"", "test -R 'x[0]'",
    "test $x", "test *.ts", "test -n $x", "test \"$x\" \"$y\"", "test \"$x\" -f", "[ \"$x\" \"-$y\" a ]", "printf '%%%n' x",
    "jq \"--arg$x\" b . a", "jq . --slurpfile x", "jq --argfile x . a", "find . -name b c",
  ],
};

describe("a program that is given a script", () => {
  for (const [result, list] of Object.entries(commands))
    itHolds(result === "no" ? "may do more than look" : `only ${result}`, list, async (command) => {
      const [name, ...rest] = parseCommand(command).programs[0]?.words ?? [];
      const looking = readers[name?.text ?? ""]?.(rest);
      const more = [...(looking?.starts ? ["starts"] : []), ...(looking?.names ? ["names"] : [])];
      const read = looking && ["looks", ...looking.reads.map(showWord), ...more].join(" ");
      return (read ?? "no") === result ? undefined : `${command}: ${read ?? "no"}`;
    });
});
