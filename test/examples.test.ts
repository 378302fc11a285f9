import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, describe, it } from "node:test";
import { build } from "esbuild";
import { parse } from "yaml";
import { bin, lines, projectRoot, tempFolder } from "./e2e/command.ts";

const examples = join(projectRoot, "examples");
const names = readdirSync(examples).filter((name) => statSync(join(examples, name)).isDirectory());

/** Which test runs each example. */
const shownBy: Readonly<Record<string, string>> = {
  "agent-sdk": "test/agent-sdk/examples.suite.ts",
  batch: "test/examples.test.ts",
  "batch-refactor": "test/examples.test.ts",
  "chat-page": "test/browser/chat-page.test.ts",
  "command-module": "test/examples.test.ts",
  "dependency-upgrade": "test/examples.test.ts",
  "issue-triage": "test/examples.test.ts",
  "pipeline-test": "test/e2e/replay.test.ts",
  plugin: "test/e2e/plugins.test.ts",
  "pr-review": "test/examples.test.ts",
};

describe("the examples", () => {
  it("have a README, are in the list, and each is run by a test", () => {
    assert.deepEqual(names, Object.keys(shownBy));
    const list = readFileSync(join(examples, "README.md"), "utf8");
    for (const [name, file] of Object.entries(shownBy)) {
      assert.ok(list.includes(`](${name}/README.md)`), `${name} is not in the list`);
      assert.ok(existsSync(join(examples, name, "README.md")), `${name} has no README`);
      assert.ok(readFileSync(join(projectRoot, file), "utf8").includes(name), `${file} does not run ${name}`);
    }
  });

  it("are in both packages, as the documents that lead to them", () => {
    for (const place of ["packages/cli", "packages/runtime"])
      for (const name of names)
        assert.ok(existsSync(join(projectRoot, place, "examples", name, "README.md")), `${place}: ${name}`);
  });

  it("have workflows that are YAML, with a key for the one step that asks a model", () => {
    for (const name of ["pr-review", "dependency-upgrade"]) {
      const { jobs, permissions } = parse(readFileSync(join(examples, name, "workflow.yml"), "utf8"));
      const steps = Object.values<{ steps: { env?: object; run?: string }[] }>(jobs).flatMap((job) => job.steps);
      const asking = steps.filter(({ env }) => env !== undefined);
      assert.deepEqual([permissions, asking.length], [{ contents: "read" }, 1]);
      assert.match(asking[0]?.run ?? "", /^sh \.github\/\w+\/\w+\.sh /);
    }
  });
});

/** A copy of an example in a home of its own, with our command on the path. */
function copy(name: string) {
  const top = tempFolder(name);
  const [home, path, folder] = [join(top, "home"), join(top, "bin"), join(top, name)];
  for (const made of [home, path]) mkdirSync(made);
  cpSync(join(examples, name), folder, { recursive: true });
  symlinkSync(bin, join(path, "outrider"));
  symlinkSync(process.execPath, join(path, "node"));
  const env = { HOME: home, PATH: `${path}:${process.env["PATH"] ?? ""}` };
  const attempt = (more: Record<string, string> = {}): Promise<Said> =>
    say("sh", ["try.sh"], { cwd: folder, env: { ...env, ...more } });
  return { folder, env, attempt };
}

type Said = { readonly code: number | null; readonly stdout: string; readonly stderr: string };

async function say(
  program: string,
  args: readonly string[],
  { cwd, env, input = "" }: { cwd: string; env: Record<string, string>; input?: string },
): Promise<Said> {
  const child = spawn(program, args, { cwd, env, stdio: "pipe" });
  let [stdout, stderr] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  child.stdin.end(input);
  return await new Promise((resolve) => child.on("close", (code) => resolve({ code, stdout, stderr })));
}

