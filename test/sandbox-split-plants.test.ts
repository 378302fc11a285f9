import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, it } from "node:test";
import { path, runIn, setUpBoxes, whyNoSandbox } from "./support/sandbox-place.ts";

const skip = await whyNoSandbox();

describe("half a git directory that commands leave behind", { skip }, () => {
  const stage = setUpBoxes();
  const { sh } = stage;
  const inProject = (name: string): string => join(stage.place.project, name);
  const mark = (): string => join(stage.place.base, "pwned");

  beforeEach(() => rmSync(inProject(".git"), { recursive: true }));

  const fsmonitor = '[core]\\n\\trepositoryformatversion = 0\\n\\tfsmonitor = "touch $PWNED; false"\\n';
  const config = (directory: string, more = ""): string =>
    `mkdir -p ${directory}; printf '${fsmonitor}${more}' > ${directory}/config`;
  const hook = (directory: string): string =>
    `mkdir -p ${directory}/hooks; printf '#!/bin/sh\\ntouch $PWNED\\n' > ${directory}/hooks/post-index-change; chmod +x ${directory}/hooks/*`;
  const head = (directory: string): string => `mkdir -p ${directory}; echo 'ref: refs/heads/main' > ${directory}/HEAD`;
  const stores = (directory: string): string => `mkdir -p ${directory}/objects ${directory}/refs`;
  const work = "git status; echo x >> x; git add -A .";

  // Each is one command per element, in boxes one after the other; the last is what the user does, outside.
  const attempts: readonly (readonly [name: string, ...scripts: string[]])[] = [
    ["configuration first, HEAD later", `${stores(".git")}; ${config(".git")}`, head(".git"), work],
    ["HEAD first, configuration later", `${stores(".git")}; ${head(".git")}`, config(".git"), work],
    ["hooks first, HEAD later", `${stores(".git")}; ${hook(".git")}`, head(".git"), work],
    ["below the top", `${stores("sub/.git")}; ${config("sub/.git")}`, head("sub/.git"), `cd sub; ${work}`],
    ["configuration, waiting for git init", config(".git"), `git init -q; ${work}`],
    ["hooks, waiting for git init", hook(".git"), `git init -q; ${work}`],
    ["configuration below the top, waiting for git init", config("sub/.git"), `cd sub; git init -q; ${work}`],
    ["a folder moved to the name", config("half"), "mkdir sub; mv half sub/.git", `cd sub; git init -q; ${work}`],
    [
      "an administrative directory that leads elsewhere",
      `git init -q; git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x; ${stores("store")}; ${config("store")}; mkdir -p .git/worktrees/w; echo ../../../store > .git/worktrees/w/commondir`,
      `${head(".git/worktrees/w")}; mkdir w; echo 'gitdir: ../.git/worktrees/w' > w/.git`,
      `cd w; ${work}`,
    ],
    [
      "in a folder that is made to look like a store of git",
      `mkdir -p lib/objects/sub lib/refs; ${head("lib")}; cd lib/objects/sub; git init -q; ${config(".git")}`,
      `cd lib/objects/sub; ${work}`,
    ],
    [
      "in a folder whose name is no text",
      config("$'s\\xff/.git'").replaceAll("'/config", "/config'"),
      `cd $'s\\xff'; git init -q; ${work}`,
    ],
  ];

  const outside = (script: string): void => {
    const env = { PATH: path, HOME: stage.place.home, GIT_CONFIG_NOSYSTEM: "1" };
    spawnSync("bash", ["-c", script], { cwd: stage.place.project, env });
  };

  for (const [name, ...scripts] of attempts) {
    it(`runs nothing outside: ${name}`, async () => {
      const filled = scripts.map((script) => script.replaceAll("$PWNED", mark()));
      const codes: unknown[] = [];
      for (const script of filled.slice(0, -1)) codes.push((await sh(script)).result);
      outside(filled.at(-1) ?? "");
      assert.equal(existsSync(mark()), false);
      assert.ok(
        codes.some((code) => JSON.stringify(code) === '{"end":"exit","exitCode":126}'),
        JSON.stringify(codes),
      );
      // The same without a box does run: this is a plant.
      rmSync(stage.place.project, { recursive: true });
      mkdirSync(stage.place.project);
      for (const script of filled) outside(script);
      assert.equal(existsSync(mark()), true);
    });
  }

  it("is told of at once, and what describes stays", async () => {
    const { result, output } = await sh(`${config(".git", "[user]\\n\\tname = Eve\\n")}`);
    assert.deepEqual(result, { end: "exit", exitCode: 126 });
    assert.match(output, /put back as before: .*\/\.git\/config\n/);
    assert.equal(readFileSync(inProject(".git/config"), "utf8"), "[core]\n\trepositoryformatversion = 0\n[user]\n\tname = Eve\n");
  });

  it("runs nothing in a directory that may be written beside the project", async () => {
    const other = join(stage.place.base, "other");
    mkdirSync(other);
    const box = await stage.open({ allowWrite: [other] });
    await runIn(box, `cd ${other}; ${stores(".git")}; ${config(".git").replaceAll("$PWNED", mark())}`);
    await runIn(box, `cd ${other}; ${head(".git")}`);
    outside(`cd ${other}; ${work}`);
    assert.equal(existsSync(mark()), false);
  });

  it("does not become the user's when somebody else adds the rest", async () => {
    await sh(`${stores("bare")}; ${config("bare").replaceAll("$PWNED", mark())}; ${hook("bare").replaceAll("$PWNED", mark())}`);
    writeFileSync(inProject("bare/HEAD"), "ref: refs/heads/main\n");
    const { result } = await sh("true");
    assert.deepEqual(
      {
        result,
        config: readFileSync(inProject("bare/config"), "utf8"),
        hook: existsSync(inProject("bare/hooks/post-index-change")),
      },
      { result: { end: "exit", exitCode: 126 }, config: "[core]\n\trepositoryformatversion = 0\n", hook: false },
    );
    assert.deepEqual((await sh("true")).result, { end: "exit", exitCode: 0 });
  });

  it("is left alone where the user had it when the session began", async () => {
    const text = "[core]\n\tfsmonitor = mine\n";
    for (const folder of [".git", "half"]) mkdirSync(inProject(folder));
    for (const folder of [".git", "half"]) writeFileSync(inProject(`${folder}/config`), text);
    const results = [await sh("touch x half/y"), await sh("mkdir -p half/objects half/refs")].map(({ result }) => result);
    assert.deepEqual(
      [...results, ...[".git", "half"].map((folder) => readFileSync(inProject(`${folder}/config`), "utf8"))],
      [{ end: "exit", exitCode: 0 }, { end: "exit", exitCode: 0 }, text, text],
    );
  });
});
