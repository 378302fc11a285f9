import type { Row } from "./option-grammar.ts";

const compiler: Row = {
  singleDash: true,
  looks: "-c -S -E -g -O? -W? -v -std? -pipe -pthread -shared -static -fPIC -l? -D? -U? -M -MM -MD -MMD -MP -MF: -MT: -MQ: -x:",
  reads: "-I? -L? -include: -isystem: -iquote:",
  writes: "-o:",
  configures: "-specs? -T: -Xlinker: -Wl? -Wp? -Wa? @?",
  runs: "-wrapper: -fplugin? -B? -Xclang: -load: -fuse-ld? -ld-path?",
  operands: "reads",
};

const copying =
  "-abdfHiLlnPpRrsTuvxZ --archive --attributes-only --backup? --copy-contents --force --interactive --link --dereference --no-clobber --no-dereference --no-target-directory --one-file-system --parents --preserve? --no-preserve: --recursive --reflink? --remove-destination --sparse: --strip-trailing-slashes --symbolic-link -S: --suffix: --update? --verbose --context?";

/** Programs that work, with the options by which they do more than they are known for: run, write elsewhere, or obey something else. */
export const workingRows: Readonly<Record<string, Row>> = {
  mkdir: { looks: "-pvZ -m: --parents --verbose --mode: --context?", operands: "writes" },
  rmdir: { looks: "-pv --parents --verbose --ignore-fail-on-non-empty", operands: "writes" },
  touch: { looks: "-acmfh -d: -t: --no-create --date: --time: --no-dereference", reads: "-r: --reference:", operands: "writes" },
  tee: { looks: "-aip --append --ignore-interrupts --output-error?", operands: "writes" },
  cp: { looks: copying, writes: "-t: --target-directory:", operands: "copies" },
  mv: { looks: copying, writes: "-t: --target-directory:", operands: "copies" },
  ln: {
    looks:
      "-bdFfiLnPrsTv -S: --backup? --directory --force --interactive --logical --no-dereference --physical --relative --symbolic --suffix: --no-target-directory --verbose",
    writes: "-t: --target-directory:",
    operands: "copies",
  },
  install: {
    looks:
      "-bcCdDpTvZ -g: -m: -o: -S: --backup? --compare --directory --group: --mode: --owner: --preserve-timestamps --suffix: --no-target-directory --verbose --preserve-context --context?",
    writes: "-t: --target-directory:",
    runs: "-s --strip --strip-program:",
    operands: "copies",
  },
  rm: {
    looks: "-dfIirRv --force --interactive? --one-file-system --no-preserve-root --preserve-root? --recursive --dir --verbose",
    operands: "writes",
  },
  unlink: { operands: "writes" },
  shred: {
    looks: "-fuvxz -n: -s: --force --iterations: --size: --remove? --verbose --exact --zero",
    reads: "--random-source:",
    operands: "writes",
  },
  truncate: { looks: "-co -s: --no-create --io-blocks --size:", reads: "-r: --reference:", operands: "writes" },
  chmod: {
    looks: "-cfvR --changes --silent --quiet --verbose --recursive --preserve-root --no-preserve-root",
    reads: "--reference:",
    operands: "writes",
  },
  chown: {
    looks: "-cfvhRHLP --changes --silent --quiet --verbose --dereference --no-dereference --from: --recursive",
    reads: "--reference:",
    operands: "writes",
  },
  chgrp: {
    looks: "-cfvhRHLP --changes --silent --quiet --verbose --dereference --no-dereference --recursive",
    reads: "--reference:",
    operands: "writes",
  },
  dd: {
    reads: "if=",
    writes: "of=",
    looks: "bs= count= skip= seek= conv= status= iflag= oflag= ibs= obs= cbs= iseek= oseek=",
    operands: "text",
  },
  split: {
    looks:
      "-dexu -a: -b: -C: -l: -n: -t: -# --suffix-length: --bytes: --lines: --number: --numeric-suffixes? --additional-suffix:",
    runs: "--filter:",
    operands: "copies",
  },
  csplit: {
    looks: "-ksqz -n: -b: --keep-files --quiet --silent --elide-empty-files --digits: --suffix-format:",
    writes: "-f: --prefix:",
    operands: "reads",
  },
  patch: {
    looks:
      "-bcelnNRstTuvEZf -p: -F: -g: -V: -Y: -z: -D: --strip: --dry-run --forward --reverse --batch --force --quiet --silent --verbose --unified --context --normal --backup --merge? --fuzz: --binary --ignore-whitespace",
    reads: "-i: --input:",
    moves: "-d: --directory:",
    writes: "-o: -r: -B: --output: --reject-file: --prefix:",
    runs: "--ed",
    operands: "writes",
  },
  sed: {
    looks:
      "-nErsuz -l: --quiet --silent --regexp-extended --separate --null-data --unbuffered --posix --debug --sandbox --line-length: --follow-symlinks -e: --expression:",
    reads: "-f: --file:",
    writes: "-i? --in-place?",
    operands: "pattern reads",
  },
  awk: {
    looks: "-F: -v: --field-separator: --assign: --posix --traditional --re-interval --non-decimal-data",
    runs: "-f: --file: -i: --include: -l: --load: -E: --exec: -e: --source: -W: -D? --debug?",
    writes: "-o? -p? -d? --pretty-print? --profile? --dump-variables?",
    ordered: true,
    operands: "runs",
  },
  jq: {
    looks:
      "-rncesSRjaCM --raw-output --raw-output0 --null-input --compact-output --exit-status --slurp --sort-keys --raw-input --join-output --tab --indent: " +
      "--ascii-output --color-output --monochrome-output --stream --unbuffered --seq",
    configures: "-L: --library-path:",
    runs: "-f: --from-file:",
    operands: "pattern reads",
  },
  yq: {
    looks:
      "-rjePCMNn -I: -o: -p: --unwrapScalar --tojson --exit-status --prettyPrint --colors --no-colors --no-doc --null-input --indent: --output-format: --input-format:",
    writes: "-i --inplace -s: --split-exp:",
    runs: "--from-file: --expression: --split-exp-file:",
    operands: "pattern reads",
  },
  xargs: {
    looks:
      "-0rtpxo -I: -n: -P: -L: -d: -E: -s: -i? -l? -e? --null --no-run-if-empty --verbose --interactive --max-args: --max-procs: --max-lines? --delimiter: --replace? --max-chars: --exit --eof? --show-limits --open-tty",
    lists: "-a: --arg-file:",
    configures: "--process-slot-var:",
    ordered: true,
    operands: "runs",
  },
  tar: {
    oldCluster: true,
    looks:
      "-ctdruxAvzjJZaBGiklmnoOpRsSUwWh -b: -H: -K: -N: -L: -V: --create --list --extract --get --append --update --diff --compare --delete --concatenate --catenate " +
      "--verbose --gzip --gunzip --ungzip --bzip2 --xz --lzip --lzma --lzop --zstd --compress --uncompress --auto-compress --no-auto-compress --exclude: --exclude-vcs --exclude-vcs-ignores " +
      "--exclude-backups --exclude-caches --exclude-tag: --strip-components: --wildcards --no-wildcards --anchored --no-anchored --ignore-case --keep-old-files --keep-newer-files " +
      "--skip-old-files --overwrite --one-file-system --sparse --to-stdout --totals? --owner: --group: --mode: --mtime: --sort: --format: --numeric-owner --same-owner --no-same-owner " +
      "--same-permissions --preserve-permissions --no-same-permissions --no-recursion --recursion --null --utc --full-time --label: --xattrs --acls --selinux --warning: --verify --touch " +
      "--dereference --hard-dereference --newer: --after-date: --newer-mtime: --interactive --confirmation --occurrence? --seek --no-seek --posix --blocking-factor: --record-size: --level: " +
      "--checkpoint? --quoting-style: --show-transformed-names --show-stored-names --block-number --ignore-failed-read --ignore-zeros --starting-file: --tape-length: --multi-volume -M",
    reads: "-X: --exclude-from: --owner-map: --group-map: --add-file:",
    lists: "-T: --files-from:",
    moves: "-C: --directory: --one-top-level? --transform: --xform: -P --absolute-names",
    writes:
      "-f: --file: --index-file: --volno-file: -g: --listed-incremental: --remove-files --unlink-first --recursive-unlink --backup? --suffix:",
    runs: "-I: -F: --use-compress-program: --checkpoint-action: --to-command: --info-script: --new-volume-script: --rsh-command: --rmt-command:",
    operands: "reads",
  },
  zip: {
    looks:
      "-rqvjyeX0123456789uflcDdmogASz -P: -n: -s: -t: -x: -i: =-tt: =-sf =-ll --recurse-paths --quiet --verbose --encrypt --password: --exclude: --include: --move",
    lists: "-@",
    writes: "-O: --output-file: --out: =-lf: --logfile-path: -b: --temp-path:",
    runs: "-T =-TT: --test --unzip-command:",
    operands: "else",
  },
  unzip: { looks: "-lvtpcqjnoaLCUXZ -x: -P: =-qq =-Z1", writes: "-d:", operands: "else" },
  rsync: {
    looks:
      "-vqacrRbulLkKHpEAXogtDOJSnWxhizPICFmsyN0468 -B: --verbose --quiet --archive --recursive --relative --update --links --dry-run --delete --delete-before --delete-after --delete-during " +
      "--delete-excluded --compress --progress --partial --stats --human-readable --exclude: --include: --times --perms --owner --group --checksum --inplace --append --itemize-changes --info: " +
      "--bwlimit: --port: --timeout: --max-size: --min-size: --ignore-existing --existing --size-only --one-file-system --numeric-ids --copy-links --safe-links --delay-updates --prune-empty-dirs --filter: -f:",
    reads: "--exclude-from: --include-from: --password-file:",
    lists: "--files-from:",
    writes:
      "-T: --temp-dir: --backup-dir: --partial-dir: --log-file: --compare-dest: --copy-dest: --link-dest: --write-batch: --only-write-batch:",
    configures: "--config: --dparam: --daemon --read-batch: -M: --remote-option:",
    runs: "-e: --rsh: --rsync-path: --early-input:",
    operands: "copies",
  },
  curl: {
    looks:
      "-aBfgGijIklLMNpqRSsvVZ0123456# -A: -C: -e: -m: -P: -r: -t: -u: -U: -x: -X: -y: -Y: -h? --append --fail --fail-with-body --fail-early --globoff --get --include --head " +
      "--insecure --list-only --location --location-trusted --manual --no-buffer --proxytunnel --show-error --silent --verbose --version --parallel --parallel-max: --user-agent: " +
      "--continue-at: --referer: --max-time: --connect-timeout: --ftp-port: --range: --user: --proxy-user: --proxy: --noproxy: --request: --speed-limit: --speed-time: " +
      "--help? --http1.0 --http1.1 --http2 --http3 --tlsv1 --tlsv1.2 --tlsv1.3 --ipv4 --ipv6 --compressed --retry: --retry-delay: --retry-max-time: --retry-all-errors " +
      "--retry-connrefused --max-redirs: --max-filesize: --limit-rate: --resolve: --connect-to: --interface: --no-progress-meter --progress-bar --raw --oauth2-bearer: --basic --digest " +
      "--negotiate --ntlm --anyauth --post301 --post302 --post303 --data-raw: --request-target: --remote-time --ssl-reqd --path-as-is --xattr --tcp-nodelay --keepalive-time: --no-keepalive --create-dirs",
    reads:
      "-b: -d: -E: -F: -H: -T: -w: -z: --write-out: --time-cond: --url: --pubkey: --proxy-cacert: --proxy-capath: --proxy-crlfile: --cookie: --data: --data-ascii: --data-binary: --data-urlencode: --json: --form: --header: --upload-file: --cert: --key: --cacert: --capath: --netrc-file: " +
      "--crlfile: --proxy-cert: --proxy-key: --proxy-header: --variable: --url-query: --form-string: --netrc-optional",
    writes:
      "-c: -D: -o: -O -J --cookie-jar: --dump-header: --output: --output-dir: --remote-name --remote-name-all --remote-header-name --trace: --trace-ascii: --stderr: --libcurl: --etag-save: " +
      "--hsts: --alt-svc: --egd-file: --random-file: --ftp-create-dirs",
    configures:
      "-K: --config: -n --netrc --unix-socket: --abstract-unix-socket: --doh-url: --socks5: --socks5-hostname: --socks4: --socks4a: --preproxy: --proxy1.0: --dns-servers: --etag-compare:",
    runs: "-Q: --quote: --engine: --telnet-option: --sasl-ir",
    operands: "else",
  },
  wget: {
    looks:
      "-VhbdqvFcNSxrkKmpHLE46 -t: -T: -w: -Q: -l: -A: -R: -D: -I: -X: -U: -B: =-nv =-nc =-nd =-nH =-np --version --help --background --debug --quiet --verbose --no-verbose --tries: --continue " +
      "--timestamping --server-response --spider --timeout: --wait: --no-proxy --quota: --limit-rate: --user: --password: --no-directories --force-directories --no-host-directories --cut-dirs: " +
      "--header: --max-redirect: --referer: --user-agent: --no-cookies --post-data: --method: --body-data: --https-only --no-check-certificate --recursive --level: --no-parent --accept: --reject: " +
      "--domains: --span-hosts --relative --page-requisites --convert-links --mirror --retry-connrefused --show-progress --progress: --no-clobber --content-on-error --no-config --no-netrc",
    reads:
      "--post-file: --body-file: --load-cookies: --certificate: --private-key: --ca-certificate: --ca-directory: --crl-file:",
    lists: "-i: --input-file:",
    writes:
      "-O: -P: -o: -a: --output-document: --directory-prefix: --output-file: --append-output: --save-cookies: --rejected-log: --warc-file: --warc-dedup: --warc-tempdir: --hsts-file: --delete-after --unlink --backups?",
    configures: "-e: --execute: --config: --secure-protocol:",
    runs: "--use-askpass:",
    operands: "else",
  },
  make: {
    looks:
      "-bmBdhikLnpqrRsStvw -j? -l? -o: -W: -O? --always-make --debug? --environment-overrides -e --help --ignore-errors --jobs? --keep-going --load-average? --max-load? --check-symlink-times --just-print " +
      "--dry-run --recon --old-file: --assume-old: --output-sync? --print-data-base --question --no-builtin-rules --no-builtin-variables --silent --quiet --no-silent --no-keep-going --stop --touch --trace " +
      "--version --print-directory --no-print-directory --what-if: --new-file: --assume-new: --warn-undefined-variables",
    moves: "-C: --directory:",
    runs: "-f: -E: -I: --file: --makefile: --eval: --include-dir: *=",
    operands: "text",
  },
  npm: {
    looks:
      "-sdgqfDPESBy --silent --quiet --verbose --json --global --workspace: -w: --workspaces --if-present --ignore-scripts --production --omit: --include: --save --save-dev --no-save --force --legacy-peer-deps --no-audit --no-fund --prefer-offline --offline --loglevel: --depth: --long --parseable --dry-run --tag: --access:",
    moves: "-C: --prefix: --dir: --cwd:",
    configures:
      "--userconfig: --globalconfig: --cache: --init-module: --npmrc: --local-prefix: --logs-dir: --diagnostics-dir: --tmp: --https-proxy: --proxy: --registry: --cafile: --ca: --cert: --key: " +
      "--store-dir: --virtual-store-dir: --modules-dir: --lockfile-dir: --state-dir: --cache-dir: --global-dir: --global-bin-dir: --pnpmfile: --global-pnpmfile: --npm-path: --use-node-version: " +
      "--cache-folder: --modules-folder: --global-folder: --link-folder: --preferred-cache-folder: --temp-folder: --use-yarnrc: --mutex: --pack-destination:",
    runs: "-c: --call: --script-shell: --node-options: --shell: --git: --editor: --viewer: --browser: --node-gyp: --package:",
    operands: "text",
  },
  go: {
    singleDash: true,
    looks:
      "-a -n -p: -race -msan -v -work -x -json -run: -bench: -count: -timeout: -cover -short -failfast -tags: -ldflags: -gcflags: -m -u -t -e -f: -deps -test -mod: -buildvcs? -trimpath",
    moves: "-C:",
    writes: "-o: -coverprofile: -cpuprofile: -memprofile: -blockprofile: -mutexprofile: -trace: -outputdir: -pkgdir:",
    configures: "-modfile: -overlay: -modcacherw",
    runs: "-exec: -toolexec: -vettool:",
    operands: "text",
  },
  cargo: {
    looks:
      "-vqrhV -p: -j: -F: --verbose --quiet --release --package: --workspace --all --all-targets --all-features --no-default-features --features: --bin: --bins --lib --test: --tests --example: --examples --bench: --benches --jobs: --profile: --target: --message-format: --color: --frozen --locked --offline --no-run --no-fail-fast --doc --exclude:",
    moves: "-C: --manifest-path: --root: --path:",
    writes: "--target-dir: --artifact-dir: --out-dir:",
    configures: "--config: -Z:",
    operands: "text",
  },
  pytest: {
    looks:
      "-vqxslh -k: -m: -n: -r: --verbose --quiet --exitfirst --maxfail: --tb: --lf --ff --last-failed --failed-first --collect-only --co --durations: --no-header --no-summary --cov? --cov-report: --timeout: -W: --capture: --color: --disable-warnings --strict-markers",
    moves: "--rootdir: --confcutdir:",
    writes: "--basetemp: --junitxml: --junit-xml: --report-log: --log-file: --debug? --pastebin: --html:",
    configures: "-c: --config-file: -o: --override-ini: --import-mode: --pythonpath:",
    runs: "-p: --pdb --pdbcls: --trace",
    operands: "reads",
  },
  ssh: {
    looks: "-46AaCfGgKkMNnqsTtVvXxYy -b: -c: -e: -i: -l: -m: -p: -Q: -B:",
    writes: "-E:",
    configures: "-F: -o: -J: -S: -W: -L: -R: -D: -w: -I: -O:",
    ordered: true,
    operands: "runs",
  },
  scp: { looks: "-346ABCOpqRrsTv -c: -i: -l: -P:", configures: "-F: -o: -J:", runs: "-S: -D:", operands: "copies" },
  sftp: { looks: "-46AaCfNpqrv -B: -c: -i: -l: -P: -R:", configures: "-F: -o: -J: -s:", runs: "-S: -D: -b:", operands: "else" },
  man: {
    looks: "-fkwWaiIKl7uc -L: -m: -s: -S: -e: -R: -E: --whatis --apropos --where --path --all --locale: --sections:",
    configures: "-C: --config-file: -M: --manpath:",
    runs: "-P: -H? -T? -B: -p: --pager: --html? --browser: --troff-device? --preprocessor:",
    operands: "text",
  },
  less: {
    looks: "-eEfFgGiIJKLmMnNqQrRsSuUVwWXz -b: -h: -j: -p: -P: -x: -y: -# -D:",
    reads: "-T: --tag-file:",
    writes: "-o: -O: --log-file: --LOG-FILE:",
    configures: "-k: --lesskey-file: --lesskey-src: --lesskey-content:",
    runs: "+? -t: --tag:",
    operands: "reads",
  },
  more: { looks: "-dflpcsu -n: -#", runs: "+?", operands: "reads" },
  gcc: compiler,
  "g++": compiler,
  cc: compiler,
  "c++": compiler,
  clang: compiler,
  "clang++": compiler,
  psql: {
    looks: "-aAbeEHlnqsSwWxXz01Vt -d: -h: -p: -U: -F: -P: -R: -T: -v: --no-psqlrc",
    runs: "-c: --command: -f: --file:",
    writes: "-o: -L: --output: --log-file:",
    operands: "else",
  },
  sqlite3: {
    singleDash: true,
    looks:
      "-header -noheader -csv -json -line -list -column -html -markdown -box -table -tabs -ascii -quote -separator: -newline: -nullvalue: -readonly -bail -batch -echo -interactive -stats -version -help -mmap: -lookaside: -pagecache: -heap: -safe -nofollow",
    configures: "-vfs: -zip -append -deserialize",
    runs: "-cmd: -init:",
    operands: "runs",
  },
  mysql: {
    looks: "-BsvtHEfnNqrwX -u: -h: -P: -D: -p? -S:",
    runs: "-e: --execute: --init-command: --pager?",
    configures: "--defaults-file: --defaults-extra-file: --plugin-dir: --default-auth:",
    writes: "--tee:",
    operands: "else",
  },
  docker: {
    looks: "-Dv -l: --debug --log-level: --tls --tlsverify",
    configures: "-H: -c: --host: --context: --config: --tlscacert: --tlscert: --tlskey:",
    ordered: true,
    operands: "else",
  },
  kubectl: {
    looks: "-ARw -v: -n: -o: -l: -f: --namespace: --output: --selector: --all-namespaces --watch",
    configures:
      "--kubeconfig: --as: --as-group: --token: --server: -s: --context: --cluster: --user: --certificate-authority: --client-key: --client-certificate: --cache-dir: --exec:",
    operands: "else",
  },
  helm: {
    looks: "-n: -f: --namespace: --values: --set: --dry-run --debug",
    configures: "--kubeconfig: --kube-context: --registry-config: --repository-config:",
    runs: "--post-renderer: --post-renderer-args:",
    operands: "else",
  },
  terraform: {
    singleDash: true,
    looks: "-no-color -input: -json -auto-approve -lock: -refresh: -target: -var: -var-file: -out: -help -version",
    moves: "-chdir:",
    configures: "-plugin-dir: -backend-config: -from-module:",
    operands: "else",
  },
  tcpdump: {
    looks: "-AbdDefIJKlLnNOpqStuUvxX# -c: -i: -s: -T: -y: -B: -j: -E: -M:",
    reads: "-r: -F: -V:",
    writes: "-w: -C: -G: -W:",
    runs: "-z: -Z:",
    operands: "text",
  },
  ffmpeg: {
    singleDash: true,
    reads: "-i:",
    configures: "-filter_script: -filter_complex_script: -/filter_complex:",
    runs: "-f:",
    operands: "writes",
  },
  eslint: {
    looks: "-f: --fix --ext: --format: --quiet --cache --max-warnings: --no-eslintrc --no-ignore",
    writes: "-o: --output-file: --cache-location: --cache-file:",
    configures: "-c: --config: --ignore-path:",
    runs: "--rulesdir: --resolve-plugins-relative-to: --plugin: --parser:",
    operands: "reads",
  },
};