describe("examples/pr-review", () => {
  it("names the bug with its line, fails the check, and does not believe a line that the change does not touch", async () => {
    const { code, stdout, stderr } = await copy("pr-review").attempt();
    assert.equal(
      stdout,
      [
        "cart.js:3: error: The loop begins at 1: the first item of a cart is never paid for.",
        "cart.js: notice: Prices are added as floating-point numbers.",
        "2 findings\n",
      ].join("\n"),
      stderr,
    );
    assert.equal(code, 1);
  });

  it("annotates in GitHub Actions, and no finding can write a command of its own", async () => {
    const { folder, env, attempt } = copy("pr-review");
    const { stdout } = await attempt({ GITHUB_ACTIONS: "true" });
    assert.match(stdout, /^::error file=cart\.js,line=3,title=Review::The loop begins at 1: /);
    const diff = "--- a/a,b.js\n+++ b/a,b.js\n@@ -1 +1,2 @@\n a\n+b\n";
    const message = "100%\n::set-output name=x::y";
    const findings = [
      { file: "a,b.js", line: 2, severity: "warning", message },
      { file: "elsewhere.js", line: 2, severity: "warning", message: "made up" },
    ];
    const annotated = await say("sh", ["-c", 'printf "%s" "$DIFF" > diff && node annotate.mjs diff'], {
      cwd: folder,
      env: { ...env, DIFF: diff, GITHUB_ACTIONS: "true" },
      input: JSON.stringify({ findings }),
    });
    assert.equal(
      annotated.stdout,
      [
        "::warning file=a%2Cb.js,line=2,title=Review::100%25%0A::set-output name=x::y",
        "::warning title=Review::elsewhere.js: made up",
        "2 findings\n",
      ].join("\n"),
    );
    assert.equal(annotated.code, 0);
  });
});

describe("examples/issue-triage", () => {
  it("labels what was asked about, and leaves out what an issue talked the model into", async () => {
    const { code, stdout, stderr } = await copy("issue-triage").attempt();
    assert.deepEqual([code, stderr], [0, "#7 was not asked about: left out\n"]);
    assert.equal(
      stdout,
      [
        "gh issue edit 41 --add-label bug,priority-now  # A crash with an everyday file.",
        "gh issue edit 42 --add-label question,docs,priority-soon  # The manual does not say how.\n",
      ].join("\n"),
    );
  });
});

describe("examples/dependency-upgrade", () => {
  it("goes on until the check passes, and leaves a diff", async () => {
    const { code, stdout, stderr } = await copy("dependency-upgrade").attempt();
    assert.equal(code, 0, stdout + stderr);
    assert.match(stdout, /^ {2}greet takes an object now[^\n]*\n {2}The object has a name[^\n]*\nThe check passes after 2 tries/);
    assert.match(stdout, /\n\+ {2}return `\$\{greet\(\{ name: customer \}\)\}!`;\n/);
  });

  it("fails with the output of the check where the tries are not enough", async () => {
    const { code, stdout } = await copy("dependency-upgrade").attempt({ TRIES: "1" });
    assert.equal(code, 1);
    assert.match(stdout, /After 1 tries the check still fails:[\s\S]*Hello, undefined!/);
  });
});

describe("examples/batch", () => {
  it("has one model do all three tasks, and the other one of them", async () => {
    const { folder, env } = copy("batch");
    const { code, stderr, stdout } = await say("outrider", ["batch", "tasks.jsonl", "--out", "results", "--bare"], {
      cwd: folder,
      env,
    });
    assert.equal(code, 1, stdout + stderr);
    const summary = readFileSync(join(folder, "results/summary.txt"), "utf8");
    assert.match(summary, /diligent\.json +3\/3/);
    assert.match(summary, /hasty\.json +1\/3/);
  });
});

describe("examples/batch-refactor", () => {
  it("merges what passes, and leaves aside what does not merge or breaks the check", async () => {
    const { code, stdout, stderr } = await copy("batch-refactor").attempt();
    assert.deepEqual(
      stdout.trimEnd().split("\n"),
      [
        "names: merged",
        "rounding: left, it does not merge",
        "tax: nothing was changed",
        "hours: left, the check fails with it",
        "Refactor: names",
        "The shop",
      ],
      stderr,
    );
    assert.equal(code, 1);
  });
});

