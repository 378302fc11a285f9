import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { createLocalWorkspace, type LocalWorkspace } from "../../workspace/local.ts";
import { createGit } from "./git.ts";
import { listWorktrees } from "./list-worktrees.ts";
import { type PreparedWorktree, prepareWorktree } from "./prepare-worktree.ts";
import { collectWorktree, settleWorktree } from "./settle-worktree.ts";
import { describeWork } from "./worktree.ts";

const signal = new AbortController().signal;
const env = {
  PATH: process.env["PATH"] ?? "",
  HOME: "/nonexistent",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_AUTHOR_NAME: "a",
  GIT_AUTHOR_EMAIL: "a@example.com",
  GIT_COMMITTER_NAME: "a",
  GIT_COMMITTER_EMAIL: "a@example.com",
};
let ids = 0;
const newId = (): string => (++ids).toString(16).padStart(8, "0");

let folder = "";
before(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "outrider-worktrees-")));
});
after(() => rmSync(folder, { recursive: true, force: true }));

type Scene = {
  readonly root: string;
  readonly workspace: LocalWorkspace;
  sh(script: string, cwd?: string): string;
  prepare(name?: string): Promise<PreparedWorktree>;
  settle(worktree: PreparedWorktree): ReturnType<typeof settleWorktree>;
};

/** A repository with two commits, a tracked file and an ignored name. */
function scene(prepareScript = ""): Scene {
  const root = join(folder, newId());
  mkdirSync(root);
  const sh: Scene["sh"] = (script, cwd = root) =>
    execFileSync("bash", ["-c", script], { cwd, env, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] }).trim();
  sh("git init -q -b main && echo one > a.txt && echo '*.log' > .gitignore && mkdir sub && echo x > sub/x.txt");
  sh("git add -A && git commit -qm first && echo two >> a.txt && git commit -qam second");
  if (prepareScript) sh(prepareScript);
  const workspace = createLocalWorkspace({ root, env, overflowDirectory: join(folder, "overflow") });
  const place = { machine: workspace, git: createGit(workspace, signal), top: root };
  return {
    root,
    workspace,
    sh,
    prepare: (name) => prepareWorktree(workspace, { name, prefix: "task", owner: "me", newId, signal }),
    settle: (worktree) => settleWorktree(place, worktree),
  };
}

/** All that is the user's: files outside of .outrider, index, HEAD, stash, branches and configuration. */
function userState({ sh }: Scene): string {
  return sh(
    "git status --porcelain; git stash list; git for-each-ref | grep -v refs/heads/outrider; cat .git/HEAD .git/config; git ls-files -s; git diff; git diff --cached; ls -a",
  );
}

/** Each first look at the worktrees of the repository finds another git that is just making one. */
function amidOthers(workspace: LocalWorkspace, root: string): LocalWorkspace {
  const half = join(root, ".git/worktrees/half");
  const seen = new Set<string>();
  return {
    ...workspace,
    async run(command) {
      const words = command.args.slice(3).join(" ");
      if (!words.startsWith("worktree ") || seen.has(words)) return await workspace.run(command);
      seen.add(words);
      mkdirSync(half, { recursive: true });
      const files = {
        locked: "initializing",
        gitdir: `${join(root, "half/.git")}\n`,
        HEAD: "ref: refs/heads/main\n",
        commondir: "",
      };
      for (const [name, text] of Object.entries(files)) writeFileSync(join(half, name), text);
      try {
        return await workspace.run(command);
      } finally {
        rmSync(half, { recursive: true });
      }
    },
  };
}

