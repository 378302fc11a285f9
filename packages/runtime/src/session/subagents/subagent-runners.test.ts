import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import type { BackgroundTaskRunnerEvent } from "../../tasks/background/task-contract.ts";
import { createChildProcessSubagentRunner } from "../../tasks/subagents/child-process-runner.ts";
import { createGitWorktreeAdapter } from "../../tasks/subagents/git-worktree-adapter.ts";
import type { SubagentRunner, SubagentSpawnRequest } from "../../tasks/subagents/subagent-contract.ts";
import { SubagentManager } from "../../tasks/subagents/subagent-manager.ts";
import { createWorktreeSubagentRunner } from "../../tasks/subagents/worktree-subagent-runner.ts";
import { cast, eventsOf, lastWords, reader, stageFolder, task } from "../../../../../test/support/subagent-stage.ts";
import { createInProcessSubagentRunner } from "./in-process-runner.ts";
import { createScriptedProvider } from "../../model/scripted.ts";
import { play } from "../../../../../test/support/played-agent.mjs";

const top = mkdtempSync(join(tmpdir(), "outrider-runners-"));
after(() => rmSync(top, { recursive: true, force: true }));
let folders = 0;
const newFolder = (): string => {
  const folder = join(top, String(++folders));
  mkdirSync(folder);
  writeFileSync(join(folder, "n.txt"), "seven\n");
  return folder;
};

const worker = join(process.cwd(), "test/support/subagent-worker.mjs");
const playAgent = () => createScriptedProvider(new Array(50).fill(play));
const request = (prompt: string, more: Partial<SubagentSpawnRequest> = {}): SubagentSpawnRequest => ({
  type: "general-purpose",
  label: "General purpose",
  parentSessionId: "session_parent",
  mode: "foreground",
  depth: 1,
  cwd: newFolder(),
  prompt,
  ...more,
});

/** The work is the same, wherever it is done. */
const runners: readonly (readonly [string, () => SubagentRunner])[] = [
  [
    "in this process",
    () => createInProcessSubagentRunner({ parent: { cwd: top, provider: playAgent() }, logsDir: join(top, "logs") }),
  ],
  ["in a process of its own", () => createChildProcessSubagentRunner({ module: worker, execArgv: [] })],
];

