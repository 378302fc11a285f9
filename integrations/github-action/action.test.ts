import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { parse } from "yaml";
import { flags } from "../../packages/cli/src/flags/flags.ts";
import { bin, eventually, model, projectRoot, tempFolder } from "../../test/e2e/command.ts";

const action = join(projectRoot, "integrations/github-action");
type Step = { id?: string; name: string; shell?: string; run?: string; uses?: string; env?: Record<string, string> };
type Action = {
  inputs: Record<string, { description: string; default?: string }>;
  outputs: Record<string, { value: string }>;
  runs: { using: string; steps: Step[] };
};
const definition = parse(readFileSync(join(action, "action.yml"), "utf8")) as Action;
const repository = "acme/shop";

/** A script of the action under the bash that runs it, with the environment of its step and nothing else. */
async function script(
  name: string,
  env: Record<string, string>,
  { cwd = action, started }: { cwd?: string; started?: (child: ChildProcess) => void } = {},
): Promise<{ code: number | null; log: string }> {
  const child = spawn("bash", [join(action, name)], {
    cwd,
    env: { PATH: process.env["PATH"] ?? "", HOME: tempFolder("home"), ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  after(() => child.kill("SIGKILL"));
  started?.(child);
  let log = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      log += text;
    });
  return { code: await new Promise((resolve) => child.on("close", resolve)), log };
}

/** Stands for GitHub's API: what it says by path, and what it was asked. */
async function github(answers: Record<string, unknown>): Promise<{ url: string; asked: IncomingMessage[] }> {
  const asked: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    asked.push(request);
    const answer = answers[request.url ?? ""];
    response.writeHead(answer === undefined ? 404 : typeof answer === "number" ? answer : 200);
    response.end(typeof answer === "string" ? answer : JSON.stringify(answer ?? { message: "Not Found" }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  after(() => server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked }; // it listens on a port
}

type Event = { name?: string; actor?: string; again?: string; payload?: unknown; allowed?: string; forks?: string };

async function check(event: Event, answers: Record<string, unknown> = {}) {
  const { url, asked } = await github(answers);
  const path = join(tempFolder("event"), "event.json");
  writeFileSync(path, typeof event.payload === "string" ? event.payload : JSON.stringify(event.payload ?? {}));
  const actor = event.actor ?? "alice";
  const ended = await script("check-actor.sh", {
    OUTRIDER_GITHUB_TOKEN: "the-token",
    OUTRIDER_ALLOWED_ACTORS: event.allowed ?? "",
    OUTRIDER_ALLOW_FORKS: event.forks ?? "false",
    OUTRIDER_ACTOR: actor,
    OUTRIDER_TRIGGERING_ACTOR: event.again ?? actor,
    OUTRIDER_EVENT_NAME: event.name ?? "issue_comment",
    OUTRIDER_EVENT_PATH: path,
    OUTRIDER_REPOSITORY: repository,
    OUTRIDER_API_URL: url,
  });
  return { ...ended, asked, urls: asked.map((request) => request.url) };
}

const permissionOf = (login: string): string => `/repos/${repository}/collaborators/${login}/permission`;
const pull = (head: unknown): unknown => ({ pull_request: { head: { repo: head } } });
const own = { full_name: repository };
const fork = { full_name: "mallory/shop" };
const alice = { [permissionOf("alice")]: { permission: "write" } };

describe("the actor check", () => {
  for (const [permission, allowed] of [
    ["admin", true],
    ["write", true],
    ["read", false],
    ["none", false],
  ] as const) {
    it(`${allowed ? "lets in" : "refuses"} who has the permission ${permission}`, async () => {
      const { code, log, asked } = await check({}, { [permissionOf("alice")]: { permission } });
      assert.equal(code, allowed ? 0 : 1, log);
      assert.equal(log.startsWith("::error title=Outrider will not run::alice has no write permission"), !allowed, log);
      assert.deepEqual([asked.length, asked[0]?.headers.authorization], [1, "Bearer the-token"]);
    });
  }

  const doubts: [string, unknown][] = [
    ["an actor nobody knows", undefined],
    ["a token that may not ask", 403],
    ["a server in trouble", 500],
    ["an answer that is no JSON", "<html>write</html>"],
    ["an answer without a permission", { role_name: "write" }],
    ["a permission that is no text", { permission: ["write"] }],
    ["a permission that only looks like one", { permission: "write\nadmin" }],
  ];
  for (const [what, answer] of doubts) {
    it(`takes what it cannot find out for a no: ${what}`, async () => {
      const { code, log } = await check({}, { [permissionOf("alice")]: answer });
      assert.equal(code, 1, log);
      assert.match(log, /^::error title=Outrider will not run::/m);
    });
  }

  it("takes a server that is not there, and an event that cannot be read, for a no", async () => {
    const env = {
      OUTRIDER_GITHUB_TOKEN: "t",
      OUTRIDER_ALLOWED_ACTORS: "",
      OUTRIDER_ALLOW_FORKS: "false",
      OUTRIDER_ACTOR: "alice",
      OUTRIDER_TRIGGERING_ACTOR: "alice",
      OUTRIDER_EVENT_NAME: "push",
      OUTRIDER_EVENT_PATH: "/dev/null",
      OUTRIDER_REPOSITORY: repository,
      OUTRIDER_API_URL: "http://127.0.0.1:9",
    };
    assert.equal((await script("check-actor.sh", env)).code, 1);
    assert.equal((await script("check-actor.sh", { ...env, OUTRIDER_ALLOWED_ACTORS: "alice" })).code, 1);
    assert.equal((await check({ payload: "[]" }, alice)).code, 1);
    assert.equal((await script("check-actor.sh", { OUTRIDER_ACTOR: "alice" })).code !== 0, true);
  });

  it("looks at whoever started it again, too", async () => {
    const answers = { ...alice, [permissionOf("mallory")]: { permission: "read" } };
    assert.equal((await check({ again: "mallory" }, answers)).code, 1);
    assert.equal((await check({ actor: "mallory", again: "alice" }, answers)).code, 1);
  });

  it("does not ask for actors that are named, whatever the case of letters, and for nobody else's sake", async () => {
    for (const allowed of ["bob, dependabot[bot]", "x\nDependabot[Bot]\ny"]) {
      const { code, log, asked } = await check({ actor: "dependabot[bot]", allowed });
      assert.deepEqual([code, asked.length], [0, 0], log);
    }
    for (const allowed of ["dependabot", "*", "dependabot[bo]t", ".*"]) {
      const { code, urls } = await check({ actor: "dependabot[bot]", allowed });
      assert.deepEqual([code, urls], [1, [permissionOf("dependabot%5Bbot%5D")]]);
    }
  });

  it("refuses a name that could be more than a name", async () => {
    for (const actor of ["", "a/../b", "$(touch x)", "a b", "-x"]) {
      const { code, asked } = await check({ actor });
      assert.deepEqual([code, asked.length], [1, 0], actor);
    }
  });

  const forks: [string, Event, number][] = [
    ["a branch of this repository", { name: "pull_request", payload: pull(own) }, 0],
    ["a branch of a fork", { name: "pull_request_target", payload: pull(fork) }, 1],
    ["a fork that is gone", { name: "pull_request", payload: pull(null) }, 1],
    ["a branch of a fork, when those are let in", { name: "pull_request", payload: pull(fork), forks: "true" }, 0],
    ["a named actor with a fork", { name: "pull_request", payload: pull(fork), allowed: "alice" }, 1],
    ["a run for a fork", { name: "workflow_run", payload: { workflow_run: { head_repository: fork } } }, 1],
    ["a run for a branch of this repository", { name: "workflow_run", payload: { workflow_run: { head_repository: own } } }, 0],
    ["a comment on an issue", { payload: { issue: { number: 7 } } }, 0],
    ["a push", { name: "push", payload: { ref: "refs/heads/main" } }, 0],
  ];
  for (const [what, event, code] of forks) {
    it(`${code === 0 ? "lets in" : "refuses"} ${what}`, async () => {
      const ended = await check(event, alice);
      assert.equal(ended.code, code, ended.log);
    });
  }

  it("asks where the branch of a pull request is that somebody comments on", async () => {
    const payload = { issue: { number: 7, pull_request: { url: "https://api.github.com/elsewhere" } } };
    const path = `/repos/${repository}/pulls/7`;
    const of = (repo: unknown) => ({ ...alice, [path]: { head: { repo } } });
    assert.deepEqual([(await check({ payload }, of(own))).code, (await check({ payload }, of(fork))).code], [0, 1]);
    assert.equal((await check({ payload }, of(null))).code, 1);
    assert.equal((await check({ payload }, alice)).code, 1);
    assert.equal((await check({ payload: { issue: { number: "7/../8", pull_request: {} } } }, alice)).code, 1);
  });

  it("does not ask who triggered a schedule", async () => {
    const { code, asked } = await check({ name: "schedule", actor: "gone" });
    assert.deepEqual([code, asked.length], [0, 0]);
  });
});

describe("the installation", () => {
  /** An npm that writes down how and where it was called. */
  function npm(): { PATH: string; called: () => string } {
    const folder = tempFolder("npm");
    writeFileSync(join(folder, "npm"), `#!/bin/sh\necho "$PWD $*" >> ${folder}/called\n`, { mode: 0o755 });
    return { PATH: `${folder}:${process.env["PATH"]}`, called: () => readFileSync(join(folder, "called"), "utf8") };
  }

  it("installs exactly one version, without scripts, away from the project", async () => {
    const { PATH, called } = npm();
    const temp = tempFolder("temp");
    const env = {
      PATH,
      OUTRIDER_VERSION: "1.2.3-beta.1",
      OUTRIDER_EXECUTABLE: "",
      RUNNER_TEMP: temp,
      GITHUB_OUTPUT: join(temp, "out"),
    };
    const { code, log } = await script("install.sh", env, { cwd: tempFolder("project") });
    assert.equal(code, 0, log);
    const folder = called().split(" ")[0] ?? "";
    assert.ok(folder.startsWith(join(temp, "outrider-")), folder);
    const words = "--ignore-scripts --no-audit --no-fund --no-package-lock outrider@1.2.3-beta.1";
    assert.equal(called(), `${folder} install --prefix ${folder} ${words}\n`);
    assert.equal(readFileSync(join(temp, "out"), "utf8"), `executable=${folder}/node_modules/.bin/outrider\n`);
  });

  it("refuses what is not one version", async () => {
    const { PATH } = npm();
    for (const OUTRIDER_VERSION of ["latest", "^1.0.0", "1", "", "1.2.3 evil", "npm:evil@1.0.0", "1.2.3\n4"]) {
      const { code, log } = await script("install.sh", { PATH, OUTRIDER_VERSION, OUTRIDER_EXECUTABLE: "" });
      assert.equal(code, 1, OUTRIDER_VERSION);
      assert.match(log, /must be one exact version/);
    }
  });

  it("installs a tarball instead, by its whole path or address", async () => {
    const tarball = join(tempFolder("package"), "outrider.tgz");
    writeFileSync(tarball, "");
    for (const OUTRIDER_PACKAGE of [tarball, "https://example.org/outrider.tgz"]) {
      const { PATH, called } = npm();
      const temp = tempFolder("temp");
      const env = {
        PATH,
        OUTRIDER_PACKAGE,
        OUTRIDER_EXECUTABLE: "",
        OUTRIDER_VERSION: "1.2.3",
        RUNNER_TEMP: temp,
        GITHUB_OUTPUT: join(temp, "out"),
      };
      const { code, log } = await script("install.sh", env);
      assert.equal(code, 0, log);
      assert.ok(called().endsWith(` --no-package-lock ${OUTRIDER_PACKAGE}\n`), called());
    }
    for (const OUTRIDER_PACKAGE of ["outrider.tgz", "/none.tgz", "http://example.org/o.tgz", "npm:evil", "--registry=x"]) {
      const { code, log } = await script("install.sh", { PATH: npm().PATH, OUTRIDER_PACKAGE, OUTRIDER_EXECUTABLE: "" });
      assert.deepEqual([code, /The input package/.test(log)], [1, true], OUTRIDER_PACKAGE);
    }
  });

  it("takes a program that is there already", async () => {
    const out = join(tempFolder("out"), "out");
    assert.equal((await script("install.sh", { OUTRIDER_EXECUTABLE: bin, GITHUB_OUTPUT: out })).code, 0);
    assert.equal(readFileSync(out, "utf8"), `executable=${bin}\n`);
    assert.equal((await script("install.sh", { OUTRIDER_EXECUTABLE: "no-such-program", GITHUB_OUTPUT: out })).code, 1);
  });
});

describe("the run", () => {
  type Started = (child: ChildProcess, cwd: string) => void;

  async function runAction(inputs: Record<string, string>, replies: Parameters<typeof model>[0], started?: Started) {
    const folder = tempFolder("run");
    const cwd = join(folder, "work");
    mkdirSync(cwd);
    const { env, server } = await model(replies, join(folder, "home"));
    const step = definition.runs.steps.find(({ id }) => id === "run");
    const given = Object.entries(step?.env ?? {}).map(([name, value]) => {
      const input = /^\$\{\{ inputs\.([\w-]+) \}\}$/.exec(value)?.[1];
      if (input === undefined) return [name, bin];
      return [name, inputs[input] ?? definition.inputs[input]?.default ?? ""];
    });
    const files = { GITHUB_OUTPUT: join(folder, "output"), GITHUB_STEP_SUMMARY: join(folder, "summary") };
    const runner = { ...files, RUNNER_TEMP: folder, GITHUB_ACTIONS: "true", CI: "true" };
    const ended = await script(
      "run.sh",
      { ...env, ...runner, ...Object.fromEntries(given) },
      { cwd, started: (child) => started?.(child, cwd) },
    );
    const outputs = readFileSync(files.GITHUB_OUTPUT, "utf8");
    const outputFile = /^output_file=(.*)$/m.exec(outputs)?.[1] ?? "";
    const summary = existsSync(files.GITHUB_STEP_SUMMARY) ? readFileSync(files.GITHUB_STEP_SUMMARY, "utf8") : "";
    return { ...ended, cwd, server, outputs, summary, printed: readFileSync(outputFile, "utf8") };
  }

  it("hands the prompt over as it is, and says the answer in the log, where nobody obeys it", async () => {
    const prompt = "--version $(touch pwned) `touch pwned` \"quoted\" 'too'\n::error::no\n-p x";
    const answer = "Hello.\n::set-output name=outcome::failed\n";
    const { code, log, server, outputs, printed } = await runAction({ prompt }, [{ text: answer }]);
    assert.equal(code, 0, log);
    assert.ok(JSON.stringify(server.requests[0]?.body).includes(JSON.stringify(prompt).slice(1, -1)));
    assert.equal(printed, `${answer}\n`);
    assert.match(outputs, /^outcome<<\S+\ncompleted$/m);
    assert.match(
      log,
      /::group::Outrider: answer\n::stop-commands::(\S+)\nHello\.\n::set-output[^\n]*\n\n\n::\1::\n::endgroup::\n$/,
    );
  });

  it("takes a prompt that begins with a slash as text, also from a file", async () => {
    for (const prompt of ["/outrider what changed here?", "/compact"]) {
      const given = await runAction({ prompt }, [{ text: "Nothing." }]);
      assert.equal(given.code, 0, given.log);
      assert.ok(JSON.stringify(given.server.requests[0]?.body).includes(prompt));
    }
    const file = join(tempFolder("prompt"), "prompt.txt");
    writeFileSync(file, "/outrider and this?");
    const read = await runAction({ "prompt-file": file }, [{ text: "Nothing." }]);
    assert.equal(read.code, 0, read.log);
  });

  it("keeps the run as a page that its summary names and links, also when it fails, unless nobody wants it", async () => {
    const kept = await runAction({ prompt: "hi" }, [
      { status: 400, body: { type: "error", error: { type: "invalid_request_error", message: "no" } } },
    ]);
    assert.equal(kept.code, 1, kept.log);
    const file = /^report_file=(.*)$/m.exec(kept.outputs)?.[1] ?? "";
    assert.match(readFileSync(file, "utf8"), /^<!doctype html>[\s\S]*Content-Security-Policy/);
    assert.ok(kept.summary.includes(`The run as a page: \`${file}\``), kept.summary);
    const summary = join(tempFolder("link"), "summary");
    const { code } = await script("link-report.sh", {
      GITHUB_STEP_SUMMARY: summary,
      OUTRIDER_REPORT_URL: "https://x.invalid/a/1",
    });
    assert.deepEqual(
      [code, readFileSync(summary, "utf8")],
      [0, "\n[The run as a page](https://x.invalid/a/1): every step, change and cost.\n"],
    );
    const none = await runAction({ prompt: "hi", report: "false" }, [{ text: "Hello." }]);
    assert.doesNotMatch(none.outputs + none.summary, /report_file|as a page/);
  });

  it("gives each input to the command as one argument", async () => {
    const bash = { name: "Bash", input: { command: "echo made > by-bash.txt" } };
    const write = { name: "Write", input: { file_path: "by-write.txt", content: "1" } };
    const inputs = {
      prompt: "go",
      "permission-mode": "acceptEdits",
      "allowed-tools": "Bash(echo made:*)\r\n\nWebSearch",
      "disallowed-tools": "Write",
      "output-format": "json",
      "extra-args": "--append-system-prompt\nTwo words; $HOME",
      sandbox: "off",
    };
    const { code, printed, log, server } = await runAction(inputs, [{ calls: [bash, write] }, { text: "Done." }]);
    assert.equal(code, 0, log);
    const result = JSON.parse(printed);
    assert.deepEqual([result.result, result.permission_denials.length], ["Done.", 0]);
    const asked = JSON.stringify(server.requests);
    assert.match(asked, /Two words; \$HOME/);
    assert.doesNotMatch(asked, /"name":"Write"[^}]*"description"/);
  });

  it("ends with the exit code of the command, and has its outputs then too", async () => {
    const { code, outputs, log } = await runAction({ prompt: "go", "max-turns": "1" }, () => ({
      calls: [{ name: "Read", input: { file_path: "x" } }],
    }));
    assert.equal(code, 75, log);
    assert.match(outputs, /^outcome<<\S+\nstopped$/m);
    assert.equal((await runAction({ prompt: "" }, [])).code, 66);
    assert.equal((await runAction({ prompt: "go", "max-turns": "-p" }, [])).code, 64);
  });

  it("hands it on when the runner cancels the job, and waits for the report", async () => {
    const inputs = { prompt: "go", "allowed-tools": "Bash", sandbox: "off" };
    const sleep = { calls: [{ name: "Bash", input: { command: "touch started; sleep 60" } }] };
    const { code, outputs, log } = await runAction(inputs, [sleep], (child, cwd) => {
      void eventually(() => existsSync(join(cwd, "started")), "the tool runs").then(() => child.kill("SIGINT"));
    });
    assert.equal(code, 124, log);
    assert.match(outputs, /^outcome<<\S+\ncancelled$/m);
  });

  it("takes the prompt from a file", async () => {
    const file = join(tempFolder("prompt"), "-prompt.md");
    writeFileSync(file, "from a file");
    const { server } = await runAction({ "prompt-file": file }, [{ text: "Ok." }]);
    assert.match(JSON.stringify(server.requests[0]?.body), /from a file/);
  });
});

describe("action.yml", () => {
  it("lets no expression into a script", () => {
    const used = definition.runs.steps.flatMap(({ uses }) => uses ?? []);
    assert.deepEqual(used, ["actions/upload-artifact@v4"]);
    for (const { name, run = "", shell, uses } of definition.runs.steps) {
      if (uses !== undefined) continue;
      assert.match(run, /^(?:exec )?bash "\$GITHUB_ACTION_PATH\/[a-z-]+\.sh"$/, name);
      assert.equal(shell, "bash");
    }
  });

  it("gives every input to a step, and has no output that the command does not leave", () => {
    const text = JSON.stringify(definition.runs.steps);
    for (const input of Object.keys(definition.inputs)) assert.ok(text.includes(`{{ inputs.${input} }}`), input);
    const source = readFileSync(join(projectRoot, "packages/cli/src/ci/outputs.ts"), "utf8");
    for (const [name, { value }] of Object.entries(definition.outputs)) {
      assert.equal(value, `\${{ steps.run.outputs.${name} }}`);
      assert.ok(name === "output_file" || name === "report_file" || source.includes(`${name}:`), name);
    }
  });

  it("uses flags that exist, and the version of this tree", () => {
    const used = readFileSync(join(action, "run.sh"), "utf8").matchAll(/--([a-zA-Z-]{3,})/g);
    const known: string[] = flags.map(({ name }) => name);
    for (const [, name = ""] of used) assert.ok(known.includes(name), name);
    const { version } = JSON.parse(readFileSync(join(projectRoot, "packages/cli/package.json"), "utf8"));
    assert.equal(definition.inputs["version"]?.default, version);
  });
});
