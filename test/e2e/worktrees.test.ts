import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { describe, it } from "node:test";
import { eventually, lines, model, run, start, tempFolder } from "./command.ts";

type Reply = NonNullable<Parameters<typeof model>[0]>;

const person = {
  GIT_AUTHOR_NAME: "a",
  GIT_AUTHOR_EMAIL: "a@example.com",
  GIT_COMMITTER_NAME: "a",
  GIT_COMMITTER_EMAIL: "a@example.com",
  GIT_CONFIG_NOSYSTEM: "1",
};

async function scene(replies: Reply) {
  const root = realpathSync(tempFolder("worktrees"));
  const project = join(root, "project");
  mkdirSync(project);
  const sh = (script: string, cwd = project): string =>
    execFileSync("bash", ["-c", script], { cwd, env: { ...process.env, ...person }, encoding: "utf8" }).trim();
  sh("git init -q -b main; echo one > a.txt; echo canary-4711 > .env; git add -A; git commit -qm first");
  const { env, server } = await model(replies, join(root, "home"));
  const outrider = (...args: string[]) => run(args, { cwd: project, env: { ...env, ...person } });
  return { project, sh, server, env: { ...env, ...person }, outrider };
}

const edit = (command: string): Reply => [{ calls: [{ name: "Bash", input: { command } }] }, { text: "done" }];
const worktreeIn = (stdout: string) => lines(stdout).at(-1)?.["worktree"] as Record<string, unknown> | undefined;

describe("outrider --worktree", () => {
  it("works beside the user's checkout, keeps what was done, and the result says where", async () => {
    const { outrider, sh, project, server } = await scene(
      edit("echo two >> a.txt && git commit -qam second && echo x > new.txt; pwd"),
    );
    const { code, stdout, stderr } = await outrider(
      ...["-p", "go", "--worktree", "feature", "--allowedTools", "Bash", "--output-format", "stream-json", "--verbose"],
    );
    assert.equal(code, 0, stderr);
    const path = join(project, ".outrider/worktrees/feature");
    const { base: _, commits, summary, ...facts } = worktreeIn(stdout) ?? {};
    assert.deepEqual(facts, {
      ...{ name: "feature", path, branch: "outrider/feature", status: "kept" },
      ...{ changed: 0, untracked: 1, ignored: 0, parentChanges: 0 },
    });
    assert.deepEqual(
      (commits as { subject: string }[]).map(({ subject }) => subject),
      ["second"],
    );
    assert.match(String(summary), /1 commit, 1 untracked file\. outrider worktrees merge feature --commit MESSAGE/);
    assert.match(JSON.stringify(server.requests[1]?.body), new RegExp(`${path}`));
    assert.equal(sh("cat a.txt; git status --porcelain; git log --oneline | wc -l"), "one\n1");
    assert.equal(readFileSync(join(path, "a.txt"), "utf8"), "one\ntwo\n");
  });

  it("leaves nothing behind when nothing was done", async () => {
    const { outrider, sh } = await scene([{ text: "nothing to do" }]);
    const { code, stdout, stderr } = await outrider("-p", "go", "-w");
    assert.deepEqual([code, stdout], [0, "nothing to do\n"]);
    assert.match(stderr, /Nothing was changed in the worktree/);
    assert.equal(sh("git worktree list | wc -l; git branch --list | wc -l; ls .outrider/worktrees"), "1\n1");
  });

  it("holds rules of the project for the files of the worktree and for the user's own", async () => {
    const { outrider, project, server } = await scene([
      {
        calls: [
          { name: "Read", input: { file_path: ".env" } },
          { name: "Read", input: { file_path: "../../../.env" } },
          { name: "Write", input: { file_path: "allowed.txt", content: "x" } },
          { name: "Write", input: { file_path: "../../../outside.txt", content: "x" } },
        ],
      },
      { text: "done" },
    ]);
    mkdirSync(join(project, ".outrider"), { recursive: true });
    writeFileSync(join(project, ".outrider/settings.json"), '{"permissions":{"deny":["Read(./.env)"]}}');
    const { stdout } = await outrider("-p", "go", "-w", "rules", "--permission-mode", "acceptEdits", "--output-format", "json");
    const result = lines(stdout).at(-1);
    const denied = result?.["permission_denials"] as { tool_name: string; tool_input: { file_path: string } }[];
    const tree = join(realpathSync(project), ".outrider/worktrees/rules"); // they are named by their whole paths
    assert.deepEqual(
      denied.map(({ tool_name, tool_input }) => `${tool_name} ${relative(tree, tool_input.file_path)}`).toSorted(),
      ["Read ../../../.env", "Read .env", "Write ../../../outside.txt"],
    );
    assert.ok(!JSON.stringify(server.requests[1]?.body).includes("canary-4711"));
    assert.ok(existsSync(join(project, ".outrider/worktrees/rules/allowed.txt")));
  });

  it("started by a hook of git, works in its worktree and not on what the hook is about", async () => {
    const { project, sh, env } = await scene(edit("echo two > new.txt && git add new.txt && git commit -qm agent"));
    const hook = { GIT_DIR: join(project, ".git"), GIT_INDEX_FILE: join(project, ".git/index"), GIT_WORK_TREE: project };
    const { code, stderr } = await run(["-p", "go", "-w", "h1", "--allowedTools", "Bash"], {
      cwd: project,
      env: { ...env, ...hook },
    });
    assert.equal(code, 0, stderr);
    assert.equal(sh("git log --format=%s outrider/h1; git log --format=%s main; git status --porcelain"), "agent\nfirst\nfirst");
  });

  it("does not take a name with a slip in it for a part of the prompt", async () => {
    const { outrider, server } = await scene([{ text: "no" }]);
    for (const name of ["feature/login", "../evil"]) {
      const { code, stderr } = await outrider("-p", "x", "-w", name);
      assert.equal(code, 64);
      assert.match(stderr, /-w: ".*" is no NAME\. If it is the prompt, put it before -w/);
    }
    assert.equal(server.requests.length, 0);
  });

  it("is refused in words outside of a repository", async () => {
    const { env } = await scene([{ text: "no" }]);
    const { code, stderr } = await run(["-p", "go", "--worktree"], { cwd: tempFolder("plain"), env });
    assert.equal(code, 64);
    assert.match(stderr, /is in no git repository/);
  });

  it("survives a kill: gc frees it, and what was done is there", async () => {
    const { project, sh, env, outrider } = await scene([
      { calls: [{ name: "Bash", input: { command: "echo two >> a.txt; touch started; sleep 60" } }] },
    ]);
    const path = join(project, ".outrider/worktrees/killed");
    const { child, done } = start(["-p", "go", "-w", "killed", "--allowedTools", "Bash"], { cwd: project, env });
    await eventually(() => existsSync(join(path, "started")), "the command began");
    const used = await outrider("worktrees", "gc");
    assert.match(used.stdout, /^kept {2}killed {2}in use/);
    assert.equal((await outrider("-p", "go", "-w", "killed")).code, 64);
    child.kill("SIGKILL");
    await done;
    assert.match((await outrider("worktrees", "list")).stdout, /killed {2}1 changed file, 1 untracked file {2}\(cut off\)/);
    const freed = await outrider("worktrees", "gc");
    assert.match(freed.stdout, /^kept {2}killed {2}1 changed file, 1 untracked file; its run was cut off/);
    assert.equal(sh("cat a.txt", path), "one\ntwo");
    assert.doesNotMatch((await outrider("worktrees", "list")).stdout, /cut off/);
  });
});