for (const [where, create] of runners)
  describe(`a runner of agents ${where}`, () => {
    it("does a job as the manager asks for it, and answers with its last words", async () => {
      const manager = new SubagentManager({ runner: create(), maxConcurrent: 2 });
      const job = await manager.spawn(request("say Review the codebase"));
      assert.deepEqual([job.id, job.type, job.status, job.mode], ["agent_1", "general-purpose", "running", "foreground"]);
      const result = await manager.wait(job.id);
      assert.deepEqual([result.jobId, result.output], ["agent_1", "Review the codebase"]);
      assert.equal(manager.get(job.id)?.status, "completed");
      const log = await manager.readLog(job.id);
      assert.deepEqual(log.lines, ["[stdout] Review the codebase", "[system] completed"]);
      manager.close(job.id);
      assert.deepEqual(manager.list(), []);
    });

    it("tells what the agent does while it does it, and its log can be read", async () => {
      const manager = new SubagentManager({ runner: create() });
      const seen: BackgroundTaskRunnerEvent["type"][] = [];
      const told = new Promise<void>((resolve) => {
        manager.getBackgroundTaskManager().subscribe((event) => {
          if (!("taskId" in event) || event.type === "background_task_closed") return;
          seen.push(event.type);
          if (event.type === "background_task_tool_end") resolve();
        });
      });
      const job = await manager.spawn(request("read n.txt and hang"));
      await told;
      const { lines, nextCursor } = await manager.readLog(job.id);
      assert.deepEqual(lines, ["[stdout] Looking.", "[system] > Read n.txt"]);
      assert.deepEqual(nextCursor, { offset: 2 });
      assert.deepEqual(
        seen.filter((type) => type !== "background_task_text_delta"),
        ["background_task_tool_start", "background_task_tool_end"],
      );
      await manager.shutdown();
    });

    it("hands on what the agent is told while it works", async () => {
      const cwd = newFolder();
      const manager = new SubagentManager({ runner: create() });
      const reading = new Promise<void>((resolve) => {
        manager.getBackgroundTaskManager().subscribe((event) => event.type === "background_task_tool_start" && resolve());
      });
      const job = await manager.spawn(request("wait for go", { cwd, permissionPolicy: "preapproved", allowedTools: ["Bash"] }));
      await reading;
      await manager.send(job.id, "say Something else");
      writeFileSync(join(cwd, "go"), "");
      assert.equal((await manager.wait(job.id)).output, "Something else");
      await assert.rejects(manager.send(job.id, "more"), /Job agent_1 (has ended|was not told)/);
    });

    it("asks for permission, and does what is permitted", async () => {
      const cwd = newFolder();
      const manager = new SubagentManager({ runner: create() });
      const tasks = manager.getBackgroundTaskManager();
      tasks.subscribe((event) => {
        if (event.type !== "background_task_permission_request") return;
        assert.equal(tasks.get(event.taskId)?.status, "waiting_permission");
        tasks.answerPermission(event.taskId, event.requestId, true);
      });
      const job = await manager.spawn(request("write made.txt", { cwd, permissionPolicy: "prompt" }));
      await manager.wait(job.id);
      assert.equal(existsSync(join(cwd, "made.txt")), true);
      const denied = await manager.spawn(request("write other.txt", { cwd, permissionPolicy: "deny" }));
      await manager.wait(denied.id);
      assert.equal(existsSync(join(cwd, "other.txt")), false);
    });

    it("gives a job the tools it names, and never one that starts agents", async () => {
      const manager = new SubagentManager({ runner: create() });
      const wait = async (more: Partial<SubagentSpawnRequest>): Promise<string[]> => {
        const job = await manager.spawn(request("name tools", more));
        return (await manager.wait(job.id)).output.split(" ");
      };
      assert.deepEqual(await wait({ allowedTools: ["Read", "Grep", "Task"] }), ["Read", "Grep"]);
      const all = await wait({ disallowedTools: ["Bash"] });
      assert.deepEqual(
        ["Read", "Bash", "Task", "Agent", "SendMessage"].map((name) => all.includes(name)),
        [true, false, false, false, false],
      );
    });

    it("fails with a reason: an agent nobody knows, a model that fails, a crash of its own", async () => {
      const manager = new SubagentManager({ runner: create() });
      const unknown = await manager.spawn(request("say Hello", { type: "nobody" }));
      await assert.rejects(manager.wait(unknown.id), /no agent "nobody"/);
      const failed = await manager.spawn(request("fail"));
      await assert.rejects(manager.wait(failed.id), /The subagent failed: No such model/);
    });

    it("leaves nothing of a job that is cancelled", async () => {
      const manager = new SubagentManager({ runner: create() });
      const job = await manager.spawn(request("hang"));
      await manager.cancel(job.id, "Enough");
      assert.deepEqual([manager.get(job.id)?.status, manager.get(job.id)?.error?.message], ["cancelled", "Enough"]);
      const { pid } = manager.get(job.id) ?? {};
      if (pid !== undefined) assert.throws(() => process.kill(pid, 0), "its process is gone");
    });
  });

describe("an agent in a process of its own", () => {
  it("that crashes is a failed job, with what it said last", async () => {
    const manager = new SubagentManager({ runner: createChildProcessSubagentRunner({ module: worker, execArgv: [] }) });
    const job = await manager.spawn(request("crash"));
    await assert.rejects(manager.wait(job.id), /The process of the agent ended/);
    assert.equal(manager.get(job.id)?.error?.category, "crash");
  });
});

