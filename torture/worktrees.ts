import { execFileSync, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { launcher } from "./launcher.ts";
import { createGit } from "../packages/runtime/src/tasks/worktrees/git.ts";
import { prepareWorktree } from "../packages/runtime/src/tasks/worktrees/prepare-worktree.ts";
import { collectWorktree, settleWorktree } from "../packages/runtime/src/tasks/worktrees/settle-worktree.ts";
import { startModelServer } from "../packages/runtime/src/testing/model-server.ts";
import { createLocalWorkspace } from "../packages/runtime/src/workspace/local.ts";
import { createRandom, inParallel, Tally } from "./report.ts";

const person = {
  GIT_AUTHOR_NAME: "a",
  GIT_AUTHOR_EMAIL: "a@example.com",
  GIT_COMMITTER_NAME: "a",
  GIT_COMMITTER_EMAIL: "a@example.com",
  GIT_CONFIG_NOSYSTEM: "1",
};

/** What an agent does with git and files; TOKEN is a text that is nowhere else. */
const deeds: readonly string[] = [
  "echo TOKEN >> a.txt",
  "echo TOKEN > TOKEN.txt",
  "echo TOKEN > TOKEN.log",
  "mkdir -p deep/TOKEN && echo TOKEN > deep/TOKEN/x",
  "echo TOKEN >> a.txt; git add -A",
  "echo TOKEN >> a.txt; git commit -qam TOKEN",
  "echo TOKEN > new-TOKEN; git add -A; git commit -qm TOKEN",
  "echo TOKEN >> a.txt; git commit -qam TOKEN; git reset -q --hard HEAD~1",
  "echo TOKEN >> a.txt; git commit -qam TOKEN; git commit -q --amend -m again",
  "git checkout -q -b side-TOKEN; echo TOKEN >> a.txt; git commit -qam TOKEN",
  "git checkout -q --detach; echo TOKEN >> a.txt; git commit -qam TOKEN",
  "echo TOKEN >> a.txt; git stash -q",
  "git checkout -q -b gone-TOKEN; echo TOKEN >> a.txt; git commit -qam TOKEN; git checkout -q -; git branch -qD gone-TOKEN",
  "git update-index --assume-unchanged a.txt; echo TOKEN >> a.txt",
  "git update-index --skip-worktree b.txt; echo TOKEN >> b.txt",
  "echo '*' >> $(git rev-parse --git-path info/exclude); echo TOKEN > hidden-TOKEN",
  "git init -q inner-TOKEN; echo TOKEN > inner-TOKEN/x",
  "rm -f b.txt",
  "git merge -q main 2> /dev/null",
  "git status --short > /dev/null; git log --oneline > /dev/null",
  "touch a.txt",
  "git checkout -q -- .",
  "git clean -qfd",
  "git gc -q --auto",
  "git bisect start -q; git bisect reset -q",
];

/** What the user does meanwhile. */
const userDeeds: readonly string[] = [
  "true",
  "echo mine >> mine.txt",
  "git stash -q -u",
  "echo mine >> c.txt; git add c.txt",
  "echo mine >> c.txt; git commit -qam mine -- c.txt",
  "git checkout -q -b user",
];

/**
 * Random work in worktrees, settled and collected: every text that was there before, in a file, a commit or a reflog, is there afterwards,
 * and the user's checkout is the same byte for byte.
 */
export async function settleWorktrees({ scripts, seed }: { scripts: number; seed: number }): Promise<Tally> {
  const tally = new Tally("random work in worktrees");
  const random = createRandom(seed);
  const jobs = Array.from({ length: scripts }, (_, index) => ({
    index,
    steps: Array.from({ length: random(5) }, () => deeds[random(deeds.length)] ?? ""),
    user: userDeeds[random(userDeeds.length)] ?? "",
    merges: random(4) === 0,
  }));
  await inParallel(jobs, 2, async ({ index, steps, user, merges }) => {
    const place = openRepository();
    try {
      const { top, sh } = place;
      const env = { PATH: process.env["PATH"] ?? "", HOME: place.folder, ...person };
      const workspace = createLocalWorkspace({ root: top, env, overflowDirectory: join(place.folder, "overflow") });
      const { signal } = new AbortController();
      const newId = (): string => index.toString(16).padStart(8, "0");
      const made = await prepareWorktree(workspace, { owner: "torture", newId, signal });
      const script = steps.map((step, at) => step.replaceAll("TOKEN", `tok${index}x${at}y`));
      sh(script.map((line) => `{ ${line}; } > /dev/null 2>&1`).join("\n") || "true", made.path);
      sh(`{ ${user}; } > /dev/null 2>&1 || true`);
      if (merges) sh(`git merge -q --no-edit ${made.branch} > /dev/null 2>&1 || git merge --abort > /dev/null 2>&1 || true`);
      const before = tokensIn(place, made.path);
      const mine = userState(place);
      const at = { machine: workspace, git: createGit(workspace, signal), top };
      const settled = await settleWorktree(at, made);
      const collected = settled.status === "kept" ? await collectWorktree(at, made) : settled;
      const lost = [...before].filter((token) => !tokensIn(place, made.path).has(token));
      const said = `${index}: ${script.join(" | ")} | user: ${user}${merges ? " | merged" : ""}`;
      if (lost.length > 0) tally.violate(`${said}: lost ${lost.join(", ")}`);
      if (userState(place) !== mine) tally.violate(`${said}: the user's checkout is not what it was`);
      tally.count("scripts");
      tally.count(collected.status === "removed" ? "removed" : "kept");
      await workspace.close();
    } catch (error) {
      tally.violate(`${index}: ${error instanceof Error ? error.message : error}`);
    } finally {
      place.remove();
    }
  });
  return tally;
}

/** Runs in a worktree that are killed at any moment: what was there at the kill is there after `gc`, and the name can be used again. */
export async function killWorktrees(options: { command: string; kills: number; seed: number }): Promise<Tally> {
  const tally = new Tally("kill -9 of runs in worktrees");
  const random = createRandom(options.seed);
  const jobs = Array.from({ length: options.kills }, (_, index) => ({ index, afterMs: random(2500) }));
  const work =
    'for i in 1 2 3 4 5 6 7 8 9; do echo tok"$i"z >> a.txt; [ $((i % 3)) = 0 ] && git commit -qam tok"$i"z; sleep 0.05; done';
  await inParallel(jobs, 2, async ({ index, afterMs }) => {
    const place = openRepository();
    const server = await startModelServer({ replies: () => ({ calls: [{ name: "Bash", input: { command: work } }] }) });
    const env = {
      PATH: process.env["PATH"] ?? "",
      HOME: place.folder,
      OUTRIDER_HOME: join(place.folder, "home"),
      ANTHROPIC_API_KEY: "torture",
      ANTHROPIC_BASE_URL: server.url,
      ...person,
    };
    const path = join(place.top, ".outrider/worktrees/job");
    const outrider = (...args: string[]) =>
      spawnSync(launcher, [options.command, ...args], { cwd: place.top, env, encoding: "utf8" });
    try {
      const before = userState(place);
      const args = [options.command, "-p", "go", "-w", "job", "--allowedTools", "Bash", "--sandbox", "off"];
      const child = spawn(launcher, args, { cwd: place.top, env, stdio: "ignore" });
      const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
      await pause(afterMs);
      child.kill("SIGKILL");
      await exited;
      await pause(300); // the guard ends what it had started
      const there = tokensIn(place, path);
      const { status, stdout, stderr } = outrider("worktrees", "gc");
      if (status !== 0) tally.violate(`${index}, ${afterMs} ms: gc ended with ${status}: ${stderr}`);
      const lost = [...there].filter((token) => !tokensIn(place, path).has(token));
      if (lost.length > 0) tally.violate(`${index}, ${afterMs} ms: lost ${lost.join(", ")}: ${stdout}`);
      if (existsSync(path) && !stdout.includes("job")) tally.violate(`${index}, ${afterMs} ms: gc says nothing of it: ${stdout}`);
      if (userState(place) !== before) tally.violate(`${index}, ${afterMs} ms: the user's checkout is not what it was`);
      tally.count("kills");
      tally.count("texts at the kill", there.size);
    } catch (error) {
      tally.violate(`${index}: ${error instanceof Error ? error.message : error}`);
    } finally {
      await server.close();
      place.remove();
    }
  });
  return tally;
}

type Repository = {
  readonly folder: string;
  readonly top: string;
  sh(script: string, cwd?: string): string;
  remove(): void;
};

function openRepository(): Repository {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "outrider-torture-trees-")));
  const top = join(folder, "top");
  mkdirSync(top);
  const env = { PATH: process.env["PATH"] ?? "", HOME: folder, ...person };
  const sh: Repository["sh"] = (script, cwd = top) =>
    execFileSync("bash", ["-c", `${script}\ntrue`], { cwd, env, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  sh(
    "git init -q -b main; for f in a b c; do echo one > $f.txt; done; echo '*.log' > .gitignore; git add -A; git commit -qm first",
  );
  return { folder, top, sh, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** Every text of the agent that can be found: in files of the worktree, in commits and stashes, and in what its reflog knows. */
function tokensIn({ sh, top }: Repository, worktree: string): Set<string> {
  const files = existsSync(worktree) ? sh("grep -rhoE 'tok[0-9a-z]+[yz]' . --exclude-dir=.git", worktree) : "";
  const log = "git log -p --all --reflog --format=%s 2> /dev/null | grep -oE 'tok[0-9a-z]+[yz]'";
  return new Set(`${files}\n${existsSync(worktree) ? sh(log, worktree) : ""}\n${sh(log, top)}`.split("\n").filter(Boolean));
}

function userState({ sh }: Repository): string {
  return sh(
    "git status --porcelain; git stash list --format=%H; git for-each-ref | grep -v -e refs/heads/outrider -e side- ; cat .git/HEAD .git/config; git ls-files -s; git diff; git diff --cached; find . -path ./.git -prune -o -path ./.outrider -prune -o -type f -print0 | sort -z | xargs -0 sha1sum",
  );
}