describe("a worktree", () => {
  it("is made, listed and removed while others are made and removed beside it", async () => {
    const { root, workspace, sh } = scene();
    const machine = amidOthers(workspace, root);
    const made = await prepareWorktree(machine, { name: "mine", owner: "me", newId, signal });
    const git = createGit(machine, signal);
    assert.deepEqual(
      (await listWorktrees(git, root)).map(({ worktree: { name, branch }, lock }) => [name, branch, lock !== undefined]),
      [["mine", "outrider/mine", true]],
    );
    assert.equal((await settleWorktree({ machine, git, top: root }, made)).status, "removed");
    assert.deepEqual([sh("git worktree list").split("\n").length, sh("git branch")], [1, "* main"]);
  });

  it("whose git was killed half way is named with the folder to remove", async () => {
    const { root, workspace, sh } = scene();
    const half = join(root, ".git/worktrees/half");
    sh(`mkdir -p ${half} && touch ${half}/commondir && echo ${root}/half/.git > ${half}/gitdir && cp .git/HEAD ${half}/HEAD`);
    await assert.rejects(listWorktrees(createGit(workspace, signal), root), ({ hint }: { hint?: string }) => {
      assert.match(hint ?? "", /killed before anything was in it.*remove the folder .*\.git\/worktrees\/half$/);
      return true;
    });
  });

  it("that cannot be made leaves no branch, and none of the user's is taken", async () => {
    const { workspace, sh } = scene(
      "mkdir -p .outrider/worktrees && touch .outrider/worktrees/file && git branch outrider/taken",
    );
    const before = sh("git for-each-ref");
    const wanted = { owner: "me", newId, signal };
    await assert.rejects(
      prepareWorktree(workspace, { ...wanted, name: "taken" }),
      /a branch named 'outrider\/taken' already exists/,
    );
    sh("rm -r .outrider/worktrees/.gitignore; chmod 500 .git/worktrees 2> /dev/null || touch .git/worktrees");
    await assert.rejects(prepareWorktree(workspace, { ...wanted, name: "new" }), /No worktree could be made at/);
    assert.equal(sh("git for-each-ref"), before);
  });

  it("is made from HEAD on a branch of its own, in a folder that git does not show", async () => {
    const place = scene("echo dirty > a.txt");
    const before = userState(place);
    const made = await place.prepare();
    assert.equal(readFileSync(join(made.path, "a.txt"), "utf8"), "one\ntwo\n");
    assert.equal(made.branch, `outrider/${made.name}`);
    assert.equal(made.base, place.sh("git rev-parse HEAD"));
    assert.equal(made.parentChanges, 1);
    assert.equal(userState(place).replace(/^\.outrider\n/m, ""), before.replace(/^\.outrider\n/m, ""));
  });

  it("begins in the same folder below its top, or at the top where that is not committed", async () => {
    const place = scene("mkdir new");
    const at = async (name: string): Promise<string> => {
      const workspace = createLocalWorkspace({ root: join(place.root, name), env, overflowDirectory: join(folder, "overflow") });
      const { cwd, path, warnings } = await prepareWorktree(workspace, { owner: "me", newId, signal });
      return `${cwd.slice(path.length)} ${warnings.join()}`;
    };
    assert.equal(await at("sub"), "/sub ");
    assert.equal(await at("new"), " new is not committed, so the work begins at the top of the worktree");
  });

  const work: readonly { does: string; script: string; kept: string | undefined }[] = [
    { does: "nothing", script: "true", kept: undefined },
    { does: "only looks", script: "git status; git log; cat a.txt", kept: undefined },
    { does: "touches a file without changing it", script: "touch a.txt", kept: undefined },
    { does: "changes a file", script: "echo more >> a.txt", kept: "1 changed file" },
    { does: "deletes a file", script: "rm a.txt", kept: "1 changed file" },
    {
      does: "stages a change and takes it back in the file",
      script: "cp a.txt b; echo m >> a.txt; git add a.txt; mv b a.txt",
      kept: "1 changed file",
    },
    { does: "leaves an untracked file", script: "echo new > new.txt", kept: "1 untracked file" },
    { does: "leaves an ignored file", script: "echo new > new.log", kept: "1 ignored file" },
    {
      does: "ignores what it leaves",
      script: "echo new > new.txt; echo '*' >> $(git rev-parse --git-path info/exclude)",
      kept: "1 ignored file",
    },
    { does: "commits", script: "echo more >> a.txt; git commit -qam work", kept: "1 commit" },
    {
      does: "commits twice and leaves more",
      script: "for i in 1 2; do echo $i >> a.txt; git commit -qam work; done; echo x > y",
      kept: "2 commits, 1 untracked file",
    },
    {
      does: "commits and resets",
      script: "echo more >> a.txt; git commit -qam work; git reset -q --hard HEAD~1",
      kept: "1 dropped commit",
    },
    {
      does: "commits elsewhere and comes back",
      script: "git checkout -q -b tmp; echo m >> a.txt; git commit -qam w; git checkout -q -; git branch -qD tmp",
      kept: "1 dropped commit",
    },
    { does: "stays on another branch", script: "git checkout -q -b other", kept: "HEAD on other" },
    { does: "detaches HEAD", script: "git checkout -q --detach", kept: "HEAD detached" },
    {
      does: "hides a change from status",
      script: "git update-index --assume-unchanged a.txt; echo secret work >> a.txt",
      kept: "1 changed file",
    },
    {
      does: "hides a change as if it were not checked out",
      script: "git update-index --skip-worktree a.txt; echo secret >> a.txt",
      kept: "1 changed file",
    },
    { does: "begins a bisection", script: "git bisect start -q", kept: "BISECT_LOG in its git folder" },
    { does: "makes a repository in it", script: "git init -q inner && echo x > inner/x", kept: "1 untracked file" },
    { does: "breaks its own index", script: "echo bad > $(git rev-parse --git-path index)", kept: "cannot be read" },
    { does: "stashes a change", script: "echo more >> a.txt; git stash -q", kept: undefined },
  ];
  for (const { does, script, kept } of work) {
    it(`${kept === undefined ? "goes" : "stays"} when the agent ${does}`, async () => {
      const place = scene();
      const made = await place.prepare();
      place.sh(`${script} || exit 1`, made.path);
      const before = userState(place);
      const settled = await place.settle(made);
      const said = settled.status === "kept" ? describeWork(settled.work) : undefined;
      if (kept === undefined) assert.equal(said, undefined);
      else assert.ok(said?.includes(kept), `${said}`);
      assert.equal(existsSync(made.path), kept !== undefined);
      assert.equal(place.sh(`git branch --list ${made.branch}`) !== "", kept !== undefined);
      assert.equal(userState(place), before);
      if (does === "stashes a change") assert.match(place.sh("git stash list"), /stash@\{0\}/);
    });
  }

  it("runs no hook, filter or monitor of the repository", async () => {
    const place = scene(
      [
        "printf '#!/bin/sh\\ntouch ran-hook\\n' > .git/hooks/post-checkout && chmod +x .git/hooks/post-checkout",
        "git config filter.evil.smudge 'touch ran-filter; cat' && git config filter.evil.clean 'touch ran-filter; cat' && git config core.fsmonitor 'touch ran-monitor; true'",
        "echo '*.txt filter=evil' > .gitattributes && git -c core.fsmonitor=false -c filter.evil.clean=cat add -A && git -c core.fsmonitor=false -c filter.evil.clean=cat commit -qm third",
      ].join("; "),
    );
    place.sh("rm -f ran-*");
    const made = await place.prepare();
    await place.settle(made);
    assert.equal(place.sh("find . -name 'ran-*'"), "");
  });

  it("is refused in words where there is no repository, no commit, or a link in its place", async () => {
    const refused = async (root: string): Promise<string> => {
      const workspace = createLocalWorkspace({ root, env, overflowDirectory: join(folder, "overflow") });
      return await prepareWorktree(workspace, { owner: "me", newId, signal }).then(
        () => "made",
        (error: Error) => error.message,
      );
    };
    const plain = join(folder, "plain");
    mkdirSync(plain);
    assert.match(await refused(plain), /is in no git repository/);
    execFileSync("git", ["init", "-q", plain], { env });
    assert.match(await refused(plain), /has no commit yet/);
    const { root } = scene();
    mkdirSync(join(folder, "elsewhere"));
    mkdirSync(join(root, ".outrider"));
    symlinkSync(join(folder, "elsewhere"), join(root, ".outrider/worktrees"));
    assert.match(await refused(root), /leads elsewhere through a link/);
    const bare = join(folder, "bare.git");
    execFileSync("git", ["init", "-q", "--bare", bare], { env });
    assert.match(await refused(bare), /is in no git repository/);
  });

  it("is made from where the user stands, also on no branch", async () => {
    const place = scene("git checkout -q --detach HEAD~1");
    const before = userState(place);
    const made = await place.prepare();
    assert.equal(readFileSync(join(made.path, "a.txt"), "utf8"), "one\n");
    await place.settle(made);
    assert.equal(userState(place).replace(/^\.outrider\n/m, ""), before.replace(/^\.outrider\n/m, ""));
  });

  const inner = `git init -q -b main ../inner-$PPID-$$ && git -C ../inner-$PPID-$$ commit -q --allow-empty -m inner &&
    git -c protocol.file.allow=always submodule --quiet add "$(realpath ../inner-$PPID-$$)" lib && git commit -qm submodule`;
  const fetched = "git -c protocol.file.allow=always submodule --quiet update --init";
  const inSubmodule: readonly { does: string; script: string; stays: boolean }[] = [
    { does: "nothing", script: "true", stays: false },
    { does: "puts a file where the submodule would be", script: "echo mine > lib/mine.txt", stays: true },
    { does: "commits in the submodule", script: `${fetched}; git -C lib commit -q --allow-empty -m work`, stays: true },
    { does: "changes a file of the submodule", script: `${fetched}; echo mine > lib/mine.txt`, stays: true },
    {
      does: "commits in the submodule and goes back",
      script: `${fetched}; cd lib; git checkout -qb work; git commit -q --allow-empty -m w; git checkout -q --detach HEAD~1`,
      stays: true,
    },
  ];
  for (const { does, script, stays } of inSubmodule)
    it(`of a repository with a submodule ${stays ? "stays" : "goes"} when the agent ${does}`, async () => {
      const place = scene(inner);
      const before = userState(place);
      const made = await place.prepare();
      place.sh(script, made.path);
      await place.settle(made);
      assert.equal(existsSync(made.path), stays);
      assert.equal(userState(place).replace(/^\.outrider\n/m, ""), before.replace(/^\.outrider\n/m, ""));
    });

  it("has another name for its branch where one called outrider is in the way", async () => {
    const place = scene("git branch outrider");
    assert.match((await place.prepare()).branch, /^outrider-task-/);
  });

  it("of a given name is used again once nobody works there", async () => {
    const place = scene();
    const first = await place.prepare("feature");
    await assert.rejects(place.prepare("feature"), /is in use/);
    place.sh("echo more >> a.txt; git commit -qam work", first.path);
    await place.settle(first);
    const again = await place.prepare("feature");
    assert.deepEqual([again.isReused, again.path, again.base], [true, first.path, first.base]);
    for (const name of ["", "..", "a/b", "-x", "x.lock", "a..b", "x".repeat(65)])
      await assert.rejects(place.prepare(name), /is no name for a worktree/);
  });

  it("is made by a program that git itself started, in the folder it was asked for", async () => {
    const place = scene();
    const workspace = createLocalWorkspace({
      root: place.root,
      env: { ...env, GIT_DIR: "/nonexistent/.git", GIT_INDEX_FILE: "/nonexistent/index" },
      overflowDirectory: join(folder, "overflow"),
    });
    const { path } = await prepareWorktree(workspace, { owner: "me", newId, signal });
    assert.ok(existsSync(join(path, "a.txt")));
  });

  it("is collected when another branch has its commits, and not before", async () => {
    const place = scene();
    const made = await place.prepare();
    place.sh("echo more >> a.txt; git commit -qam work", made.path);
    const git = createGit(place.workspace, signal);
    const at = { machine: place.workspace, git, top: place.root };
    assert.equal((await collectWorktree(at, made)).status, "kept");
    place.sh(`git merge -q ${made.branch}`);
    assert.equal((await collectWorktree(at, made)).status, "removed");
    assert.equal(place.sh("git branch --list 'outrider/*'"), "");
    assert.equal(place.sh("git log -1 --format=%s"), "work");
  });

  it("keeps a commit whose reflog was cut", async () => {
    const place = scene();
    const made = await place.prepare();
    place.sh("echo more >> a.txt; git commit -qam work; git reflog expire --expire=all --all", made.path);
    const git = createGit(place.workspace, signal);
    const [listed] = await listWorktrees(git, place.root);
    assert.ok(listed);
    const settled = await collectWorktree({ machine: place.workspace, git, top: place.root }, listed.worktree);
    assert.equal(settled.status, "kept");
  });
});

