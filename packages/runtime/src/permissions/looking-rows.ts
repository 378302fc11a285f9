import type { Row } from "./option-grammar.ts";

const words: Row = { operands: "text" };
const anyWords: Row = { whole: true, operands: "text" };
const nothing: Row = { operands: "none" };
const checksum: Row = {
  looks: "-btwz --tag --binary --text --zero --quiet --status --strict --warn --ignore-missing",
  lists: "-c --check",
  operands: "reads",
};
const encoding: Row = { looks: "-diD -w: --decode --wrap: --ignore-garbage", operands: "reads one" };

const grep: Row = {
  looks:
    "-ivwxclLnHhoqsEFGPaIUzZbTyu -m: -A: -B: -C: -e: -D: -# --include: --exclude: --exclude-dir: --color? --colour? --line-number --ignore-case " +
    "--no-ignore-case --files-with-matches --files-without-match --count --only-matching --invert-match --word-regexp --line-regexp " +
    "--extended-regexp --fixed-strings --basic-regexp --perl-regexp --no-filename --with-filename --regexp: --max-count: --context: " +
    "--after-context: --before-context: --no-messages --quiet --silent --text --binary-files: --null --null-data --byte-offset --label: " +
    "--line-buffered --initial-tab --binary --devices: --version --help",
  recurses: "-r -d: --recursive --directories:",
  follows: "-R --dereference-recursive",
  reads: "-f: --file: --exclude-from:",
  operands: "pattern reads",
};

