import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { RecordedRequest, ServerReply } from "../../packages/runtime/src/testing/model-server.ts";
import { lines, model, run, tempFolder } from "./command.ts";

type Body = { messages: { role: string; content: unknown }[]; tools?: { name: string }[] };

const person = {
  GIT_AUTHOR_NAME: "a",
  GIT_AUTHOR_EMAIL: "a@example.com",
  GIT_COMMITTER_NAME: "a",
  GIT_COMMITTER_EMAIL: "a@example.com",
  GIT_CONFIG_NOSYSTEM: "1",
};
const iso = JSON.stringify({ iso: { description: "works apart", prompt: "You work apart.", isolation: "worktree" } });

/** The session hands out these tasks at once; each subagent runs the command its prompt names. */
async function scene(tasks: readonly object[], { git = true, flags = [] as string[], hooks = {} } = {}) {
  const root = realpathSync(tempFolder("isolated"));
  const project = join(root, "project");
  mkdirSync(project);
  const sh = (script: string, cwd = project): string =>
    execFileSync("bash", ["-c", script], { cwd, env: { ...process.env, ...person }, encoding: "utf8" }).trim();
  if (git) sh("git init -q -b main; echo one > a.txt; git add -A; git commit -qm first");
  const replies = (request: RecordedRequest): ServerReply => {
    const body = request.body as Body; // the command sends nothing else
    const isParent = body.tools?.some(({ name }) => name === "Task");
    const isFirst = body.messages.length === 1;
    if (isParent) return isFirst ? { calls: tasks.map((input) => ({ name: "Task", input })) } : { text: "done" };
    const command = /RUN (.*?) END/.exec(JSON.stringify(body.messages[0]))?.[1] ?? "true";
    return isFirst ? { calls: [{ name: "Bash", input: { command } }] } : { text: "sub end" };
  };
  const { env, server } = await model(replies, join(root, "home"));
  mkdirSync(join(root, "home"), { recursive: true });
  writeFileSync(join(root, "home/settings.json"), JSON.stringify({ hooks }));
  const args = ["-p", "go", "--agents", iso, "--allowedTools", "Bash", "--output-format", "stream-json", "--verbose", ...flags];
  const { stdout, code } = await run(args, { cwd: project, env: { ...env, ...person } });
  const frames = lines(stdout);
  const results = JSON.stringify((server.requests.at(-1)?.body as Body | undefined)?.messages);
  const events = await run(["sessions", "export", String(frames[0]?.["session_id"])], { cwd: project, env });
  const left = lines(events.stdout).filter(({ type }) => type === "worktree.inspected");
  return { project, sh, frames, results, code, left };
}

const job = (command: string, more: object = { subagent_type: "iso" }) => ({
  description: "job",
  prompt: `RUN ${command} END`,
  ...more,
});

describe("a subagent with isolation: worktree", () => {
  it("changes nothing in the user's checkout, and its result says where its work is", async () => {
    const { code, sh, results, left, project } = await scene([job("echo two >> a.txt; git commit -qam second; pwd")]);
    assert.equal(code, 0);
    assert.equal(sh("cat a.txt; git status --porcelain; git log --oneline | wc -l"), "one\n1");
    const [facts] = left as { path: string; branch: string; status: string; commits: { subject: string }[] }[];
    assert.ok(facts);
    assert.deepEqual([facts.status, facts.commits.map(({ subject }) => subject)], ["kept", ["second"]]);
    assert.ok(facts.path.startsWith(join(project, ".outrider/worktrees/")));
    assert.ok(results.includes(`The work is in the worktree ${facts.path} on the branch ${facts.branch}: 1 commit.`));
    assert.equal(readFileSync(join(facts.path, "a.txt"), "utf8"), "one\ntwo\n");
  });

  it("leaves nothing where it did nothing; two at once do not meet", async () => {
    const { sh, left } = await scene([job("cat a.txt"), job("echo mine > mine.txt", { isolation: "worktree" })]);
    assert.deepEqual(left.map(({ status }) => status).toSorted(), ["kept", "unchanged"]);
    assert.equal(sh("git worktree list | wc -l; git branch --list | wc -l"), "2\n2");
  });

  it("is not started where there is no repository: isolated work is never done elsewhere", async () => {
    const { results, project, left } = await scene([job("touch here.txt")], { git: false });
    assert.match(results, /was to work in a worktree of its own: .* is in no git repository/);
    assert.deepEqual([existsSync(join(project, "here.txt")), left], [false, []]);
  });

  it("tells hooks of its worktree, and a hook can forbid it", async () => {
    const log = join(tempFolder("hooks"), "log");
    const command = (line: string) => [{ hooks: [{ type: "command", command: line }] }];
    const told = { WorktreeCreate: command(`cat >> ${log}`), WorktreeRemove: command(`cat >> ${log}`) };
    await scene([job("true")], { hooks: told });
    const inputs = readFileSync(log, "utf8")
      .replaceAll("}{", "}\n{")
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line));
    assert.deepEqual(
      inputs.map((input) => [
        input.hook_event_name,
        input.branch_name === `outrider/${input.name}`,
        input.worktree_path.endsWith(input.name),
      ]),
      [
        ["WorktreeCreate", true, true],
        ["WorktreeRemove", true, true],
      ],
    );
    const refused = await scene([job("true")], { hooks: { WorktreeCreate: command("echo not here >&2; exit 2") } });
    assert.match(refused.results, /A hook does not let iso work in a worktree: .*not here/);
    assert.equal(refused.sh("git worktree list | wc -l; git branch --list | wc -l"), "1\n1");
  });
});
