import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, utimesSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { decide } from "../packages/runtime/src/permissions/decide.ts";
import type { Policy } from "../packages/runtime/src/permissions/policy.ts";
import { parseRule } from "../packages/runtime/src/permissions/rules.ts";
import { bashTool } from "../packages/runtime/src/tools/builtin/bash.ts";
import { createToolMemory } from "../packages/runtime/src/tools/tool.ts";
import { installInertGit } from "../packages/runtime/src/workspace/inert-git.ts";
import { createLocalWorkspace } from "../packages/runtime/src/workspace/local.ts";
import { listFolder } from "./support/command-ground.ts";
import {
  addSubmodule,
  differentForms,
  fillRepository,
  hostileRepositories,
  lookingForms,
  nameOddly,
  oddNames,
  type Stage,
  stageIn,
} from "./support/hostile-repositories.ts";
import { leaks, strays } from "./support/stray-repositories.ts";

const top = realpathSync(mkdtempSync(join(tmpdir(), "outrider-zoo-")));
after(() => rmSync(top, { recursive: true, force: true }));
const home = join(top, "home");
mkdirSync(home);
const env = { PATH: process.env["PATH"] ?? "", HOME: home };
let count = 0;

/** Runs commands the way a session runs those nobody was asked about; fails when somebody would be. */
async function runUnasked(
  root: string,
  cwd: string,
  commands: readonly string[],
  given: Partial<Policy> = {},
): Promise<string[]> {
  const workspace = createLocalWorkspace({ root, env, overflowDirectory: join(top, `overflow-${count++}`) });
  const folder = await installInertGit(workspace);
  const policy: Policy = {
    mode: "default",
    allow: [],
    ask: [],
    deny: [],
    base: { root, home },
    readable: [],
    networkReads: true,
    inertGit: async () => folder,
    listFolder: async (path) => listFolder(path),
    ...given,
  };
  const outputs: string[] = [];
  for (const command of commands) {
    const { effect, reason, git } = await decide(
      policy,
      [{ tool: "Bash", kind: "run", resource: command, cwd }],
      workspace.resolve,
    );
    assert.deepEqual([effect, git?.reach], ["allow", "everything"], `${command}: ${reason}`);
    const memory = createToolMemory();
    memory.slot("bash.cwd", () => ({ directory: cwd, record: undefined, readAt: 0 }));
    const { content } = await bashTool.execute(
      { command },
      { callId: "c", workspace, memory, signal: AbortSignal.timeout(60_000), progress() {}, git },
    );
    outputs.push(content.map((part) => (part.type === "text" ? part.text : "")).join(""));
  }
  await workspace.close();
  return outputs;
}

/** Which of these leave the mark, one by one. */
async function guilty(mark: string, forms: readonly string[], run: (form: string) => Promise<unknown>): Promise<string[]> {
  const found: string[] = [];
  for (const form of forms) {
    rmSync(mark, { force: true });
    await run(form);
    if (existsSync(mark)) found.push(`${form} → ${readFileSync(mark, "utf8").trim()}`);
  }
  return found;
}

describe("looking with git, unasked, in a repository with", () => {
  for (const { name, build, from = ".", forms = [], only = differentForms, harmless } of hostileRepositories)
    it(`${name} runs nothing of it`, async () => {
      const mark = join(top, `mark-${count++}`);
      const stage = stageIn(join(top, `zoo-${count++}`), mark);
      build(stage);
      const cwd = join(stage.folder, from);
      const all = [...forms, ...only];
      rmSync(mark, { force: true });
      await runUnasked(stage.folder, cwd, [all.join("\n")]);
      if (existsSync(mark)) assert.deepEqual(await guilty(mark, all, (form) => runUnasked(stage.folder, cwd, [form])), []);
      // The danger is real: a git that obeys runs it.
      const untilMarked = all.map((form) => `${form}\n[ ! -e '${mark}' ] || exit 0`).join("\n");
      utimesSync(join(stage.folder, "b.bin"), 9, 9);
      spawnSync("bash", ["-c", untilMarked], { cwd, env, stdio: "ignore", timeout: 60_000 });
      assert.equal(existsSync(mark), !harmless, "with a git that obeys");
    });
});

