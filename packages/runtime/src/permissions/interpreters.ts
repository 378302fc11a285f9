const shells = /^r?(?:ba|da|z|k|a|mk|c|tc|fi)?sh$/;
const languages =
  /^(?:python[\d.]*|pypy3?|node|nodejs|deno|bun|perl[\d.]*|ruby[\d.]*|php[\d.]*|lua[\d.]*|luajit|Rscript|osascript|pwsh|tclsh)$/;

export function isShell(name: string): boolean {
  return shells.test(name);
}

export function isLanguage(name: string): boolean {
  return languages.test(name);
}

/** Runs other programs in ways that are not followed: elsewhere, later, inside something, or from within an editor. */
export function isObscure(name: string): boolean {
  return obscure.has(name);
}

/** Runs code or commands that are given to it: whoever allows it has allowed those. */
export function isInterpreter(name: string): boolean {
  return isShell(name) || isLanguage(name) || isObscure(name);
}

/** Is this word an option by which a program of another purpose runs a program? */
export function isTold(name: string, word: string): boolean {
  return Object.hasOwn(executing, name) && executing[name]?.test(word) === true;
}

/** A rule that allows one of these with any words allows everything. */
export function runsAnything(name: string): boolean {
  return isInterpreter(name) || carriers.test(name);
}

/**
 * Does what the project's own files say, with the rights of whoever runs it: a rule that lets it run has let that code read, show and
 * change what it likes.
 */
export function runsProject({
  name,
  words,
}: {
  readonly name: string;
  readonly words: readonly { readonly text: string }[];
}): boolean {
  const [action = ""] = words.slice(1).flatMap(({ text }) => (text.startsWith("-") ? [] : [text]));
  return (
    builders.test(name) ||
    (/^(?:npm|pnpm|yarn|bun)$/.test(name) && /^(?:run|run-script|test|t|start|build)$/.test(action)) ||
    (/^(?:cargo|go)$/.test(name) && /^(?:build|test|run|check|bench|clippy|b|t|r|generate)$/.test(action))
  );
}

const builders =
  /^(?:make|gmake|ninja|just|task|rake|gradlew?|mvnw?|sbt|ant|pytest|py\.test|tox|nox|jest|vitest|mocha|ava|phpunit|rspec|webpack|vite|rollup)$/;

/** What it starts is judged by itself: a rule for it is none for that. */
export function isLookedThrough(name: string): boolean {
  return /^(?:command|builtin|exec|nohup|nice|ionice|setsid|stdbuf|time|timeout|sudo|doas|busybox|toybox|env|eval|xargs|watch|find|[gmn]?awk)$/.test(
    name,
  );
}

/** Runs what it is given as somebody else: not meant by a rule that allows all commands. */
export function gainsRights(name: string): boolean {
  return /^(?:sudo|sudoedit|doas|su|pkexec|run0|runuser|gosu|su-exec|dzdo|machinectl|systemd-run)$/.test(name);
}

const carriers =
  /^(?:command|builtin|exec|nohup|nice|ionice|setsid|stdbuf|time|timeout|sudo|doas|busybox|toybox|env|eval|xargs|watch|source|\.|[gmn]?awk|find|make|npx|bunx|uvx|pipx|docker|podman)$/;

const obscure: ReadonlySet<string> = new Set(
  (
    "parallel ssh mosh su runuser gosu su-exec pkexec setpriv capsh chroot unshare nsenter bwrap firejail proot fakeroot fakechroot " +
    "systemd-run start-stop-daemon daemonize run-parts flock taskset chrt numactl prlimit cpulimit strace ltrace valgrind gdb perf " +
    "script expect unbuffer rlwrap xvfb-run dbus-run-session faketime torsocks proxychains proxychains4 ssh-agent tini dumb-init " +
    "chpst softlimit entr inotifywait nodemon gpg-agent dbus-launch sshpass systemd-socket-activate xinit xterm urxvt gnome-terminal konsole kitty alacritty " +
    "schroot pseudo timelimit tsp nq runsv screen tmux at batch crontab ld.so ld-linux-x86-64.so.2 ld-linux-aarch64.so.1 " +
    "setarch linux32 linux64 i386 x86_64 uname26 eatmydata nocache choom cgexec chronic ifne lckdo uclampset gtime coreutils nix-shell daemon logsave s6-setuidgid s6-envdir with-contenv doppler aws-vault envchain envdir envuidgid setuidgid setlock " +
    "pgrphack cross-env cross-env-shell env-cmd dotenv systemd-inhibit systemd-cat aa-exec runcon sandbox-exec trickle sem catchsegv " +
    "hyperfine caffeinate sg newgrp rsh rlogin socat nc ncat netcat vim vi nvim ex view emacs nano ed"
  ).split(" "),
);

const executing: Readonly<Record<string, RegExp>> = {
  fd: /^(?:-[xX]|--exec)/,
  rg: /^--(?:pre|hostname-bin)(?:=|$)/,
  tar: /^(?:-I|--(?:to-c|checkpoint-a|use-c|rsh-c|info-s|new-v))/,
  sort: /^--comp/,
  gcc: /^-wrapper/,
  "g++": /^-wrapper/,
  cc: /^-wrapper/,
  man: /^(?:-[PH]|--(?:pager|html))/,
  rsync: /^(?:-e|--rsh)/,
  go: /^-(?:exec|toolexec)/,
  zip: /^(?:-TT|--unzip)/,
  tcpdump: /^-z/,
};
