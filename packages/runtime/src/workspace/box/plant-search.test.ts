import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { type Plants, PlantSearch } from "./plant-search.ts";

let top: string;
let project: string;
let search: PlantSearch;

beforeEach(() => {
  top = realpathSync(mkdtempSync(join(tmpdir(), "outrider-plants-")));
  project = join(top, "project");
  for (const name of ["project", "second"]) mkdirSync(join(top, name));
  search = new PlantSearch({ roots: [project, join(top, "second")], setAside: join(top, "aside") });
});
afterEach(() => rmSync(top, { recursive: true, force: true }));

const sh = (script: string): void => {
  const env = {
    PATH: process.env["PATH"] ?? "",
    HOME: top,
    GIT_CONFIG_NOSYSTEM: "1",
    ...Object.fromEntries(
      ["GIT_AUTHOR", "GIT_COMMITTER"].flatMap((who) => [
        [`${who}_NAME`, "Ada"],
        [`${who}_EMAIL`, "ada@example.com"],
      ]),
    ),
  };
  execFileSync("bash", ["-ec", script], { cwd: project, env, stdio: ["ignore", "ignore", "inherit"] });
};
/** The files below were made by the user some time ago: the clock of files has ticked since. */
async function age(): Promise<void> {
  const made = Date.now();
  while (Date.now() - made < 60) await new Promise((resolve) => setImmediate(resolve));
}
/** One command between two looks. Paths are told from the project. */
async function after(script: string, isMounted: (path: string) => boolean = () => false): Promise<Plants> {
  const since = search.start();
  sh(script);
  const plants = await search.finish(since, isMounted);
  const cut = (path: string): string => path.replace(`${project}/`, "");
  return { ...plants, undone: plants.undone.map(cut), failed: plants.failed.map(cut) };
}
const undone = async (...scripts: string[]): Promise<readonly string[]> => {
  let last: readonly string[] = [];
  for (const script of scripts) {
    const plants = await after(script);
    assert.deepEqual(plants.failed, []);
    last = plants.undone;
  }
  return last;
};
const text = (name: string): string => readFileSync(join(project, name), "utf8");
const nothing: Plants = { undone: [], failed: [], listed: [], isWhole: true };
const evil = "[core]\\n\\tfsmonitor = evil\\n";
const lookAlike = (path: string): string =>
  `mkdir -p ${path}/objects ${path}/refs; echo 'ref: refs/heads/main' > ${path}/HEAD; printf '${evil}' > ${path}/config`;

