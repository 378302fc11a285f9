import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, lstatSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, it } from "node:test";
import { path, setUpBoxes, whyNoSandbox } from "./support/sandbox-place.ts";

const skip = await whyNoSandbox();

describe("what commands leave behind", { skip }, () => {
  const stage = setUpBoxes();
  const { sh } = stage;
  const inProject = (name: string): string => join(stage.place.project, name);
  const env = (): Record<string, string> => ({
    PATH: path,
    HOME: stage.place.home,
    GIT_CONFIG_NOSYSTEM: "1",
    PWNED: join(stage.place.base, "pwned"),
  });
  const git = (...args: string[]): string =>
    execFileSync("git", ["-C", stage.place.project, ...args], { env: env(), encoding: "utf8" });

  beforeEach(() => {
    writeFileSync(inProject(".gitignore"), "ignored\n");
    git("add", "a.txt", ".gitignore");
    git("commit", "-qm", "first");
    git("tag", "first");
  });

  /** What a user does without a thought, in every directory of the project. */
  function workOutside(): void {
    const visit =
      'cd "$0" && for act in status "diff HEAD" "add -A ." "commit -qm x --allow-empty" "log -p -1"; do git $act; done';
    const places = [
      "(",
      "-path",
      "*/objects",
      "-o",
      "-path",
      "*/refs",
      "-o",
      "-path",
      "*/logs",
      ")",
      "-prune",
      "-o",
      "-type",
      "d",
    ];
    // The second is named because no list shows it when it is closed.
    spawnSync("find", [stage.place.project, inProject("x/sub"), ...places, "-exec", "bash", "-c", visit, "{}", ";"], {
      env: env(),
    });
  }

  const wasRun = (): boolean => existsSync(join(stage.place.base, "pwned"));
  const fsmonitor = '[core]\\n\\tfsmonitor = "touch $PWNED; false"\\n';
  const hook = (file: string): string => `printf '#!/bin/sh\\ntouch $PWNED\\n' > ${file}; chmod +x ${file}`;
  const armed = (directory: string, tree = "\\trepositoryformatversion = 0\\n\\tbare = false\\n\\tworktree = ..\\n"): string =>
    `mkdir -p ${directory}/objects ${directory}/refs; echo 'ref: refs/heads/main' > ${directory}/HEAD; printf '${fsmonitor}${tree}' > ${directory}/config`;

  describe("as git directories runs nothing outside", () => {
    // Each is one command per line of the list, in boxes one after the other.
    const attempts: readonly (readonly [name: string, ...scripts: string[]])[] = [
      [
        "a repository below the top, added",
        "git init -q sub && cd sub && git commit -q --allow-empty -m x && cd .. && git add sub; printf '" +
          fsmonitor +
          "' > sub/.git/config",
      ],
      [
        "a repository far below",
        "mkdir -p a/b/c && git init -q a/b/c && cd a/b/c && git config core.fsmonitor 'touch $PWNED; false'",
      ],
      [
        "hooks",
        `git init -q sub; for h in pre-commit post-commit post-index-change reference-transaction; do ${hook("sub/.git/hooks/$h")}; done`,
      ],
      [
        "hooks in a folder of another place",
        `git init -q sub; mkdir h; ${hook("h/pre-commit")}; git -C sub config core.hooksPath ../h`,
      ],
      ["a clone", `git clone -q . copy; printf '${fsmonitor}' >> copy/.git/config`],
      [
        "a bare repository",
        `git init -q --bare b.git; printf '${fsmonitor}\\tbare = false\\n\\tworktree = ..\\n' >> b.git/config; ${hook("b.git/hooks/post-index-change")}`,
      ],
      ["included configuration", `git init -q sub; printf '${fsmonitor}' > more; git -C sub config include.path ../../more`],
      [
        "configuration of a worktree",
        `git init -q sub; git -C sub config extensions.worktreeConfig true; printf '${fsmonitor}' > sub/.git/config.worktree`,
      ],
      ["a look-alike", armed("ebare")],
      ["a look-alike in a folder of packages", armed("node_modules/x/y")],
      ["a look-alike with a dangling HEAD", `${armed("ebare")}; rm ebare/HEAD; ln -s refs/heads/main ebare/HEAD`],
      [
        "a look-alike of executable files",
        `${armed("ebare")}; rmdir ebare/objects ebare/refs; touch ebare/objects ebare/refs; chmod +x ebare/objects ebare/refs`,
      ],
      [
        "a look-alike with its parts elsewhere",
        `${armed("store")}; mkdir e; cp store/HEAD e; echo ../store > e/commondir; cp store/config e`,
      ],
      ["a file that leads to a look-alike", `${armed("assets/x", "")}; mkdir sub; echo 'gitdir: ../assets/x' > sub/.git`],
      ["a file that leads to a name with a space", `${armed("g", "")}; cp -r g 'g '; mkdir sub; echo 'gitdir: ../g ' > sub/.git`],
      ["a link to a look-alike", `${armed("assets/x", "")}; mkdir sub; ln -s ../assets/x sub/.git`],
      ["a file that leads into the repository", `${armed(".git/x", "")}; mkdir sub; echo 'gitdir: ../.git/x' > sub/.git`],
      [
        "a submodule of the repository",
        `${armed(".git/modules/s", "")}; mkdir s; echo 'gitdir: ../.git/modules/s' > s/.git; git add s 2>/dev/null`,
      ],
      [
        "a submodule of a submodule",
        `${armed(".git/modules/s/modules/t", "")}; mkdir -p s/t; echo 'gitdir: ../../.git/modules/s/modules/t' > s/t/.git`,
      ],
      [
        "a worktree whose repository is another",
        `git worktree add -q wt; ${armed("store", "")}; echo ../../../store > .git/worktrees/wt/commondir`,
      ],
      [
        "a worktree made by hand",
        `${armed("store", "")}; mkdir -p .git/worktrees/w w; cp store/HEAD .git/worktrees/w; echo ../../../store > .git/worktrees/w/commondir; echo 'gitdir: ../.git/worktrees/w' > w/.git`,
      ],
      ["parts prepared before", `${armed("ebare")}; rm ebare/HEAD`, "echo 'ref: refs/heads/main' > ebare/HEAD"],
      [
        "parts prepared before and moved",
        `${armed("x")}; mkdir y; mv x/config x/objects x/refs y`,
        "mkdir sub; mv x/HEAD y; mv y sub/.git",
      ],
      ["a repository changed by a later command", "git init -q sub", `printf '${fsmonitor}' > sub/.git/config`],
      [
        "hooks prepared before and moved",
        `git init -q sub; mkdir h; ${hook("h/pre-commit")}`,
        "rm -r sub/.git/hooks; mv h sub/.git/hooks",
      ],
      [
        "hooks linked to",
        `git init -q sub; mkdir h; ${hook("h/pre-commit")}`,
        "rm -r sub/.git/hooks; ln -s ../../h sub/.git/hooks",
      ],
      ["a hook that is a second name", `git init -q sub; ${hook("h")}`, "ln h sub/.git/hooks/pre-commit"],
      [
        "among many hooks",
        `git init -q sub; for i in $(seq 300); do echo > sub/.git/hooks/a$i; done; ${hook("sub/.git/hooks/pre-commit")}`,
      ],
      ["in a folder whose name is no text", `git init -q $'s\\xff'; printf '${fsmonitor}' > $'s\\xff/.git/config'`],
      [
        "as a file in a folder whose name is no text",
        `${armed("g", "")}; mkdir -p $'s\\xff/t'; echo 'gitdir: ../../g' > $'s\\xff/t/.git'`,
      ],
      [
        "in a folder that is closed to be listed",
        `mkdir x; git init -q x/sub; printf '${fsmonitor}' > x/sub/.git/config; chmod 311 x`,
      ],
      [
        "in a folder that is closed to be changed",
        `git init -q sub; printf '${fsmonitor}' > sub/.git/config; ${hook("sub/.git/hooks/pre-commit")}; chmod 555 sub/.git sub/.git/hooks`,
      ],
      [
        "dates set back",
        `${armed("ebare")}; find ebare . -maxdepth 1 -exec touch -d 2001-01-01 {} +; touch -d 2001-01-01 ebare/config`,
      ],
      [
        "a process in the background",
        `git init -q sub; printf '${fsmonitor}' > more; (setsid bash -c "sleep 0.3; cp more sub/.git/config" >/dev/null 2>&1 &)`,
        "sleep 0.6",
      ],
      ["a folder renamed", `mkdir x; ${armed("x/ebare")}`, "mv x y"],
    ];
    for (const [name, ...scripts] of attempts) {
      it(name, async () => {
        const filled = scripts.map((script) => script.replaceAll("$PWNED", env()["PWNED"] ?? ""));
        for (const script of filled) await sh(script);
        workOutside();
        assert.equal(wasRun(), false);
        // The same without a box does run: this is a plant.
        spawnSync("chmod", ["-R", "u+rwx", stage.place.project]);
        execFileSync("git", ["-C", stage.place.project, "clean", "-qffdx"], { env: env() });
        execFileSync("git", ["-C", stage.place.project, "reset", "-q", "--hard", "first"], { env: env() });
        for (const made of [".git/worktrees", ".git/modules", "sub", "copy", "wt", "x"]) {
          rmSync(inProject(made), { recursive: true, force: true });
        }
        for (const script of filled) await sh(script, { unboxed: true });
        workOutside();
        spawnSync("chmod", ["-R", "u+rwx", stage.place.project]);
        assert.equal(wasRun(), true);
      });
    }

    it("not even from a repository that was there, which is as it was", async () => {
      mkdirSync(inProject("mine"));
      git("init", "-q", "mine");
      git("-C", "mine", "config", "filter.x.clean", "cat");
      writeFileSync(inProject("mine/.git/hooks/pre-push"), "#!/bin/sh\n", { mode: 0o755 });
      const files = ["mine/.git/config", "mine/.git/hooks/pre-push"].map(inProject);
      const before = files.map((file) => readFileSync(file, "utf8"));
      const { result, output } = await sh(
        `printf '${fsmonitor.replaceAll("$PWNED", env()["PWNED"] ?? "")}' >> mine/.git/config; echo evil >> mine/.git/hooks/pre-push; git init -q mine2`,
      );
      assert.deepEqual(
        { result, files: files.map((file) => readFileSync(file, "utf8")), mode: lstatSync(files[1] ?? "").mode & 0o777 },
        { result: { end: "exit", exitCode: 126 }, files: before, mode: 0o755 },
      );
      assert.match(output, /put back as before: .*mine\/\.git\/hooks\/pre-push, .*mine\/\.git\/config\n/);
    });
  });

  describe("as everyday work stays", () => {
    it("a repository of its own, in which the next command goes on", async () => {
      const made = await sh(
        "git init -q sub && cd sub && git config user.name Eve && echo x > f && git add f && git commit -qm one",
      );
      const next = await sh(
        "cd sub && git config user.email eve@example.com && git remote add origin ../other && git commit -q --allow-empty -m two && git log --format=%s",
      );
      const removed = await sh("rm -rf sub && ls -d sub");
      assert.deepEqual(
        [made.result, made.output, next.result, next.output],
        [{ end: "exit", exitCode: 0 }, "", { end: "exit", exitCode: 0 }, "two\none\n"],
      );
      assert.match(removed.output, /cannot access 'sub'/);
    });

    it("a bare clone, a worktree and a submodule of a new repository", async () => {
      const { result, output } = await sh(
        "git clone -q --bare . b.git && git worktree add -q wt && git init -q top && cd top && git -c protocol.file.allow=always submodule add -q ../b.git s && git commit -qm s && git submodule status | wc -l",
      );
      assert.deepEqual({ result, output }, { result: { end: "exit", exitCode: 0 }, output: "1\n" });
      const next = await sh(
        "git -C wt commit -q --allow-empty -m w && git -C top/s log --format=%s -1 && git -C b.git log --format=%s -1",
      );
      assert.equal(next.output, "first\nfirst\n");
      assert.equal(
        execFileSync("git", ["-C", inProject("wt"), "log", "--format=%s", "-1"], { env: env(), encoding: "utf8" }),
        "w\n",
      );
    });

    it("what the user sets up between commands", async () => {
      await sh("git init -q sub");
      git("-C", "sub", "config", "core.fsmonitor", "true");
      mkdirSync(inProject("other"));
      git("init", "-q", "other");
      git("-C", "other", "config", "core.hooksPath", "mine");
      const { result, output } = await sh("sleep 0.3; git -C sub status -s; git -C other status -s");
      assert.deepEqual({ result, output }, { result: { end: "exit", exitCode: 0 }, output: "" });
      assert.match(readFileSync(inProject("sub/.git/config"), "utf8"), /fsmonitor/);
    });
  });

  describe("as files that run later is told", () => {
    const cases: readonly (readonly [script: string, told: string | undefined])[] = [
      ['echo \'{"scripts":{"test":"evil"}}\' > package.json', "package.json (scripts: test)"],
      [
        'mkdir -p packages/a; echo \'{"scripts":{"postinstall":"evil"}}\' > packages/a/package.json',
        "packages/a/package.json (scripts: postinstall)",
      ],
      ["mkdir .vscode; echo '{}' > .vscode/tasks.json", ".vscode/tasks.json"],
      ["mkdir -p .idea/runConfigurations; echo x > .idea/runConfigurations/x.xml", ".idea/runConfigurations/x.xml"],
      ["mkdir sub; echo evil > sub/.envrc", "sub/.envrc"],
      ["mkdir .husky; echo evil > .husky/pre-commit", ".husky/pre-commit"],
      ["echo x > .npmrc", ".npmrc"],
      ["mkdir -p .git/rebase-merge; echo 'exec evil' > .git/rebase-merge/git-rebase-todo", ".git/rebase-merge/git-rebase-todo"],
      ["mkdir evil; ln -s evil .vscode", ".vscode"],
      ["mkdir .github .github/workflows; echo x > .github/workflows/x.yml", ".github/workflows/x.yml"],
      ["mkdir x; echo x > x/Jenkinsfile; echo x > x/Makefile; echo x > x/.envrc", "x/.envrc, x/Jenkinsfile, x/Makefile"],
      ["mkdir -p .github; mkdir evil; ln -s ../evil .github/workflows", ".github/workflows"],
      ['printf \'\\xef\\xbb\\xbf{"scripts":{"test":"evil"}}\' > package.json', "package.json"],
      [`{ printf '{"x":"%070000d","scripts":{"test":"evil"}}' 0; } > package.json`, "package.json"],
      ['echo \'{"scripts":{"a":"x","postinstall":"evil"}}\' > package.json', "package.json (scripts: postinstall, a)"],
      ['echo \'{"simple-git-hooks":{"pre-commit":"evil"}}\' > package.json', "package.json (scripts: simple-git-hooks)"],
      ["mkdir .vscode; echo x > $'.vscode/x\\noutrider: all is well'", ".vscode/x\\u{a}outrider: all is well"],
      ["echo x > a.txt; mkdir -p src; echo x > src/index.js", undefined],
      ['mkdir -p node_modules/x; echo \'{"scripts":{"test":"x"}}\' > node_modules/x/package.json', undefined],
      ['echo \'{"name":"x"}\' > package.json', undefined],
    ];
    for (const [script, told] of cases) {
      it(script, async () => {
        const { result, output } = await sh(script);
        const line =
          told === undefined ? "" : `\noutrider: this command changed what programs outside run by themselves: ${told}\n`;
        assert.deepEqual({ result, output }, { result: { end: "exit", exitCode: 0 }, output: line });
        assert.equal((await sh("true")).output, "");
      });
    }

    it("only for scripts that are new or different", async () => {
      writeFileSync(inProject("package.json"), '{"scripts":{"test":"a","build":"b"}}');
      const { output } = await sh('echo \'{"version":"2","scripts":{"test":"a","build":"evil"}}\' > package.json');
      assert.match(output, /package\.json \(scripts: build\)\n$/);
      assert.equal((await sh('echo \'{"version":"3","scripts":{"test":"a","build":"evil"}}\' > package.json')).output, "");
    });

    it("in a folder that was prepared under another name, and then moved", async () => {
      assert.equal((await sh("mkdir x; echo x > x/tasks.json; sleep 0.1")).output, "");
      assert.match((await sh("mv x .vscode")).output, /run by themselves: \.vscode\/tasks\.json\n$/);
    });

    it("by groups, the dangerous first, however many others there are", async () => {
      mkdirSync(inProject("src"));
      const { output } = await sh(
        "for i in $(seq 300); do mkdir -p d/$i; echo x > d/$i/Makefile; echo x > d/$i/.envrc; done; echo x > src/.envrc",
      );
      const [, , first, second, whole = ""] = output.split("\n");
      assert.match(output, /run by themselves, 601 files:\n/);
      assert.match(first ?? "", /^- shells and what they load in a folder: src\/\.envrc, d\/1\/\.envrc, .* and 296 more$/);
      assert.match(second ?? "", /^- builds, tests and tasks: d\/1\/Makefile, .* and 295 more$/);
      const kept = readFileSync(/^\(all of them are listed in (.*)\)$/.exec(whole)?.[1] ?? "", "utf8");
      assert.equal(kept.trimEnd().split("\n").length, 601);
    });
  });
});
