import { closeSync, openSync } from "node:fs";
import type { Socket } from "node:net";
import { tokenDescriptor } from "./process-token.ts";
import { chooseLimit, guardPath, readLimits } from "./own-limit.ts";
import type { Guard } from "./process-guard.ts";
import { startOf } from "./process-sweep.ts";

/** Where the shell hears of our end: only we hold the other end of that pipe, and the kernel closes it when we are gone. */
const pipeDescriptor = 3;

/**
 * Starts what waits for our end. Whatever this process starts can be found by two marks: a text in its environment, and a limit of file
 * locks that nobody else has. Linux enforces that limit no more, and every child inherits it, also one that leaves its session and clears
 * its environment. It is set where the process is ours.
 */
export async function startGuard(text: string, isOurs: boolean): Promise<Guard> {
  if (process.platform !== "linux") return { limit: undefined, dismiss: () => {} };
  const limit = isOurs ? chooseLimit(readLimits()) : undefined;
  const dismiss = await startShell(text, limit);
  const isSet = limit !== undefined && new RegExp(`^Max file locks\\s+${limit}\\s`, "m").test(readLimits() ?? "");
  return { limit: isSet ? limit : undefined, dismiss };
}

/** Answers how to send it away; never fails. */
async function startShell(text: string, limit: string | undefined): Promise<() => void> {
  const { spawn } = process.getBuiltinModule("node:child_process");
  let nothing: number | undefined;
  try {
    // In the place of what an outrider around us has given to all it starts: the guard is to outlive that one's sweep.
    nothing = openSync("/dev/null", "r");
    const stdio: ("ignore" | "pipe" | number)[] = Array.from({ length: tokenDescriptor }, () => "ignore");
    stdio[pipeDescriptor] = "pipe";
    stdio.push(nothing);
    const owner = [String(process.pid), startOf(process.pid) ?? ""];
    const child = spawn("/bin/sh", ["-c", beginScript, guardScript, text, limit ?? "", ...owner], {
      cwd: "/",
      env: { PATH: guardPath },
      stdio,
      detached: true,
    });
    const begun = new Promise<void>((resolve) => {
      child.once("exit", () => resolve());
      child.once("error", () => resolve()); // no descriptor left, or no shell
    });
    const pipe = child.stdio?.[pipeDescriptor] as Socket | undefined; // what "pipe" makes
    pipe?.on("error", () => {}); // it was killed: nobody else can see to our end
    pipe?.unref();
    await begun;
    return () => {
      pipe?.write("done\n");
      pipe?.destroy(); // should that come without the word, the guard waits for our end
    };
  } catch {
    return () => {}; // our own sweeps must do
  } finally {
    if (nothing !== undefined) closeSync(nothing);
  }
}

/**
 * The guard is nobody's child when this has ended, so that whoever ends our descendants does not end it too.
 * The limit is that of our own process: what it starts from here on inherits it. The guard itself was started before.
 */
const beginScript = `sh -c "$0" outrider-guard "$@" <&3 3<&- &
[ -z "$2" ] || exec prlimit --pid "$PPID" --locks="$2:"`;

/**
 * Does nothing while our process lives: it may be gone before this begins. A zombie is dead already. Asks first, then kills, again and again:
 * what is killed may have started something in the meantime. Only when several looks in a row have found nobody is nobody left: between
 * the list of processes and the look at one of them, that one may have handed over to a child and exited.
 */
export const guardScript = `trap '' HUP INT TERM QUIT
prlimit --pid $$ --locks="$(sed -n 's/^Max file locks *[^ ]* *\\([^ ]*\\).*/\\1/p' /proc/self/limits):"
mark=$1 limit=$2 owner=$3 began=$4
state_of() {
  sed 's/.*) //' "/proc/$1/stat" | { read -r state parent group session tty front flags a b c d e f g h i j k l start rest; echo "$start $state"; }
}
read -r word
[ "$word" = done ] && exit
while :; do
  now=$(state_of "$owner")
  case $now in " " | "$began Z" | "$began X") break ;; "$began "*) sleep 0.05 || sleep 1 ;; *) break ;; esac
done
find_all() {
  for file in $(grep -lsF -e "$mark" /proc/[0-9]*/environ; [ -z "$limit" ] || grep -lsE -e "^Max file locks +$limit " /proc/[0-9]*/limits); do
    pid=\${file#/proc/}
    pid=\${pid%/*}
    grep -qsE '^State:.[ZX]' "/proc/$pid/status" || echo "$pid"
  done
}
nobody() {
  for look in 1 2 3 4; do
    found=$(find_all)
    [ -z "$found" ] || return 1
    sleep 0.05 || sleep 1
  done
}
nobody && exit
kill -TERM $found
for wait in 1 2 3 4 5 6; do
  sleep 0.05 || sleep 1
  nobody && exit
done
round=0
while [ $round -lt 200 ]; do
  nobody && exit
  kill -KILL $found
  sleep 0.05 || sleep 1
  round=$((round + 1))
done
`;