describe("what a command did with git", () => {
  it("stays as long as git runs nothing because of it", async () => {
    sh("git init -q . && git commit -q --allow-empty -m x");
    await age();
    const work =
      "git init -q sub; git -C sub config user.name Eve; git clone -q --bare . b.git; git worktree add -q wt; git -C wt commit -q --allow-empty -m y";
    assert.deepEqual(await after(work), nothing);
    assert.deepEqual(
      await after("git -C sub -c protocol.file.allow=always submodule --quiet add ../b.git s && git -C sub commit -qm s"),
      nothing,
    );
    sh("git -C wt log && git -C sub/s log && test -f sub/.git/modules/s/HEAD");
  });

  it("is put back in a repository that was there, and what it did not touch is left alone", async () => {
    sh(
      "git init -q mine; echo kept > mine/.git/hooks/pre-push; echo mine > mine/.git/hooks/pre-commit; chmod 755 mine/.git/hooks/*",
    );
    sh("git -C mine config filter.x.clean cat");
    await age();
    const untouched = lstatSync(join(project, "mine/.git/hooks/pre-push"));
    const config = text("mine/.git/config");
    const script = `printf '${evil}' >> mine/.git/config; echo evil > mine/.git/hooks/pre-commit; chmod 700 mine/.git/hooks/pre-commit`;
    await after("true");
    assert.deepEqual(await undone(script), ["mine/.git/hooks/pre-commit", "mine/.git/config"]);
    const now = lstatSync(join(project, "mine/.git/hooks/pre-push"));
    assert.deepEqual([text("mine/.git/config"), text("mine/.git/hooks/pre-commit")], [config, "mine\n"]);
    assert.equal(lstatSync(join(project, "mine/.git/hooks/pre-commit")).mode & 0o777, 0o755);
    assert.deepEqual([now.ino, now.ctimeMs], [untouched.ino, untouched.ctimeMs]);
    assert.deepEqual(await undone("git -C mine config user.name Eve; rm mine/.git/hooks/pre-push"), []);
    assert.match(text("mine/.git/config"), /filter "x".*Eve/s);
  });

  it("is judged at the next look where it came in the middle of one", async () => {
    sh("git init -q mine; echo mine > mine/.git/hooks/pre-commit");
    await age();
    const since = search.start();
    sh("echo evil > mine/.git/hooks/pre-commit; git init -q sub; echo evil > sub/.git/hooks/pre-commit");
    const first = search.finish(since, () => false);
    for (const name of ["mine", "sub"]) sh(`echo evil > ${name}/.git/hooks/post-commit`); // a program that lives on
    assert.ok((await first).undone.includes(join(project, "mine/.git/hooks/pre-commit")));
    const second = await search.finish(since, () => false);
    const left = ["mine", "sub"].flatMap((name) => readdirSync(join(project, name, ".git/hooks")));
    assert.deepEqual(
      left.filter((name) => !name.endsWith(".sample")),
      ["pre-commit"],
    );
    assert.deepEqual([text("mine/.git/hooks/pre-commit"), second.failed], ["mine\n", []]);
    assert.deepEqual((await search.finish(since, () => false)).undone, []);
  });

  it("is told from what the user has done a moment before it, however long the looks take", async () => {
    sh("mkdir -p wide/{0..40}/{0..40}");
    await age();
    await after("true");
    sh(`git init -q theirs; printf '${evil}' >> theirs/.git/config`);
    assert.deepEqual(await after("true"), nothing);
    assert.match(text("theirs/.git/config"), /evil/);
  });

  it("is put back where a file of the user's leads to a repository elsewhere", async () => {
    sh("git init -q --bare ../elsewhere; mkdir mine; echo 'gitdir: ../../elsewhere' > mine/.git");
    await age();
    assert.deepEqual(await undone("true"), []);
    assert.deepEqual(await undone("echo 'gitdir: ../evil' > mine/.git"), ["mine/.git"]);
    assert.equal(text("mine/.git"), "gitdir: ../../elsewhere\n");
    await age();
    assert.deepEqual(await undone("true", "mv mine yours"), []);
    assert.equal(text("yours/.git"), "gitdir: ../../elsewhere\n");
  });

  it("is kept in what was set aside", async () => {
    await undone("git init -q sub; echo evil > sub/.git/hooks/pre-commit");
    assert.deepEqual(
      readdirSync(join(top, "aside")).map((name) => readFileSync(join(top, "aside", name), "utf8")),
      ["evil\n"],
    );
  });

  it("loses of a new configuration only what names a program", async () => {
    assert.deepEqual(await undone(`git init -q sub; git -C sub config user.name Eve; printf '${evil}' >> sub/.git/config`), [
      "sub/.git/config",
    ]);
    assert.match(text("sub/.git/config"), /bare = false.*name = Eve/s);
    assert.doesNotMatch(text("sub/.git/config"), /evil/);
  });

  const plants: readonly (readonly [name: string, undone: readonly string[], ...scripts: string[]])[] = [
    ["a hook of a new repository", ["sub/.git/hooks/pre-commit"], "git init -q sub; echo evil > sub/.git/hooks/pre-commit"],
    ["a link in place of hooks", ["sub/.git/hooks"], "git init -q sub", "rm -r sub/.git/hooks; ln -s ../../h sub/.git/hooks"],
    ["a hook prepared before", ["sub/.git/hooks/pre-push"], "git init -q sub; echo > h", "ln h sub/.git/hooks/pre-push"],
    [
      "more hooks than git has names for",
      ["sub/.git/hooks"],
      "git init -q sub; for i in $(seq 201); do echo > sub/.git/hooks/a$i; done",
    ],
    ["a look-alike", ["x/config"], lookAlike("x")],
    ["a look-alike below packages", ["node_modules/x/config"], lookAlike("node_modules/x")],
    [
      "a link in place of a configuration",
      ["sub/.git/config"],
      "git init -q sub; rm sub/.git/config; ln -s ../../x sub/.git/config",
    ],
    ["a submodule without files", [".git/modules/s/config"], `git init -q .; ${lookAlike(".git/modules/s")}`],
    ["a look-alike completed later", ["x/config"], `${lookAlike("x")}; rm x/HEAD`, "echo 'ref: refs/heads/main' > x/HEAD"],
    [
      "a configuration of a worktree",
      ["sub/.git/config.worktree"],
      "git init -q sub",
      `printf '${evil}' > sub/.git/config.worktree`,
    ],
    [
      "a file that leads to a look-alike",
      ["x/config", "sub/.git"],
      `${lookAlike("x")}; mkdir sub; echo 'gitdir: ../x' > sub/.git`,
    ],
    ["a file that leads to a repository beside", ["sub/.git"], "git init -q --bare x; mkdir sub; echo 'gitdir: ../x' > sub/.git"],
    ["a file that leads to nothing", ["sub/.git"], "mkdir sub; echo 'gitdir: ../x' > sub/.git"],
    [
      "a file that leads to a folder of modules that is no repository",
      ["sub/.git"],
      "git init -q .; mkdir -p sub .git/modules/x; echo 'gitdir: ../.git/modules/x' > sub/.git",
    ],
    ["a link to a repository", ["sub/.git"], "git init -q --bare x; mkdir sub; ln -s ../x sub/.git"],
    [
      "a worktree of another repository",
      ["x/config", ".git/worktrees/wt/commondir"],
      "git init -q . && git commit -q --allow-empty -m x && git worktree add -q wt",
      `${lookAlike("x")}; echo ../../../x > .git/worktrees/wt/commondir`,
    ],
    [
      "a submodule whose files are elsewhere",
      [".git/modules/s/config"],
      "git init -q .; mkdir -p .git/modules; git init -q --bare .git/modules/s; git -C .git/modules/s config core.bare false; printf '[core]\\n\\tworktree = /\\n' >> .git/modules/s/config",
    ],
  ];
  for (const [name, paths, ...scripts] of plants)
    it(`is undone: ${name}`, async () => assert.deepEqual([...(await undone(...scripts))].sort(), [...paths].sort()));

  it("is undone also where somebody else has completed what a command prepared", async () => {
    await after(`${lookAlike("x")}; rm x/HEAD`);
    await age();
    sh("echo 'ref: refs/heads/main' > x/HEAD");
    await age();
    assert.deepEqual(await undone("true"), ["x/config"]);
  });

  it("is undone also where an older part of it is completed", async () => {
    await after(`${lookAlike("x")}; rm x/HEAD`);
    await age();
    assert.deepEqual(await undone("echo 'ref: refs/heads/main' > x/HEAD"), ["x/config"]);
  });

  it("is not what the user prepared and completed", async () => {
    sh(`${lookAlike("x")}; rm x/HEAD`);
    await age();
    await after("true");
    sh("echo 'ref: refs/heads/main' > x/HEAD");
    await age();
    assert.deepEqual(await undone("true"), []);
  });

  it("is judged once, as git's, where its place is one of files that run later", async () => {
    sh("git init -q . && git commit -q --allow-empty -m x");
    await age();
    assert.deepEqual(await after("git worktree add -q .vscode/wt"), nothing);
  });

  it("is undone in folders whose names are no text, when it is new", async () => {
    sh("git init -q $'old\\xff'");
    await age();
    const place = (name: string): string =>
      Buffer.from(`${project}/${name}\u00ff/.git`, "latin1").toString("utf8").replace(`${project}/`, "");
    assert.deepEqual(await undone("git init -q $'new\\xff'"), [place("new")]);
    assert.deepEqual(await undone("true"), []);
    assert.deepEqual(await undone("echo >> $'old\\xff/.git/config'"), [place("old")]);
    assert.deepEqual(await undone("mkdir -p $'n\\xff/t'; echo 'gitdir: /x' > $'n\\xff/t/.git'"), [`n\ufffd/t/.git`]);
  });

  it("is nobody's business where no command could write", async () => {
    sh("git init -q mine");
    await age();
    const script = `printf '${evil}' >> mine/.git/config`;
    assert.deepEqual(await after(script, (path) => path === join(project, "mine/.git")), nothing);
    assert.deepEqual((await after(`git init -q sub; printf '${evil}' >> sub/.git/config`, () => true)).undone, [
      "sub/.git/config",
    ]);
  });

  it("is told where it cannot be undone", async () => {
    writeFileSync(join(top, "aside"), "in the way");
    const { undone: done, failed } = await after("git init -q sub; echo evil > sub/.git/hooks/pre-commit");
    assert.deepEqual({ done, failed }, { done: [], failed: ["sub/.git"] });
  });
});