describe("a git that obeys no repository", () => {
  it("says the same as any other where there is nothing to obey", async () => {
    const stage = stageIn(join(top, "plain"), join(top, "mark-plain"));
    fillRepository(stage);
    const said = await runUnasked(stage.folder, stage.folder, lookingForms);
    const different = lookingForms.filter((form, index) => {
      if (form === "git config --list") return false; // which says what it is told
      const { stdout, stderr } = spawnSync("bash", ["-c", form], { cwd: stage.folder, env, encoding: "utf8" });
      const text = (said[index] ?? "").replace(/\n?Exit code \d+$/, "").replace("(no output)", "");
      return timeless(stdout + stderr) !== timeless(text);
    });
    assert.deepEqual(different, []);
  });
});

describe("a command that makes a repository hostile before it looks", () => {
  const makers = [
    "cp payload .git/config",
    "mv p np; cp payload np/l/config",
    "cp payload sub/.git/config",
    "cat driver >> .git/config; echo '*.bin filter=x' >> .git/info/attributes; touch -d @7 b.bin",
    "cp payload other.cfg; printf '[include]\\npath = ../other.cfg\\n' >> .git/config",
  ];
  for (const reach of ["everything", "shell"] as const)
    for (const maker of makers)
      it(`runs nothing of it, with this git for ${reach}: ${maker}`, async () => {
        const mark = join(top, `mark-${count++}`);
        const stage = stageIn(join(top, `line-${count++}`), mark);
        addSubmodule(stage, () => {});
        mkdirSync(join(stage.folder, "p"));
        symlinkSync("../.git", join(stage.folder, "p/l"));
        stage.write("payload", `[core]\n\tfsmonitor = ${stage.evil}\n`);
        stage.write("driver", `[filter "x"]\n\tclean = ${stage.evil}\n`);
        const workspace = createLocalWorkspace({ root: stage.folder, env, overflowDirectory: join(top, `overflow-${count++}`) });
        const folder = (await installInertGit(workspace)) ?? "";
        const command = `${maker}; git status; git diff; echo "$(git status -s)"`;
        const context = {
          callId: "c",
          workspace,
          memory: createToolMemory(),
          signal: AbortSignal.timeout(60_000),
          progress() {},
        };
        await bashTool.execute({ command }, { ...context, git: { folder, reach } });
        assert.equal(existsSync(mark), false);
        await bashTool.execute({ command: "touch -d @8 b.bin; git status" }, context);
        assert.equal(existsSync(mark), true, "with a git that obeys");
        await workspace.close();
      });
});

describe("looking with git, unasked,", () => {
  const look = [
    "git diff",
    "git status -v",
    "git grep -h .",
    "git log -p --all",
    "git show",
    "git ls-files -s",
    "git stash list",
  ];
  const lookMore = [
    "git status",
    "git blame a.txt",
    "git check-ignore -v SECRETS",
    "git check-attr -a a.txt",
    "git log --format=%aN",
    "git reflog",
    "git worktree list",
    "git config --list",
  ];

  function set(build: (project: Stage, other: Stage) => void): { project: Stage; other: Stage } {
    const place = join(top, `stray-${count++}`);
    const [project, other] = [stageIn(join(place, "project"), "/dev/null"), stageIn(join(place, "other"), "/dev/null")];
    fillRepository(other);
    other.write("secret.txt", "SECRET\n");
    other.git("add", ".");
    other.git("commit", "-q", "-m", "SECRET");
    build(project, other);
    return { project, other };
  }

  for (const { name, build } of leaks)
    it(`shows nothing of what lies outside with ${name}`, async () => {
      const { folder } = set(build).project;
      const indexed = name.startsWith("an index") ? ["git ls-files | xargs cat"] : [];
      const all = [...look, ...lookMore, ...indexed].join("\n");
      const plain = spawnSync("bash", ["-c", all], { cwd: folder, env, encoding: "utf8" });
      assert.match(plain.stdout + plain.stderr, /SECRET/, "another git does");
      const said = await runUnasked(folder, folder, [all]);
      assert.doesNotMatch(said.join(""), /SECRET/);
    });

  for (const { name, build, from = "." } of strays)
    it(`works in ${name}`, async () => {
      const { folder } = set(build).project;
      const cwd = join(folder, from);
      const { stdout } = spawnSync("bash", ["-c", look.join("\n")], { cwd, env, encoding: "utf8" });
      assert.deepEqual(await runUnasked(cwd, cwd, [look.join("\n")]), [stdout.trimEnd() || "(no output)"]);
    });
});