describe("examples/command-module", () => {
  // Inside the project, so that @outrider/runtime is found as an installed package is.
  const built = join(projectRoot, `.cache/command-module-${process.pid}`);
  const { folder, env } = copy("command-module");
  const scripted = { ...env, SCRIPT: join(folder, "replies.json") };
  before(async () => {
    await build({
      entryPoints: ["one-shot", "live", "acp", "server"].map((name) => join(folder, `${name}.ts`)),
      outdir: built,
      outExtension: { ".js": ".mjs" },
      bundle: true,
      packages: "external",
      format: "esm",
      platform: "node",
    });
  });
  after(async () => {
    const { rm } = await import("node:fs/promises");
    await rm(built, { recursive: true, force: true });
  });

  it("imports nothing but published names and Node's own modules", () => {
    const { exports } = JSON.parse(readFileSync(join(projectRoot, "packages/runtime/package.json"), "utf8"));
    const published = Object.keys(exports).map((path) => join("@outrider/runtime", path));
    for (const file of readdirSync(folder).filter((name) => name.endsWith(".ts")))
      for (const [, from = ""] of readFileSync(join(folder, file), "utf8").matchAll(/ from "([^"]+)"/g))
        assert.ok(published.includes(from) || /^(node:|\.\/[\w-]+\.ts$)/.test(from), `${file} imports ${from}`);
  });

  it("works in one prompt", async () => {
    const { code, stdout, stderr } = await say(process.execPath, [join(built, "one-shot.mjs"), "/notes add milk"], {
      cwd: folder,
      env: scripted,
    });
    assert.deepEqual([code, stdout], [0, "Note 1: milk\n"], stderr);
  });

  it("works over lines, typed and called by the model", async () => {
    const input = readFileSync(join(folder, "prompts.ndjson"), "utf8");
    const { code, stdout, stderr } = await say(process.execPath, [join(built, "live.mjs")], {
      cwd: folder,
      env: scripted,
      input,
    });
    const frames = lines(stdout);
    assert.equal(code, 0, stderr);
    assert.ok(JSON.stringify(frames[0]?.["slash_commands"]).includes('"notes"'), stdout.slice(0, 500));
    assert.deepEqual(
      frames.flatMap(({ type, result }) => (type === "result" ? [result] : [])),
      ["Note 1: milk", "Bread is on the list.", "milk\nbread"],
    );
  });

  it("works for editors, which are told that there is such a command", async () => {
    const ask = (id: number, method: string, params: object): string =>
      `${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`;
    const child = spawn(process.execPath, [join(built, "acp.mjs")], { cwd: folder, env: scripted, stdio: "pipe" });
    after(() => child.kill());
    const told = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const heard: string[] = [];
    const answered = async (id: number): Promise<Record<string, string>> => {
      for (let next = await told.next(); !next.done; next = await told.next()) {
        heard.push(next.value);
        const message = JSON.parse(next.value);
        if (message.id === id) return message.result;
      }
      throw new Error(`It ended without an answer to ${id}`);
    };
    child.stdin.write(ask(1, "initialize", { protocolVersion: 1, clientCapabilities: {} }));
    child.stdin.write(ask(2, "session/new", { cwd: folder, mcpServers: [] }));
    const { sessionId } = await answered(2);
    const prompt = [{ type: "text", text: "/notes add milk" }];
    child.stdin.write(ask(3, "session/prompt", { sessionId, prompt }));
    const { stopReason } = await answered(3);
    child.stdin.end();
    assert.equal(stopReason, "end_turn");
    assert.match(heard.join("\n"), /"available_commands_update".*"name":"notes"/);
    assert.match(heard.join("\n"), /Note 1: milk/);
  });

  it("works on a server, and each session has its own notes", async () => {
    const child = spawn(process.execPath, [join(built, "server.mjs")], { cwd: folder, env: scripted, stdio: "pipe" });
    after(() => child.kill());
    const [url = "", tokenPath = ""] = await new Promise<string[]>((resolve) =>
      child.stdout.setEncoding("utf8").once("data", (text: string) => resolve(text.trim().split(" "))),
    );
    const ask = async (path: string, body: unknown) => {
      const headers = { authorization: `Bearer ${readFileSync(tokenPath, "utf8").trim()}`, "content-type": "application/json" };
      const answer = await fetch(`${url}/v1${path}`, { method: "POST", headers, body: JSON.stringify(body) });
      return (await answer.json()) as { id: string; outcome: { text: string } };
    };
    const [one, other] = [await ask("/sessions", {}), await ask("/sessions", {})];
    const said = [];
    for (const [id, text] of [
      [one.id, "/notes add milk"],
      [other.id, "/notes add bread"],
      [one.id, "/notes"],
    ])
      said.push((await ask(`/sessions/${id}/messages`, { text })).outcome.text);
    assert.deepEqual(said, ["Note 1: milk", "Note 1: bread", "milk"]);
    child.kill();
    assert.equal(await new Promise((resolve) => child.on("close", resolve)), 0);
  });
});