describe("what the user did between commands", () => {
  it("is theirs", async () => {
    await after("git init -q sub");
    await age();
    sh(
      "git -C sub config core.fsmonitor true; echo mine > sub/.git/hooks/pre-commit; git init -q other; git -C other config core.hooksPath h",
    );
    sh('echo \'{"scripts":{"test":"x"}}\' > package.json; mkdir .vscode; echo > .vscode/tasks.json');
    await age();
    assert.deepEqual(await after("git -C sub status; git -C other status"), nothing);
    assert.equal(text("sub/.git/hooks/pre-commit"), "mine\n");
  });
});

describe("a folder", () => {
  const mode = (name: string): number => lstatSync(join(project, name)).mode & 0o777;

  it("that the user has closed stays closed; one that a command closed is opened to be looked into", async () => {
    sh("mkdir closed; chmod 0 closed");
    await age();
    await after("mkdir hidden; chmod 0 hidden");
    assert.deepEqual([mode("closed"), mode("hidden")], [0, 0o500]);
    sh("chmod 700 closed hidden");
  });
});

describe("files that run later", () => {
  const names = async (script: string): Promise<string[]> =>
    (await after(script)).listed.map(({ name, scripts }) => (scripts ? `${name}: ${scripts}` : name));

  it("are told once, those first that start soonest, and before those in new folders", async () => {
    mkdirSync(join(project, "src"));
    await age();
    const script =
      "mkdir -p a/b; for d in a/b a src .; do echo x > $d/Makefile; echo x > $d/.envrc; done; echo x > a/b/Rakefile; echo x > a.txt";
    assert.deepEqual(await names(script), [
      ...[".envrc", "src/.envrc", "a/.envrc", "a/b/.envrc"],
      ...["Makefile", "src/Makefile", "a/Makefile", "a/b/Makefile", "a/b/Rakefile"],
    ]);
    assert.deepEqual(await names("true"), []);
  });

  it("are told by the scripts in them that are new or different", async () => {
    writeFileSync(join(project, "package.json"), '{"scripts":{"test":"a","build":"b"}}');
    await age();
    const write = (json: string): string => `echo '${json}' > package.json`;
    assert.deepEqual(await names(write('{"version":"2","scripts":{"test":"a","build":"evil","postinstall":"x"}}')), [
      "package.json: postinstall,build",
    ]);
    assert.deepEqual(await names(write('{"version":"3","scripts":{"test":"a","build":"evil","postinstall":"x"}}')), []);
    assert.deepEqual(await names('mkdir new; echo \'{"scripts":{"a":"b"}}\' > new/package.json'), ["new/package.json: a"]);
    const hooks = '"simple-git-hooks":{"pre-commit":"x"}';
    assert.deepEqual(await names(write(`{${hooks}}`)), ["package.json: simple-git-hooks"]);
    assert.deepEqual(await names(write(`{"version":"4",${hooks}}`)), []);
    assert.deepEqual(await names(write("{not json")), ["package.json"]);
    assert.deepEqual(await names("mkdir .vscode; echo '{}' > .vscode/tasks.json"), [".vscode/tasks.json"]);
  });

  it("are told when a folder brought them, as old as they are", async () => {
    mkdirSync(join(project, "x/y"), { recursive: true });
    writeFileSync(join(project, "x/tasks.json"), "{}");
    await age();
    assert.deepEqual(await names("true"), []);
    await age();
    assert.deepEqual(await names("mv x .vscode"), [".vscode/tasks.json"]);
    await age();
    assert.deepEqual(await names("mkdir .vscode/more"), []);
  });

  it("are not those that were there, whatever is done to their folder", async () => {
    writeFileSync(join(project, "Makefile"), "all:\n");
    await age();
    assert.deepEqual(await names("echo x > a.txt"), []);
    chmodSync(project, 0o700);
    assert.deepEqual(await names("rm a.txt"), []);
    appendFileSync(join(project, "Makefile"), "\ttrue\n");
    await age();
    assert.deepEqual(await names("true"), []);
  });
});