describe("names from the index that are not on the disk", () => {
  const uses = [
    "git ls-files | xargs cat",
    "git ls-files | xargs sort",
    "git ls-files -z | xargs -0 sort",
    "git ls-files --deleted | sort | xargs -n1 sort",
    "sort $(git ls-files)",
    "cat $(git ls-files -c)",
    "for f in $(git ls-files); do cat $f; done",
    'git ls-files | while read f; do cat "$f"; done',
    'git ls-files | while read -r f; do cat < "$f"; done',
    "cd deep && sort $(git ls-files)",
    "git diff --name-only | xargs cat",
    "git diff --name-only HEAD | xargs sort",
    "git diff --name-only --cached -z | xargs -0 sort",
    "cat $(git diff --cached --name-only)",
    "cd deep && sort $(git diff --name-only HEAD)",
    "for f in $(git diff --name-only HEAD); do cat $f; done",
  ];

  function prepare(): { stage: Stage; secret: string } {
    const place = join(top, `odd-${count++}`);
    const outside = stageIn(join(place, "outside"), "/dev/null");
    outside.write("secret.txt", "SECRET\n");
    const stage = stageIn(join(place, "project"), "/dev/null");
    mkdirSync(join(stage.folder, "deep"));
    return { stage, secret: join(outside.folder, "secret.txt") };
  }

  for (const [index, name] of oddNames.entries())
    for (const hide of index === 0 ? [false, true] : [false])
      it(`make no other file be read: ${JSON.stringify(name("SECRET"))}${hide ? ", left out of the folder" : ""}`, async () => {
        const { stage, secret } = prepare();
        nameOddly(stage, name(secret), secret);
        if (hide) stage.git("update-index", "--skip-worktree", "--", name(secret));
        const all = uses.join("\n");
        const said = await runUnasked(stage.folder, stage.folder, [all, "git ls-files", "git diff --cached --name-only"]);
        assert.doesNotMatch(said[0] ?? "", /SECRET/);
        assert.match(said[1] ?? "", /git was not run: its index names a file that is not there/);
        assert.match(said[2] ?? "", /git was not run: it names a file that is not there/);
        const rule = parseRule("Bash(git:*)");
        const ruled = await runUnasked(stage.folder, stage.folder, [all], { allow: [rule] });
        assert.doesNotMatch(ruled.join(""), /SECRET/);
        if (index > 0) return;
        const { stdout } = spawnSync("bash", ["-c", all], { cwd: stage.folder, env, encoding: "utf8" });
        assert.match(stdout, /SECRET/, "with a git that prints them");
      });

  it("are refused behind a link, too", async () => {
    const { stage, secret } = prepare();
    nameOddly(stage, `link/x ${secret}`, secret);
    mkdirSync(join(stage.folder, "elsewhere", `x ${secret}`), { recursive: true });
    symlinkSync("elsewhere", join(stage.folder, "link"));
    assert.match((await runUnasked(stage.folder, stage.folder, ["git ls-files"])).join(""), /git was not run/);
  });

  it("are printed when they are harmless, as are odd ones that are there", async () => {
    const { stage, secret } = prepare();
    nameOddly(stage, "gone.txt", secret);
    for (const name of ["with blank", "qu'ote", 'qu"ote', "back\\slash", "new\nline", "-dash", "[id]", "ü ü"]) {
      mkdirSync(join(stage.folder, "deep", name));
      stage.write(`deep/${name}/${name}`, "x\n");
    }
    stage.git("add", "deep");
    const plain = spawnSync("git", ["ls-files"], { cwd: stage.folder, env, encoding: "utf8" }).stdout;
    assert.deepEqual(await runUnasked(stage.folder, stage.folder, ["git ls-files"]), [plain.trimEnd()]);
    assert.match(plain, /gone\.txt/);
    const form = "git diff --cached --name-only";
    const changed = spawnSync("bash", ["-c", form], { cwd: stage.folder, env, encoding: "utf8" }).stdout;
    assert.deepEqual(await runUnasked(stage.folder, stage.folder, [form]), [changed.trimEnd()]);
    assert.match(changed, /gone\.txt/);
  });

  it("are refused by a diff below the top, where nobody has looked at them", async () => {
    const { stage, secret } = prepare();
    fillRepository(stage);
    mkdirSync(join(stage.folder, `x ${secret}`, ".."), { recursive: true });
    stage.write(`x ${secret}`, "x\n");
    stage.git("add", ".");
    const deep = join(stage.folder, "deep");
    const said = await runUnasked(stage.folder, deep, [
      "git diff --cached --name-only | xargs cat",
      "git diff --cached --name-only",
    ]);
    assert.doesNotMatch(said[0] ?? "", /SECRET/);
    assert.match(said[1] ?? "", /other programs would take apart/);
  });
});

