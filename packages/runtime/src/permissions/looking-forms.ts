import type { Row } from "./option-grammar.ts";

const zipped = ".gz .z -gz -z .Z _z .tgz .taz";
const unpacked = "-dfkqv --decompress --uncompress --quiet --verbose --force --keep";
const packed: Row = {
  looks: `-clt ${unpacked} --stdout --to-stdout --list --test`,
  only: "-c|--stdout|--to-stdout|-l|--list|-t|--test",
  suffixes: zipped,
  operands: "reads",
};
const unpacker: Row = { looks: `-ct ${unpacked} --stdout --test`, suffixes: zipped, starts: true, operands: "reads" };
const unpackingGrep: Row = {
  looks:
    "-cilnoqsvwxhHEFG -m: -A: -B: -C: -e: --ignore-case --count --line-number --files-with-matches --only-matching --invert-match --word-regexp " +
    "--line-regexp --quiet --silent --no-messages --extended-regexp --fixed-strings --max-count: --context: --after-context: --before-context: --regexp:",
  suffixes: zipped,
  starts: true,
  operands: "pattern reads",
};
const manual: Row = {
  looks:
    "-afkwWi -s: -S: --all --whatis --apropos --where --path --location --sections: --ignore-case --regex --wildcard --names-only",
  starts: true,
  allows: /^[\w.+@-]+$/,
  operands: "text",
};
const bat: Row = {
  looks:
    "-pnASPfu -l: -r: -H: -m: --plain --number --show-all --language: --line-range: --highlight-line: --style: --color: --theme: --decorations: " +
    "--wrap: --tabs: --terminal-width: --file-name: --chop-long-lines --squeeze-blank --paging:never|auto --italic-text: --force-colorization " +
    "--list-languages --list-themes --unbuffered --no-pager --no-config",
  configures: "--config-file: --map-syntax: --ignored-suffix:",
  runs: "--pager: --lessopen -d --diff",
  operands: "reads",
};
const eza: Row = {
  looks:
    "-1lGxFRTadArDfbBghHimMnoSuUZO@ -L: -s: -I: -t: --long --oneline --grid --across --classify? --recurse --tree --all --list-dirs --level: --reverse " +
    "--sort: --ignore-glob: --only-dirs --only-files --git-ignore --group-directories-first --group-directories-last --binary --bytes --group --header --inode " +
    "--links --modified --changed --accessed --created --no-permissions --no-filesize --no-user --no-time --octal-permissions --time: --time-style: " +
    "--icons? --no-icons --color: --colour: --color-scale? --total-size --git --no-git --width:",
  follows: "-X --dereference --follow-symlinks",
  operands: "reads",
};
const shell: Row = { looks: "-n", only: "-n", operands: "reads one" };

/** Ways of calling programs so that they look, of programs that do other things as well. What is not here is asked about. */
export const lookingForms: Readonly<Record<string, Row>> = {
  tar: {
    oldCluster: true,
    only: "-t|--list -f|--file",
    looks:
      "-tvzjJZai --list --verbose --gzip --gunzip --ungzip --bzip2 --xz --lzip --lzma --lzop --zstd --compress --uncompress --auto-compress --exclude: " +
      "--wildcards --no-wildcards --ignore-case --numeric-owner --full-time --utc --strip-components: --totals? --ignore-zeros",
    reads: "-f: --file: -X: --exclude-from:",
    hosts: true,
    starts: true,
    allows: /^[^@]/,
    operands: "text",
  },
  unzip: {
    looks: "-lvtpcqzCZ =-Z1",
    only: "-l|-v|-t|-p|-c|-z|-Z|-Z1",
    suffixes: ".zip .ZIP",
    allows: /^[^*?[]+$/,
    operands: "reads first",
  },
  zipinfo: { looks: "-12smlvhtzTC", suffixes: ".zip .ZIP", allows: /^[^*?[]+$/, operands: "reads first" },
  gzip: packed,
  gunzip: packed,
  bzip2: { ...packed, only: "-c|--stdout|-t|--test" },
  bunzip2: { ...packed, only: "-c|--stdout|-t|--test" },
  xz: packed,
  unxz: packed,
  zstd: { ...packed, looks: "-cdltqvf --stdout --decompress --list --test --quiet" },
  zcat: unpacker,
  gzcat: unpacker,
  bzcat: unpacker,
  xzcat: unpacker,
  zstdcat: { ...unpacker, looks: "-qv" },
  zgrep: unpackingGrep,
  zegrep: unpackingGrep,
  zfgrep: unpackingGrep,
  bzgrep: unpackingGrep,
  xzgrep: unpackingGrep,
  man: manual,
  apropos: manual,
  whatis: manual,
  bat,
  batcat: bat,
  eza,
  exa: eza,
  // A repository's configuration names the pager that delta runs.
  delta: {
    looks: "-ns -w: --no-gitconfig --line-numbers --side-by-side --color-only --width: --paging:never",
    only: "--no-gitconfig",
    operands: "reads",
  },
  shellcheck: {
    looks:
      "-V -f: -e: -i: -o: -s: -S: -W: -C? --format: --exclude: --include: --enable: --shell: --severity: --wiki-link-count: --color? " +
      "--norc --version --list-optional",
    lists: "-ax --check-sourced --external-sources -P: --source-path:",
    configures: "--rcfile:",
    operands: "reads",
  },
  iconv: {
    looks: "-cls -f: -t: --from-code: --to-code: --list --silent",
    writes: "-o: --output:",
    operands: "reads",
  },
  ss: {
    looks:
      "-tulnpaxeosimrHOhV460dSbTMwZz -f: -A: --tcp --udp --listening --numeric --processes --all --unix --extended --options --summary --info --memory " +
      "--resolve --no-header --oneline --ipv4 --ipv6 --family: --query: --raw --packet --version --help",
    reads: "-F: --filter:",
    changes: "-K --kill -E --events",
    writes: "-D: --diag:",
    moves: "-N: --net:",
    operands: "text",
  },
  netstat: {
    looks:
      "-tulnpaersicgWvMoxw46 --tcp --udp --listening --numeric --programs --program --all --unix --extend --route --statistics --interfaces --groups --wide " +
      "--verbose --timers --inet --inet6 --protocol:",
    operands: "none",
  },
  printenv: { looks: "-0 --null", environment: true, operands: "text" },
  env: { looks: "-0 --null", environment: true, operands: "none" },
  bash: shell,
  sh: shell,
  dash: shell,
};