/** Everyday programs that look, with all options that do no more, and those that do. What is not here is asked about. */
export const lookingRows: Readonly<Record<string, Row>> = {
  ":": words,
  true: words,
  false: words,
  exit: words,
  return: words,
  break: words,
  continue: words,
  shift: words,
  sleep: anyWords,
  yes: anyWords,
  times: nothing,
  pwd: { looks: "-LP", operands: "none" },
  dirs: { looks: "-lpv", changes: "-c", operands: "none" },
  type: { looks: "-aftpP", operands: "text" },
  hash: { looks: "-ltd", changes: "-r -p:", operands: "none" },
  umask: { looks: "-Sp", operands: "none" },
  ulimit: { looks: "-HSabcdefiklmnpqrtuvxPRT", operands: "none" },
  help: { looks: "-dms", operands: "text" },
  jobs: { looks: "-lnprs", runs: "-x", operands: "none" },
  seq: { looks: "-w -s: -f: -# --equal-width --separator: --format:", whole: true, operands: "text" },
  factor: anyWords,
  expr: words,
  basename: { looks: "-az -s: --multiple --suffix: --zero", whole: true, operands: "text" },
  dirname: { looks: "-z --zero", whole: true, operands: "text" },
  pathchk: { looks: "-pP --portability", operands: "text" },
  which: { looks: "-as --all --skip-alias --tty-only", operands: "text" },
  whereis: { looks: "-bmsu", operands: "text" },
  realpath: {
    looks: "-emLPqsz --canonicalize-existing --canonicalize-missing --logical --physical --quiet --strip --no-symlinks --zero",
    reads: "--relative-to: --relative-base:",
    names: true,
    operands: "reads",
  },
  readlink: {
    looks: "-femnqsvz --canonicalize --canonicalize-existing --canonicalize-missing --no-newline --zero",
    names: true,
    operands: "reads",
  },
  cat: {
    looks: "-AbeEnstTuv --show-all --number-nonblank --show-ends --number --squeeze-blank --show-tabs --show-nonprinting",
    operands: "reads",
  },
  tac: { looks: "-br -s: --before --regex --separator:", operands: "reads" },
  rev: { looks: "-0 --zero", operands: "reads" },
  nl: {
    looks:
      "-p -b: -d: -f: -h: -i: -l: -n: -s: -v: -w: --body-numbering: --section-delimiter: --footer-numbering: --header-numbering: " +
      "--line-increment: --join-blank-lines: --number-format: --no-renumber --number-separator: --starting-line-number: --number-width:",
    operands: "reads",
  },
  head: { looks: "-qvz -c: -n: -# --bytes: --lines: --quiet --silent --verbose --zero-terminated", operands: "reads" },
  tail: {
    looks:
      "-fFqvz -c: -n: -s: -# +? --bytes: --lines: --follow? --retry --pid: --quiet --silent --sleep-interval: --verbose --zero-terminated " +
      "--max-unchanged-stats:",
    operands: "reads",
  },
  ls: {
    looks:
      "-aAbBcCdDfFgGhHiklLmnNopqQrsStuUvxXZ1 -I: -T: -w: --all --almost-all --author --escape --block-size: --ignore-backups --color? --directory " +
      "--dired --classify? --file-type --format: --full-time --group-directories-first --no-group --human-readable --si --dereference-command-line " +
      "--dereference-command-line-symlink-to-dir --hide: --hyperlink? --indicator-style: --inode --ignore: --kibibytes --dereference " +
      "--numeric-uid-gid --literal --hide-control-chars --show-control-chars --quote-name --quoting-style: --reverse --size --sort: --time: " +
      "--time-style: --tabsize: --width: --context --zero",
    recurses: "-R --recursive",
    dereferences: "-L --dereference",
    itself: "-d|--directory",
    names: true,
    operands: "reads",
  },
  stat: { looks: "-ftL -c: --format: --printf: --file-system --terse --dereference --cached:", names: true, operands: "reads" },
  wc: { looks: "-cmlLw --lines --words --bytes --chars --max-line-length --total:", lists: "--files0-from:", operands: "reads" },
  df: {
    looks:
      "-ahHiklmPTv -t: -x: -B: --all --block-size: --human-readable --si --inodes --local --no-sync --output? --portability --total --type: " +
      "--print-type --exclude-type:",
    changes: "--sync",
    names: true,
    operands: "reads",
  },
  du: {
    looks:
      "-0abchklmsSxP -d: -B: -t: --null --all --apparent-size --block-size: --bytes --total --max-depth: --human-readable --inodes --count-links " +
      "--no-dereference --separate-dirs --si --summarize --threshold: --time? --time-style: --exclude: --one-file-system",
    follows: "-DHL --dereference --dereference-args",
    reads: "-X: --exclude-from:",
    lists: "--files0-from:",
    operands: "reads",
  },
  file: {
    looks:
      "-bEhikLNnprs0vSd -F: -e: -P: --brief --mime --mime-type --mime-encoding --dereference --no-dereference --extension --apple --keep-going " +
      "--separator: --raw --print0 --no-pad --preserve-date --special-files --exclude: --parameter: --list --version",
    reads: "-m: --magic-file:",
    lists: "-f: --files-from:",
    runs: "-zZ --uncompress --uncompress-noreport",
    writes: "-C --compile",
    operands: "reads",
  },
  cut: {
    looks:
      "-nsz -b: -c: -d: -f: --complement --delimiter: --fields: --bytes: --characters: --output-delimiter: --only-delimited --zero-terminated",
    operands: "reads",
  },
  tr: { looks: "-cCdst --delete --squeeze-repeats --complement --truncate-set1", whole: true, operands: "text" },
  sort: {
    looks:
      "-bdfgiMhnRrVmsuzcC -k: -t: -S: -# +? --parallel: --reverse --unique --numeric-sort --human-numeric-sort --version-sort --general-numeric-sort " +
      "--month-sort --random-sort --key: --field-separator: --stable --ignore-case --ignore-leading-blanks --dictionary-order " +
      "--ignore-nonprinting --check? --merge --zero-terminated --sort: --batch-size: --buffer-size: --debug",
    reads: "--random-source:",
    lists: "--files0-from:",
    writes: "-o: --output: -T: --temporary-directory:",
    runs: "--compress-program:",
    operands: "reads",
  },
  uniq: {
    looks:
      "-cdDiuz -f: -s: -w: -# +? --count --repeated --all-repeated? --group? --unique --ignore-case --skip-fields: --skip-chars: --check-chars: " +
      "--zero-terminated",
    operands: "reads one",
  },
  shuf: {
    looks: "-erz -i: -n: --echo --input-range: --head-count: --repeat --zero-terminated",
    reads: "--random-source:",
    writes: "-o: --output:",
    operands: "reads one",
  },
  paste: { looks: "-sz -d: --delimiters: --serial --zero-terminated", operands: "reads" },
  join: {
    looks: "-iz -1: -2: -t: -a: -e: -o: -v: -j: --header --check-order --nocheck-order --ignore-case --zero-terminated",
    operands: "reads",
  },
  comm: { looks: "-123iz --total --check-order --nocheck-order --output-delimiter: --zero-terminated", operands: "reads" },
  cmp: { looks: "-bls -n: -i: --silent --quiet --verbose --print-bytes --bytes: --ignore-initial:", operands: "reads" },
  diff: {
    looks:
      "-ucqNwbBiysatpdenEZTlP -U: -C: -W: -x: -I: -F: -S: -D: -L: -# --color? --palette: --unified? --context? --brief --new-file --ignore-all-space " +
      "--ignore-space-change --ignore-trailing-space --ignore-tab-expansion --ignore-blank-lines --ignore-case --ignore-file-name-case --normal " +
      "--side-by-side --suppress-common-lines --left-column --exclude: --width: --strip-trailing-cr --minimal --text --speed-large-files " +
      "--report-identical-files --label: --show-c-function --show-function-line: --ignore-matching-lines: --ed --rcs --expand-tabs --initial-tab " +
      "--tabsize: --no-dereference --starting-file: --unidirectional-new-file --ifdef: --horizon-lines: --suppress-blank-empty " +
      "--line-format: --old-line-format: --new-line-format: --unchanged-line-format:",
    follows: "-r --recursive",
    reads: "-X: --exclude-from: --from-file: --to-file:",
    runs: "--paginate",
    operands: "reads folders",
  },
  column: {
    looks:
      "-txneJLd -s: -c: -o: -N: -R: -H: -O: -T: -E: -W: -l: --table --json --fillrows --separator: --output-separator: --output-width: --table-columns: --table-right: --table-hide: --table-name: --keep-empty-lines",
    operands: "reads",
  },
  fold: { looks: "-bs -w: -# --width: --spaces --bytes", operands: "reads" },
  fmt: {
    looks: "-cstu -w: -p: -g: -# --width: --split-only --uniform-spacing --tagged-paragraph --crown-margin --prefix: --goal:",
    operands: "reads",
  },
  expand: { looks: "-i -t: -# --tabs: --initial", operands: "reads" },
  unexpand: { looks: "-a -t: -# --tabs: --all --first-only", operands: "reads" },
  tsort: { operands: "reads one" },
  strings: {
    looks:
      "-afowd -n: -t: -e: -T: -s: --output-separator: -U: -# --all --data --print-file-name --bytes: --radix: --encoding: --include-all-whitespace --target: --unicode:",
    lists: "@?",
    operands: "reads",
  },
  od: {
    looks:
      "-abcdfiloxsv -A: -j: -N: -t: -w? -S: --address-radix: --skip-bytes: --read-bytes: --strings? --format: --output-duplicates --width? --endian: --traditional",
    operands: "reads",
  },
  hexdump: { looks: "-bcCdovx -n: -s: -e: -L?", reads: "-f:", operands: "reads" },
  hd: { looks: "-bcCdovx -n: -s: -e:", operands: "reads" },
  xxd: {
    looks:
      "-abeipuEdvC -c: -g: -l: -s: -o: -n: -R: =-ps =-postscript =-plain =-bits =-uppercase =-include =-cols: =-groupsize: =-len: =-seek:",
    writes: "-r =-revert",
    operands: "reads one",
  },
  base64: encoding,
  base32: encoding,
  md5sum: checksum,
  sha1sum: checksum,
  sha224sum: checksum,
  sha256sum: checksum,
  sha384sum: checksum,
  sha512sum: checksum,
  b2sum: { ...checksum, looks: `${checksum.looks} -l: --length:` },
  cksum: { looks: "-a: -l: --algorithm: --length: --untagged --tag --zero", lists: "-c --check", operands: "reads" },
  sum: { looks: "-rs --sysv", operands: "reads" },
  shasum: { looks: "-bt01U -a: --algorithm: --binary --text --tag", lists: "-c --check", operands: "reads" },
  grep,
  egrep: grep,
  fgrep: grep,
  rg: {
    looks:
      "-iSsvwxclnNoqFPUuap0HIbhV. -A: -B: -C: -e: -g: -t: -T: -m: -M: -j: -r: -d: -E: --files --files-with-matches --files-without-match --hidden " +
      "--no-ignore --no-ignore-vcs --no-ignore-parent --no-ignore-dot --no-ignore-global --no-ignore-exclude --no-ignore-files --glob: --iglob: " +
      "--type: --type-not: --type-list --max-count: --max-depth: --maxdepth: --count --count-matches --ignore-case --smart-case " +
      "--case-sensitive --fixed-strings --line-number --no-line-number --no-heading --heading --color: --colors: --only-matching --multiline " +
      "--multiline-dotall --pcre2 --engine: --auto-hybrid-regex --json --stats --sort: --sortr: --vimgrep --column --no-filename --with-filename " +
      "--context: --after-context: --before-context: --word-regexp --line-regexp --invert-match --trim --null --null-data --passthru --replace: " +
      "--max-columns: --max-columns-preview --text --binary --no-messages --quiet --no-config --max-filesize: --threads: --regexp: --unrestricted " +
      "--version --crlf --encoding: --sort-files --byte-offset --block-buffered --line-buffered --context-separator: --field-match-separator: " +
      "--field-context-separator: --glob-case-insensitive --ignore-file-case-insensitive --no-unicode --one-file-system --path-separator: " +
      "--pretty --print0 --stop-on-nonmatch --type-add: --type-clear: --no-follow --no-hidden --include-zero --no-pre --no-search-zip --no-require-git",
    follows: "-L --follow",
    reads: "-f: --file: --ignore-file:",
    runs: "--pre: --pre-glob: --hostname-bin: -z --search-zip",
    operands: "pattern reads",
  },
  fd: {
    looks:
      "-HIisgFap01uvqV -t: -e: -d: -E: -c: -S: -j: --type: --extension: --max-depth: --min-depth: --exact-depth: --hidden --no-ignore " +
      "--no-ignore-vcs --no-ignore-parent --exclude: --glob --fixed-strings --regex --absolute-path --relative-path --color: --full-path " +
      "--ignore-case --case-sensitive --size: --changed-within: --changed-before: --print0 --unrestricted --max-results: --quiet " +
      "--threads: --prune --one-file-system --strip-cwd-prefix? --owner: --format: --and:",
    follows: "-L --follow",
    reads: "--ignore-file: --search-path:",
    moves: "-C: --base-directory:",
    // The details are what an `ls` says that is found by its name.
    runs: "-l --list-details -x: -X: --exec: --exec-batch:",
    operands: "pattern reads",
  },
  tree: {
    looks:
      "-adfishugDFCnxpvtrcUJXNQqAS -L: -I: -P: -H: -T: --noreport --gitignore --dirsfirst --filesfirst --prune --du --si --charset: --filelimit: " +
      "--ignore-case --matchdirs --metafirst --inodes --device --timefmt: --sort? --nolinks --hintro: --houtro: --info --version",
    follows: "-l",
    reads: "--gitfile: --infofile: --fromfile --fromtabfile",
    writes: "-R -o:",
    operands: "reads",
  },
  ps: {
    looks:
      "-eflAaxjwTNdFHLMyZ -p: -u: -o: -C: -U: -g: -t: -q: -s: --pid: --ppid: --user: --forest --sort: --no-headers --format: --cols: --columns: --rows: --headers --tty: --deselect",
    operands: "else",
  },
  pgrep: {
    looks:
      "-aclfinovwxA -d: -g: -G: -P: -s: -t: -u: -U: -r: --list-name --list-full --count --full --ignore-case --inverse --newest --oldest --exact --parent: --euid: --uid: --delimiter: --lightweight",
    reads: "-F: --pidfile:",
    operands: "text",
  },
  pidof: { looks: "-csqwx -o: -S: -d: --single-shot", operands: "text" },
  lsof: {
    looks: "-bChlnNOPRtUwXaoVK -i? -p: -u: -c: -d: -g? -s? -S? -F? -T? -f? -L? +?",
    changes: "-r?",
    configures: "-D? -k: -m:",
    operands: "reads",
  },
  uname: {
    looks: "-asnrvmpio --all --kernel-name --nodename --kernel-release --kernel-version --machine --processor --operating-system",
    operands: "none",
  },
  bc: { looks: "-lqsw --mathlib --quiet --standard --warn", operands: "reads" },
  nm: {
    looks:
      "-aABDghjnoprsSuUv -C? -f: -t: --debug-syms --print-file-name --demangle? --no-demangle --dynamic --extern-only --format: --numeric-sort --no-sort " +
      "--print-size --size-sort --reverse-sort --undefined-only --defined-only --radix:",
    lists: "@?",
    runs: "--plugin:",
    operands: "reads",
  },
  size: { looks: "-ABGodxt --format: --radix: --common --totals", lists: "@?", operands: "reads" },
  readelf: {
    looks:
      "-ahlSgtesnrudVADIW -x: -p: -R: --all --file-header --program-headers --segments --section-headers --sections --section-groups --headers --syms " +
      "--symbols --dyn-syms --notes --relocs --dynamic --version-info --arch-specific --histogram --wide --hex-dump: --string-dump:",
    lists: "@?",
    operands: "reads",
  },
  // With sources or lines it would read the files that the debug information names.
  objdump: {
    looks:
      "-adDfhirRtTxszw -C? -j: -M: -m: -b: --archive-headers --disassemble-all --file-headers --section-headers --headers --reloc " +
      "--dynamic-reloc --syms --dynamic-syms --all-headers --full-contents --demangle? --section: --start-address: --stop-address: --no-show-raw-insn",
    lists: "@? -S -l --source --line-numbers",
    operands: "reads",
  },
  arch: nothing,
  whoami: nothing,
  logname: nothing,
  who: { looks: "-abdHlmpqrstTuw --all --count --heading", operands: "none" },
  id: { looks: "-ugGnrzZ --user --group --groups --name --real --zero", operands: "text" },
  groups: words,
  nproc: { looks: "--all --ignore:", operands: "none" },
  free: { looks: "-bkmghtlvw -s: -c: --human --mega --giga --kilo --bytes --total --wide --si --lohi", operands: "none" },
  w: { looks: "-hsfiou", operands: "text" },
  vmstat: { looks: "-afmnstwd -S: -p:", operands: "text" },
  uptime: { looks: "-ps --pretty --since", operands: "none" },
  lscpu: { looks: "-abcJxyB -e? -p? -C? --json --all --extended? --parse? --caches?", reads: "-s: --sysroot:", operands: "none" },
  lsblk: {
    looks: "-abdDfiJlmnOpPrstzS -T? -o: -x: -I: -e: --json --list --output: --all --bytes --fs --paths --tree?",
    operands: "reads",
  },
  hostname: {
    looks: "-sfdiIAy --short --fqdn --long --domain --ip-address --all-ip-addresses",
    changes: "-F: -b",
    operands: "none",
  },
  numfmt: {
    looks:
      "-z -d: --from: --to: --from-unit: --to-unit: --suffix: --padding: --field: --delimiter: --format: --grouping --header? --invalid: --round: --zero-terminated --debug",
    operands: "text",
  },
  pstree: {
    looks: "-aAclnpsTu --arguments --ascii --compact-not --long --numeric-sort --show-pids --show-parents --hide-threads",
    operands: "text",
  },
  stty: { looks: "-ag --all --save", operands: "text", allows: /^(?:size|speed)$/ },
  tput: { operands: "text", allows: /^(?:cols|lines|colors|longname)$/ },
  tty: { looks: "-s --silent --quiet", operands: "none" },
  locale: { looks: "-amkc --all-locales --charmaps --category-name --keyword-name", operands: "text" },
  getconf: { looks: "-a -v:", operands: "text" },
  cal: { looks: "-13myjwsS -n: -A: -B:", operands: "text" },
  date: {
    looks: "-uR -d: -I? +? --utc --universal --date: --iso-8601? --rfc-3339: --rfc-email --debug --resolution",
    reads: "-r: --reference:",
    lists: "-f: --file:",
    changes: "-s: --set:",
    operands: "else",
  },
  find: { singleDash: true, operands: "else" },
  test: { operands: "else" },
  "[": { operands: "else" },
};
