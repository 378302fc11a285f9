import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { decide } from "../../packages/runtime/src/permissions/decide.ts";
import type { Decision } from "../../packages/runtime/src/permissions/policy.ts";
import { installInertGit } from "../../packages/runtime/src/workspace/inert-git.ts";
import { createLocalWorkspace } from "../../packages/runtime/src/workspace/local.ts";
import {
  type CanaryGround,
  closable,
  createCanaryGround,
  differences,
  type Picture,
  pictureOf,
  spellings,
  textAt,
} from "./canary-ground.ts";
import { resolveExisting, toRules } from "./command-ground.ts";
import { keepsMoving } from "./keeps-moving.ts";
import { createRandom, type Random } from "./random-commands.ts";
import { fileCommand } from "./random-looks.ts";
import { damage } from "./random-shell.ts";

const batch = 500;
/** For one command, which may use two seconds of processor: milliseconds on a quiet machine. */
const silenceMs = 60_000;

/** Some forbid a file, some a change, some a program: that program then leaves the mark when it is started all the same. */
const denyRules: readonly (readonly string[])[] = [
  [],
  [],
  ["Read(./.env)"],
  ["Read(**/.env)", "Edit(./src/**)"],
  ["Read(./secrets/**)"],
  ["Read(./.env)", "Read(./secrets/**)"],
  ["Edit(./src/**)"],
  ["Bash(head:*)", "Bash(tail:*)"],
  ["Bash(rm:*)", "Bash(git log:*)"],
  ["Bash(touch:*)", "Read(./.env)"],
];

export type Tried = { readonly problems: readonly string[]; readonly allowed: number; readonly changing: number };

/** Judges commands on one hostile ground after the other, runs what is allowed, and tells what nobody should have been able to do. */
export async function tryCommands({ count, seed }: { count: number; seed: number }): Promise<Tried> {
  const top = realpathSync(mkdtempSync(join(tmpdir(), "outrider-canaries-")));
  const random = createRandom(seed);
  const problems: string[] = [];
  let [allowed, changing] = [0, 0];
  const home = process.cwd();
  try {
    const git = await gitForLooking(top);
    for (let done = 0; done < count; done += batch) {
      const trial = prepareTrial({ random, git, top, mode: (done / batch) % 2 === 0 ? "default" : "acceptEdits" });
      try {
        // The program that judges may stand anywhere; a link through /proc/self/cwd leads it to somewhere else than the command.
        process.chdir(join(trial.ground.root, random.pick([".", "src", "src/deep"])));
        const jobs: Job[] = [];
        for (let one = 0; one < Math.min(batch, count - done); one++) {
          const command = damage(random, fileCommand(random, { writes: trial.mode === "acceptEdits" }));
          const decision = await judge(trial, command);
          if (decision.effect === "allow") jobs.push(toJob(command, decision));
        }
        allowed += jobs.length;
        changing += jobs.filter(({ changes }) => changes).length;
        problems.push(...(await tryJobs(trial, jobs)));
      } finally {
        process.chdir(home);
        trial.ground.remove();
      }
    }
  } finally {
    rmSync(top, { recursive: true, force: true });
  }
  return { problems, allowed, changing };
}

type Trial = {
  readonly top: string;
  readonly ground: CanaryGround;
  readonly mode: "default" | "acceptEdits";
  readonly deny: readonly string[];
  readonly policy: ReturnType<CanaryGround["policy"]>;
};
type Job = { readonly command: string; readonly git: Decision["git"]; readonly changes: boolean };

type Start = { readonly random: Random; readonly git: string } & Pick<Trial, "top" | "mode">;

function prepareTrial({ random, git, top, mode }: Start): Trial {
  const ground = createCanaryGround(random);
  const deny = random.pick(denyRules);
  return { top, ground, mode, deny, policy: ground.policy({ mode, deny: toRules(deny), inertGit: async () => git }) };
}

async function gitForLooking(top: string): Promise<string> {
  const env = { PATH: process.env["PATH"] ?? "", HOME: top };
  const workspace = createLocalWorkspace({ root: top, env, overflowDirectory: join(top, "overflow") });
  const folder = await installInertGit(workspace);
  assert.ok(folder);
  return folder;
}

function judge({ ground, policy }: Trial, command: string): Promise<Decision> {
  const cwd = join(ground.root, ground.from);
  return decide(policy, [{ tool: "Bash", kind: "run", resource: command, cwd }], resolveExisting);
}

function toJob(command: string, { git, reason }: Decision): Job {
  return { command, git, changes: reason.startsWith("It changes ") };
}

/** Lines that only look share the ground, which must stay as it is; each of the others has a copy. */
async function tryJobs(trial: Trial, jobs: readonly Job[]): Promise<string[]> {
  const found = await run(trial, jobs);
  if (found.problems.length > 0 || !found.isCommon) return found.problems;
  // A mark, or a change of what all shared: who was it?
  const alone: string[] = [];
  for (const job of jobs) {
    const again = await run(trial, [{ ...job, changes: true }]);
    if (again.isCommon || again.problems.length > 0) alone.push(...again.problems, `${titleOf(trial, job)} was alone`);
  }
  return alone.length > 0 ? alone : [`${found.what} by one of ${JSON.stringify(jobs.map(({ command }) => command))}`];
}

type Found = { readonly problems: string[]; readonly isCommon: boolean; readonly what: string };