describe("outrider worktrees", () => {
  it("lists, opens, merges and removes", async () => {
    const { outrider, sh, project } = await scene(edit("echo two >> a.txt"));
    assert.equal((await outrider("worktrees", "list")).stdout, "There are no worktrees of outrider here\n");
    await outrider("-p", "go", "-w", "feature", "--allowedTools", "Bash");
    const path = join(project, ".outrider/worktrees/feature");
    assert.equal((await outrider("worktrees", "open", "feature")).stdout, `${path}\n`);
    const listed = JSON.parse((await outrider("worktrees", "list", "--json")).stdout);
    assert.match(
      (await outrider("worktrees", "list")).stdout,
      /^feature {2}1 changed file\n {2}\/.*\/feature {2}outrider\/feature\n$/,
    );
    assert.deepEqual([listed[0].name, listed[0].changed, listed[0].use], ["feature", 1, "free"]);

    const refused = await outrider("worktrees", "merge", "feature");
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /holds what is not committed: 1 changed file\n.*--commit MESSAGE/);
    const kept = await outrider("worktrees", "remove", "feature");
    assert.equal(kept.code, 1);
    assert.match(kept.stderr, /stays at .*: 1 changed file/);

    const merged = await outrider("worktrees", "merge", "feature", "--commit", "from the agent");
    assert.equal(merged.code, 0, merged.stderr);
    assert.match(merged.stdout, /Merged; feature is removed/);
    assert.equal(sh("cat a.txt; git log -1 --format=%s; git branch --list"), "one\ntwo\nfrom the agent\n* main");
    assert.equal(existsSync(path), false);
  });

  it("leaves a merge with conflicts to the user", async () => {
    const { outrider, sh } = await scene(edit("echo theirs > a.txt; git commit -qam theirs"));
    await outrider("-p", "go", "-w", "feature", "--allowedTools", "Bash");
    sh("echo ours > a.txt; git commit -qam ours");
    const { code, stderr } = await outrider("worktrees", "merge", "feature");
    assert.equal(code, 1);
    assert.match(stderr, /is not merged.*Look at git status in .*; the worktree stays/);
    assert.match(sh("git worktree list"), /outrider\/feature/);
  });

  it("says what is wrong with its words", async () => {
    const { outrider } = await scene([]);
    const asked = async (...args: string[]) => {
      const { code, stderr } = await outrider("worktrees", ...args);
      return [code, stderr.split("\n")[0]];
    };
    assert.deepEqual(await asked("lst"), [64, "outrider: worktrees does not know lst; did you mean list?"]);
    assert.deepEqual(await asked("open"), [64, "outrider: worktrees open takes the name of one worktree"]);
    assert.deepEqual(await asked("open", "none"), [66, 'outrider: There is no worktree "none"']);
  });
});