describe("what is not ours", () => {
  it("is no branch that the agent has checked out, and no worktree that somebody else made", async () => {
    const place = scene("git branch rel");
    const made = await place.prepare("e1");
    place.sh("git checkout -q rel", made.path);
    await place.settle(made);
    place.sh("git worktree add -q .outrider/worktrees/own -b own");
    const git = createGit(place.workspace, signal);
    const at = { machine: place.workspace, git, top: place.root };
    const listed = await listWorktrees(git, place.root);
    assert.deepEqual(
      listed.map(({ worktree }) => [worktree.name, worktree.branch]),
      [["e1", "outrider/e1"]],
    );
    for (const { worktree } of listed) assert.equal((await collectWorktree(at, worktree)).status, "kept");
    assert.match(place.sh("git branch --list"), /own[\s\S]*rel/);
  });

  it("is a commit that only another of our branches has", async () => {
    const place = scene();
    const [one, other] = [await place.prepare("c1"), await place.prepare("d1")];
    place.sh("echo same >> a.txt; git commit -qam same", one.path);
    place.sh("git reset -q --hard outrider/c1", other.path);
    const git = createGit(place.workspace, signal);
    const at = { machine: place.workspace, git, top: place.root };
    const settled = await Promise.all([collectWorktree(at, one), collectWorktree(at, other)]);
    assert.deepEqual(
      settled.map(({ status }) => status),
      ["kept", "kept"],
    );
  });

  it("is a folder that has lost its .git: it is not used again, and kept", async () => {
    const place = scene();
    const made = await place.prepare("m1");
    place.sh("echo more >> a.txt", made.path);
    await place.settle(made);
    rmSync(join(made.path, ".git"));
    await assert.rejects(place.prepare("m1"), /is no checkout of its own any more/);
    const settled = await place.settle(made);
    assert.equal(settled.status, "kept");
    assert.ok(existsSync(join(made.path, "a.txt")));
  });
});