describe("a process that works for an agent", () => {
  /** A worker that starts a program holding its pipes, and dies. */
  const dying = (options: string): string => {
    const folder = newFolder();
    const module = join(folder, "worker.mjs");
    const script = `import { spawn } from "node:child_process";
      const child = spawn("sleep", ["600"], { stdio: ["ignore", "ignore", "inherit"], ${options} });
      process.on("message", () => {
        process.send({ type: "event", event: { type: "background_task_text_delta", delta: String(child.pid) } });
        setTimeout(() => process.kill(process.pid, "SIGKILL"), 20);
      });
      process.send({ type: "ready" });`;
    writeFileSync(module, script);
    return module;
  };
  const isAlive = (pid: number): boolean => {
    try {
      process.kill(pid, 0);
      return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
    } catch {
      return false;
    }
  };

  for (const [whose, options] of [
    ["of its group", ""],
    ["that left its group", "detached: true"],
  ] as const)
    it(`is missed when it dies, though a program ${whose} holds its pipes`, async () => {
      const runner = createChildProcessSubagentRunner({ module: dying(options), execArgv: [], graceMs: 200 });
      const manager = new SubagentManager({ runner });
      const job = await manager.spawn(request("say Hello"));
      await assert.rejects(manager.wait(job.id), /The process of the agent ended by SIGKILL/);
      const pid = Number((await manager.readLog(job.id)).lines[0]?.replace("[stdout] ", ""));
      assert.equal(isAlive(pid), options !== "");
      if (options !== "") process.kill(pid, "SIGKILL");
    });
});

describe("an agent in this process", () => {
  it("works beside many others, as many as may at the same time", async () => {
    const count = 40;
    const provider = createScriptedProvider(new Array(10 * count).fill(play));
    const manager = new SubagentManager({
      runner: createInProcessSubagentRunner({ parent: { cwd: top, provider } }),
      maxConcurrent: count / 2,
    });
    let most = 0;
    manager.getBackgroundTaskManager().subscribe(() => {
      most = Math.max(most, manager.list({ status: "running" }).length);
    });
    const cwd = newFolder();
    const jobs = await Promise.all(Array.from({ length: count }, (_, index) => manager.spawn(request(`say ${index}`, { cwd }))));
    const results = await Promise.all(jobs.map(({ id }) => manager.wait(id)));
    assert.deepEqual(
      results.map(({ output }) => output),
      jobs.map((_, index) => String(index)),
    );
    assert.equal(most, count / 2);
  });

  it("has a transcript below its parent's name", async () => {
    const logsDir = join(top, "transcripts");
    const runner = createInProcessSubagentRunner({ parent: { cwd: top, provider: playAgent() }, logsDir });
    const handle = runner.start({ jobId: "agent_9", request: request("say Hello") });
    await handle.result;
    assert.equal(handle.transcriptPath, join(logsDir, "session_parent", "subagents", "agent_9.jsonl"));
    const types = readFileSync(handle.transcriptPath, "utf8")
      .trim()
      .split("\n")
      .map((line) => (JSON.parse(line) as { type: string }).type);
    assert.equal(types[0], "session.started");
    assert.equal(types.includes("turn.started") && types.includes("message.ended"), true);
  });
});

describe("a job in a worktree", () => {
  const git = (cwd: string, ...words: string[]): string =>
    execFileSync("git", ["-c", "user.name=T", "-c", "user.email=t@example.com", ...words], { cwd, encoding: "utf8" }).trim();
  const repository = (): string => {
    const cwd = newFolder();
    git(cwd, "init", "-q");
    git(cwd, "add", ".");
    git(cwd, "commit", "-qm", "first");
    return cwd;
  };
  const adapter = createGitWorktreeAdapter({ env: { PATH: process.env["PATH"] ?? "" }, overflowDirectory: top, owner: "{}" });
  const inner = createInProcessSubagentRunner({ parent: { cwd: top, provider: playAgent(), permissionMode: "acceptEdits" } });

  it("stays when something was done in it, and goes once when nothing was", async () => {
    const cwd = repository();
    const heard: string[] = [];
    const runner = createWorktreeSubagentRunner({
      runner: inner,
      adapter,
      onCreate: async ({ branchName }) => void heard.push(`made ${branchName.split("-")[0]}`),
      onRemove: async () => void heard.push("removed"),
    });
    const manager = new SubagentManager({ runner });
    const isolated = { cwd, isolation: "worktree" } as const;
    const idle = await manager.spawn(request("say Hello", isolated));
    assert.equal((await manager.wait(idle.id)).output, "Hello");
    assert.equal(manager.get(idle.id)?.worktreePath, undefined);
    const busy = await manager.spawn(request("write made.txt", isolated));
    const { metadata } = await manager.wait(busy.id);
    const path = String(metadata?.["worktreePath"]);
    assert.deepEqual([existsSync(join(path, "made.txt")), existsSync(join(cwd, "made.txt"))], [true, false]);
    const state = manager.get(busy.id);
    assert.deepEqual([state?.worktreePath, state?.worktreeStatus, state?.branchName], [path, "kept", metadata?.["branchName"]]);
    assert.match(state?.worktreeNextAction ?? "", /outrider worktrees merge/);
    assert.deepEqual(heard, ["made outrider/agent_1", "removed", "made outrider/agent_2"]);
  });

  it("is not begun where a hook objects or there is no repository, and its failure names what is left", async () => {
    const refusing = createWorktreeSubagentRunner({ runner: inner, adapter, onCreate: async () => "not today" });
    const manager = new SubagentManager({ runner: refusing });
    const refused = await manager.spawn(request("say Hello", { cwd: repository(), isolation: "worktree" }));
    await assert.rejects(manager.wait(refused.id), /No worktree for this job: not today/);
    const nowhere = await manager.spawn(request("say Hello", { isolation: "worktree" }));
    await assert.rejects(manager.wait(nowhere.id), /git/i);
    const runner = createWorktreeSubagentRunner({ runner: inner, adapter });
    const failing = new SubagentManager({ runner });
    const job = await failing.spawn(request("write made.txt then fail", { cwd: repository(), isolation: "worktree" }));
    await assert.rejects(failing.wait(job.id), /No such model[\s\S]*outrider worktrees merge/);
  });
});