describe("a session that worked in a worktree", () => {
  const steps: Reply = [
    ...(edit("echo two >> a.txt; echo mark > here.txt") as unknown[]),
    ...(edit("pwd > where.txt") as unknown[]),
    ...(edit("pwd > where.txt") as unknown[]),
    ...(edit("pwd > where.txt") as unknown[]),
  ] as Reply;
  const json = ["--allowedTools", "Bash", "--output-format", "json"];

  it("goes on there; a copy and one whose worktree is gone say where they are", async () => {
    const { outrider, project, sh } = await scene(steps);
    const first = await outrider("-p", "go", "--worktree", "feature", ...json);
    assert.equal(first.code, 0, first.stderr);
    const { session_id: id } = JSON.parse(first.stdout);
    const path = join(project, ".outrider/worktrees/feature");

    const second = await outrider("-p", "more", "--resume", id, ...json);
    assert.equal(second.code, 0, second.stderr);
    assert.equal(readFileSync(join(path, "where.txt"), "utf8").trim(), path);
    assert.equal(existsSync(join(project, "where.txt")), false);
    assert.equal(JSON.parse(second.stdout).worktree.name, "feature");

    const copy = await outrider("-p", "more", "--resume", id, "--fork-session", ...json);
    assert.match(JSON.parse(copy.stdout).warnings.join(), /copy of worked in the worktree feature; --worktree feature/);
    assert.equal(readFileSync(join(project, "where.txt"), "utf8").trim(), project);

    sh("git worktree unlock .outrider/worktrees/feature; git worktree remove --force .outrider/worktrees/feature");
    const gone = await outrider("-p", "more", "--resume", id, ...json);
    assert.equal(gone.code, 0, gone.stderr);
    assert.match(JSON.parse(gone.stdout).warnings.join(), /worked in the worktree feature, which is gone: it goes on in/);
  });
});

describe("a rule for files of the project", () => {
  it("holds for their copies in worktrees that were kept, for the session and its subagents", async () => {
    const copy = ".outrider/worktrees/kept/private/plan.txt";
    const calls = [
      ...[`cat ${copy}`, "cat .outrider/worktrees/*/private/plan.txt", "grep -r merger .outrider/worktrees"].map(bash),
      ...["rg -uu merger .outrider", "cd .outrider/worktrees/kept && cat private/*", "cat .outrider/worktrees/kept/a.txt"].map(
        bash,
      ),
      { name: "Read", input: { file_path: copy } },
      { name: "Grep", input: { pattern: "merger", path: ".outrider/worktrees/kept", output_mode: "content" } },
    ];
    const { outrider, sh, server } = await scene([
      ...[{ calls: [bash("echo more > more.txt")] }, { text: "done" }],
      ...[{ calls }, { calls: [{ name: "Task", input: { subagent_type: "general-purpose", description: "d", prompt: "p" } }] }],
      ...[{ calls }, { text: "sub end" }, { text: "done" }],
    ]);
    sh("mkdir private; echo merger on friday > private/plan.txt; git add -A; git commit -qm second");
    await outrider("-p", "go", "--worktree", "kept", "--allowedTools", "Bash");
    assert.equal(sh(`cat ${copy}`), "merger on friday");
    const { code, stderr } = await outrider("-p", `see @${copy}`, "--disallowedTools", "Read(./private/**)");
    assert.equal(code, 0, stderr);
    assert.equal(server.requests.length, 7);
    for (const { body } of server.requests.slice(2)) assert.doesNotMatch(JSON.stringify(body), /on friday/);
    for (const at of [3, 5]) {
      const answers = JSON.stringify(server.requests[at]?.body);
      assert.match(answers, /"one/); // what no rule protects is shown
      assert.match(answers, /1 file was left out: rules protect it/);
    }
  });
});

function bash(command: string) {
  return { name: "Bash", input: { command } };
}