async function run(trial: Trial, jobs: readonly Job[]): Promise<Found> {
  const { ground } = trial;
  const before = pictureOf(ground.top);
  const place = mkdtempSync(join(trial.top, "run-"));
  await runAll(trial, jobs, place);
  const problems = jobs.flatMap((job, index) => {
    const output = readFileSync(join(place, `out-${index}`), "latin1");
    const shown = secretsOf(trial).find((text) => spellings(text).some((spelling) => output.includes(spelling)));
    const changed = job.changes ? problemOf(trial, before, join(place, `copy-${index}`)) : undefined;
    return [...(shown ? [`shows ${shown}`] : []), ...(changed ? [changed] : [])].map((what) => `${titleOf(trial, job)} ${what}`);
  });
  rmSync(place, { recursive: true, force: true });
  const changed = differences(before, pictureOf(ground.top));
  const isMarked = existsSync(ground.mark);
  const what = `${isMarked ? `ran ${readFileSync(ground.mark, "utf8")}` : ""} ${changed.join(", ")}`;
  rmSync(ground.mark, { force: true });
  return { problems, isCommon: isMarked || changed.length > 0, what };
}

function titleOf({ ground, mode, deny }: Trial, { command }: Job): string {
  return `[${mode}, ${ground.name}, ${deny.join(" ")}] ${JSON.stringify(command)}`;
}

function secretsOf({ ground, deny }: Trial): string[] {
  if (ground.from === "tree") return [...ground.foreign]; // a worktree has files of its own by these names
  return [...ground.foreign, ...Object.entries(closable).flatMap(([path, text]) => (isClosed(deny, path) ? [text] : []))];
}

function isClosed(deny: readonly string[], path: string): boolean {
  return deny.some((rule) => rule.startsWith("Read(") && rule.includes(path.replace(/\/.*/, "")));
}

/** What a line that may edit files of the project has done that it may not. */
function problemOf(trial: Trial, before: Picture, copy: string): string | undefined {
  const after = pictureOf(copy);
  const changed = differences(before, after);
  const guarded = changed.find((path) => !path.startsWith("project/") || isGuarded(trial, path));
  if (guarded !== undefined) return `changed ${guarded}`;
  for (const path of changed) {
    const entry = after.get(path);
    const text = entry ? textAt(copy, entry) : "";
    const old = before.get(path);
    const isItsOwn = (secret: string): boolean => old !== undefined && textAt(trial.ground.top, old).includes(secret);
    const secret = secretsOf(trial).find((one) => text.includes(one) && !isItsOwn(one));
    if (secret !== undefined) return `put ${secret} into ${path}`;
  }
  return undefined;
}

function isGuarded({ deny }: Trial, path: string): boolean {
  if (/\/(?:\.git|\.claude\/settings\.json|\.vscode|\.envrc)(?:\/|$)/.test(path)) return true;
  return deny.includes("Edit(./src/**)") && path.startsWith("project/src/");
}

/** Each command in a shell of its own, as the session starts it, all in one box: a mistake of ours must not leave it. */
async function runAll({ top, ground, deny }: Trial, jobs: readonly Job[], place: string): Promise<void> {
  const bin = join(place, "bin");
  mkdirSync(bin);
  for (const name of deny.flatMap((rule) => /^Bash\((\w+):/.exec(rule)?.[1] ?? []))
    writeFileSync(join(bin, name), `#!/bin/sh\necho ${name} >> ${ground.mark}\n`, { mode: 0o755 });
  const list = jobs.flatMap(({ command, git, changes }, index) => [
    changes ? join(place, `copy-${index}`) : "",
    git?.folder ?? "",
    join(place, `out-${index}`),
    command,
  ]);
  writeFileSync(join(place, "list"), list.map((text) => `${text}\0`).join(""));
  const driver = `set -m
while IFS= read -r -d '' outrider_copy <&3 && IFS= read -r -d '' outrider_git <&3 && IFS= read -r -d '' outrider_out <&3 && IFS= read -r -d '' outrider_text <&3; do
  [[ -z $outrider_copy ]] || cp -a ${ground.top} "$outrider_copy"
  outrider_copy=\${outrider_copy:-${ground.top}}
  ( cd "$outrider_copy/project/${ground.from}" || exit; set --; ulimit -t 2 -f 2000; export HOME=$outrider_copy/home
    PATH=\${outrider_git:+$outrider_git:}$PATH; unset OLDPWD; eval "$outrider_text" ) 3<&- < /dev/null > "$outrider_out" 2>&1 &
  wait $!
  echo
done 3< "$1"
: > "$1.done"`;
  const box = ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--unshare-all", "--die-with-parent"];
  for (const path of [top, ground.top]) box.push("--bind", path, path);
  writeFileSync(ground.mark, "");
  box.push("--bind", ground.mark, ground.mark);
  const child = spawn("bwrap", [...box, "bash", "-c", driver, "driver", join(place, "list")], {
    cwd: top,
    env: { PATH: `${bin}:${process.env["PATH"]}`, LANG: "C" },
    stdio: ["ignore", "pipe", "ignore"],
  });
  await keepsMoving(child, silenceMs);
  const last = readdirSync(place).filter((name) => name.startsWith("out-")).length - 1;
  assert.ok(existsSync(join(place, "list.done")), `did not end: ${JSON.stringify(jobs[last]?.command)}`);
  if (readFileSync(ground.mark).length === 0) rmSync(ground.mark);
}