describe("subagentRunnerFactory", () => {
  const { open } = stageFolder();

  it("has the work of a session's agents done by a runner of the program, waited for or not", async () => {
    const given: unknown[] = [];
    const jobs: string[] = [];
    const provider = cast({
      parent: (step) => {
        const words = lastWords(step);
        if (step.messages.length === 1) return { calls: [task("one"), task("two", { run_in_background: true })] };
        return { text: words.includes("<result>") ? "Heard." : words };
      },
      child: () => ({ text: "Never asked." }),
    });
    const { session, events, close } = open(provider, {
      subagentRunnerFactory: (deps) => {
        given.push(deps.parent.cwd);
        return {
          start: ({ jobId, request: { prompt, mode } }) => {
            jobs.push(`${mode} ${prompt}`);
            return { jobId, result: Promise.resolve({ jobId, output: `${prompt} done` }), cancel: async () => {} };
          },
        };
      },
      agents: [reader],
    });
    await session.submit("go");
    await session.finishBackgroundTasks();
    await close();
    assert.equal(given.length, 1);
    assert.deepEqual(jobs.sort(), ["background two", "foreground one"]);
    assert.deepEqual(
      eventsOf(events, "task.ended")
        .map(({ outcome }) => outcome.text)
        .sort(),
      ["one done", "two done"],
    );
    assert.equal(eventsOf(events, "background.ended")[0]?.task.result?.output, "two done");
    assert.equal(
      provider.requests.every(({ tools }) => tools.some(({ name }) => name === "Task")),
      true,
    );
  });

  for (const where of ["that somebody waits for", "in the background"] as const)
    it(`asks the session what an agent ${where} is permitted`, async () => {
      const cwd = newFolder();
      const provider = cast({
        parent: (step) =>
          step.messages.length === 1
            ? { calls: [task("write made.txt", { run_in_background: where === "in the background" })] }
            : { text: lastWords(step) },
        child: play,
      });
      const { session, events, close } = open(provider, {
        cwd,
        answersPermissions: true,
        subagentRunnerFactory: createInProcessSubagentRunner,
        agents: [reader],
      });
      const statuses: unknown[] = [];
      session.on("permission_request", ({ requestId, toolName, taskId = "" }) => {
        setImmediate(() => {
          statuses.push([toolName, session.getBackgroundTask(taskId)?.status]);
          session.answerPermission(requestId, "allow");
        });
      });
      await session.submit("go");
      await session.finishBackgroundTasks();
      await close();
      assert.equal(existsSync(join(cwd, "made.txt")), true);
      assert.deepEqual(statuses, [["Write", where === "in the background" ? "waiting_permission" : undefined]]);
      assert.equal(eventsOf(events, "permission.resolved").filter(({ taskId }) => taskId !== undefined).length, 1);
    });
});