describe("the git for looking", () => {
  it("is not there where it could not be found, and nothing runs when it is gone", async () => {
    const root = stageIn(join(top, `gone-${count++}`), "/dev/null");
    fillRepository(root);
    const strange = createLocalWorkspace({ root: root.folder, env, overflowDirectory: join(top, "over:flow") });
    assert.equal(await installInertGit(strange), undefined);
    const without = createLocalWorkspace({
      root: root.folder,
      env: { ...env, PATH: "/nowhere" },
      overflowDirectory: join(top, "none"),
    });
    assert.equal(await installInertGit(without), undefined);
    const workspace = createLocalWorkspace({ root: root.folder, env, overflowDirectory: join(top, "gone") });
    const folder = (await installInertGit(workspace)) ?? "";
    rmSync(join(folder, "git"));
    for (const reach of ["everything", "shell"] as const) {
      const context = { callId: "c", workspace, memory: createToolMemory(), signal: AbortSignal.timeout(60_000), progress() {} };
      const { content } = await bashTool.execute({ command: "git log" }, { ...context, git: { folder, reach } });
      assert.doesNotMatch(JSON.stringify(content), /second/);
    }
    for (const opened of [strange, without, workspace]) await opened.close();
  });
});

describe("asking a remote repository, unasked,", () => {
  const set = (entries: readonly (readonly [string, string])[]): { stage: Stage; mark: string } => {
    const mark = join(top, `mark-${count++}`);
    const stage = stageIn(join(top, `remote-${count++}`), mark);
    fillRepository(stage);
    for (const [key, value] of entries) stage.git("config", key.replace("EVIL", stage.evil), value.replace("EVIL", stage.evil));
    return { stage, mark };
  };
  const remotes: [name: string, entries: [string, string][]][] = [
    [
      "that is a program",
      [
        ["remote.origin.url", "ext::EVIL"],
        ["protocol.ext.allow", "always"],
      ],
    ],
    [
      "over ssh",
      [
        ["remote.origin.url", "ssh://127.0.0.1/x"],
        ["core.sshCommand", "EVIL"],
      ],
    ],
    [
      "in a folder",
      [
        ["remote.origin.url", "."],
        ["remote.origin.uploadpack", "EVIL"],
      ],
    ],
    [
      "over git's own protocol",
      [
        ["remote.origin.url", "git://127.0.0.1/x"],
        ["core.gitProxy", "EVIL"],
      ],
    ],
    [
      "behind another name",
      [
        ["remote.origin.url", "https://example.org/x"],
        ["url.ext::EVIL .insteadOf", "https://"],
        ["protocol.ext.allow", "always"],
      ],
    ],
  ];
  for (const [name, entries] of remotes)
    it(`${name} runs nothing`, async () => {
      const { stage, mark } = set(entries);
      await runUnasked(stage.folder, stage.folder, ["git ls-remote", "git ls-remote origin", "git ls-remote -q --heads"]);
      assert.equal(existsSync(mark), false);
      spawnSync("git", ["ls-remote"], { cwd: stage.folder, env, stdio: "ignore" });
      assert.equal(existsSync(mark), true, "with a git that obeys");
    });

  it("answers over http, and writes no cookies where the repository says", async () => {
    const server = createServer((request, response) => {
      response.setHeader("Set-Cookie", "a=b; Max-Age=1000");
      response.end(request.url?.startsWith("/x/info/refs") ? `${"1".repeat(40)}\trefs/heads/main\n` : "");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/x`;
    const jar = join(top, "jar");
    const { stage } = set([
      ["remote.origin.url", url],
      ["http.cookieFile", jar],
      ["http.saveCookies", "true"],
      [`http.${url}.saveCookies`, "true"],
    ]);
    const [said] = await runUnasked(stage.folder, stage.folder, ["git ls-remote"]);
    assert.match(said ?? "", /1{40}\trefs\/heads\/main/);
    assert.equal(existsSync(jar), false);
    const git = spawn("git", ["ls-remote"], { cwd: stage.folder, env, stdio: "ignore" });
    await once(git, "exit");
    assert.equal(existsSync(jar), true, "with a git that obeys");
    server.close();
  });
});

/** Lines that are not committed are as old as now. */
function timeless(text: string): string {
  return text.trimEnd().replaceAll(/\d\d:\d\d:\d\d/g, "");
}
