import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, statSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { createLocalWorkspace } from "../../workspace/local.ts";
import type { Workspace } from "../../workspace/workspace.ts";
import { checkInput } from "../input.ts";
import { defaultOutputLimit } from "../output-limit.ts";
import { createToolMemory, ToolFailure, type ToolMemory, type ToolOutput } from "../tool.ts";
import { bashTool } from "./bash.ts";

let base: string;
let root: string;
let workspace: Workspace;
let memory: ToolMemory;
const env = { PATH: process.env["PATH"] ?? "", LANG: "C.UTF-8" };

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "outrider-bash-")));
  root = join(base, "it's a root");
  mkdirSync(join(root, "sub/deep"), { recursive: true });
  workspace = createLocalWorkspace({ root, env, overflowDirectory: join(base, "over 'flow") });
  memory = createToolMemory();
});

afterEach(async () => {
  await workspace.close();
  rmSync(base, { recursive: true, force: true });
});

type Extra = { timeout?: number; signal?: AbortSignal; progress?: (text: string) => void };

function call(command: string, extra: Extra = {}): Promise<ToolOutput> {
  const input = { command, ...(extra.timeout !== undefined && { timeout: extra.timeout }) };
  const signal = extra.signal ?? new AbortController().signal;
  return bashTool.execute(input, { callId: "c1", workspace, signal, progress: extra.progress ?? (() => {}), memory });
}

async function say(command: string): Promise<string> {
  return textOf(await call(command));
}

function textOf(output: ToolOutput): string {
  return output.content.map((part) => (part.type === "text" ? part.text : "")).join("");
}

describe("Bash", () => {
  it("declares itself as one program run", async () => {
    assert.deepEqual(await bashTool.access({ command: "ls -l" }, workspace), { kind: "run", resources: ["ls -l"] });
    const outside = await bashTool.access({ command: "ls", dangerouslyDisableSandbox: true }, workspace);
    assert.deepEqual(outside, { kind: "run", resources: ["ls"], outside: true });
    assert.equal(bashTool.concurrent, false);
    assert.deepEqual(await checkInput(bashTool.inputSchema, { command: "ls", timeout: 600_000, description: "look" }), {
      ok: true,
    });
    assert.deepEqual(await checkInput(bashTool.inputSchema, { cmd: "ls", timeout: 600_001 }), {
      ok: false,
      message:
        '"command" is required but missing. "timeout" must be at most 600000, not 600001. "cmd" is not a known property; the known ones are "command", "timeout", "description", "run_in_background" and "dangerouslyDisableSandbox".',
    });
  });

  it("answers the output, and the exit code when it is bad news", async () => {
    const results = await Promise.all(
      ["echo hi", "true", "echo no >&2; exit 3", "false", "kill -9 $$"].map((command) => call(command)),
    );
    assert.deepEqual(
      results.map((result) => [textOf(result), result.isError, result.details]),
      [
        ["hi", false, { exitCode: 0 }],
        ["(no output)", false, { exitCode: 0 }],
        ["no\nExit code 3", true, { exitCode: 3 }],
        ["(no output)\nExit code 1", true, { exitCode: 1 }],
        ["(no output)\nThe shell was ended by SIGKILL. Exit code 137", true, { exitCode: 137 }],
      ],
    );
  });

  it("keeps the order of both streams", async () => {
    const text = await say("for i in $(seq 1 200); do echo o$i; echo e$i >&2; done");
    const expected = Array.from({ length: 200 }, (_, index) => `o${index + 1}\ne${index + 1}`).join("\n");
    assert.equal(text, expected);
  });

  it("decodes characters that come in pieces, and shows what a terminal would", async () => {
    assert.equal(
      await say(`printf '\\xf0\\x9f'; sleep 0.1; printf '\\x98\\x80|\\xff|\\n10%%\\r\\e[31m100%%\\e[0m'`),
      "😀|\ufffd|\n100%",
    );
  });

  it("tells programs that nobody is there", async () => {
    assert.equal(
      await say('echo "$TERM $PAGER $GIT_PAGER $GIT_EDITOR $GIT_TERMINAL_PROMPT"; cat; tty; [ -t 1 ] || echo no terminal'),
      "dumb cat cat true 0\nnot a tty\nno terminal",
    );
  });

  it("takes any text a model may write as a command", async () => {
    const cases: [string, string][] = [
      ["cat <<'EOF'\n$x `y` 'z' \\\nEOF", "$x `y` 'z' \\"],
      ["echo a # comment", "a"],
      ["echo 'single' \"double\" \\\\", "single double \\"],
      ["\n\n  echo x;\n", "x"],
      [`echo "$# $0 [\${1-unset}]"`, "0 bash [unset]"],
      ["f() { return 4; }; f; echo $?", "4"],
      ["set -x; echo x", "++ echo x\nx"],
      ["trap 'echo debug' DEBUG; echo x", "debug\nx"],
    ];
    for (const [command, expected] of cases) assert.equal(await say(command), expected);
  });

  it("takes a command longer than one argument may be", async () => {
    const line = "it's 'quoted' \\ text\n";
    const text = line.repeat(20_000);
    assert.equal(await say(`cat > big.txt <<'EOF'\n${text}EOF\nwc -c < big.txt`), String(text.length));
    assert.equal(readFileSync(join(root, "big.txt"), "utf8"), text);
  });

  it("shows nothing of its own lines, however the end of a command stays open", async () => {
    const open = [
      "echo 'a",
      'echo "a',
      "echo a\\",
      "echo `ls",
      "echo $(ls",
      "cat <<E\nhi",
      "if true; then",
      "[[ a",
      "((1+",
      "echo ${x",
      "f() {",
    ];
    for (const command of [...open, "set -v; echo hi", "set -x; echo hi"])
      assert.doesNotMatch(await say(command), /outrider_|working-directory|builtin|\$PWD/, command);
    assert.equal(await say("echo a\\"), "a\\");
    assert.match(await say("echo 'a"), /^bash: line 1: unexpected EOF while looking for matching `''\nExit code [12]$/);
  });

  it("reports syntax errors and goes on with the next call", async () => {
    for (const command of ["echo (", "if true; then echo x", "echo 'open", "cat <<EOF\nnever closed"]) {
      const result = await call(command);
      const closed = /never closed/.test(command);
      assert.match(textOf(result), closed ? /never closed\n?$/ : /(unexpected|syntax error)[\s\S]*Exit code [12]$/);
    }
    assert.equal(await say("echo fine"), "fine");
  });

  it("says clearly when there is no bash or the command cannot be passed on", async () => {
    const bare = createLocalWorkspace({ root, env: { PATH: base }, overflowDirectory: base });
    const context = {
      callId: "c",
      workspace: bare,
      signal: new AbortController().signal,
      progress: () => {},
      memory: createToolMemory(),
    };
    await assert.rejects(bashTool.execute({ command: "true" }, context), { name: "ToolFailure", message: /no bash/ });
    await assert.rejects(call("echo a\0b"), { name: "ToolFailure", message: /NUL/ });
  });
});

describe("what bash complains about", () => {
  it("is told by the lines of the command, as if it had been typed", async () => {
    assert.equal(
      await say(`nope_1\necho 'a\\n"b'\nnope_3\ncat <<'END'\nit's \\t\nEND\n\${x:?gone}`),
      [
        "bash: line 1: nope_1: command not found",
        'a\\n"b',
        "bash: line 3: nope_3: command not found",
        "it's \\t",
        "bash: line 7: x: gone",
        "Exit code 127",
      ].join("\n"),
    );
    assert.match(
      await say("echo hi\nif then"),
      /^hi\nbash: line 2: syntax error near unexpected token `then'\nbash: line 2: `if then'\n/,
    );
  });
});

describe("the working directory", () => {
  const sub = (): string => join(root, "sub");

  it("carries over, however the command ends", async () => {
    const endings = [
      "cd sub",
      "cd sub; exit 5",
      "cd sub && false",
      "set -e; cd sub; false; echo not reached",
      "cd sub; trap 'echo own trap' EXIT",
      "cd sub; trap - EXIT",
      "set -eu; cd sub; echo $undefined_name",
      `cd sub; : \${undefined_name:?}`,
      "cd sub\necho (",
      "cd sub; exec > /dev/null 2>&1",
      "set -C; cd sub",
      "cd sub; set -x",
      "cd sub; kill $$",
      "pushd sub > /dev/null; pwd() { echo mine; }",
      "cd sub; PWD=/nowhere",
    ];
    for (const ending of endings) {
      memory = createToolMemory();
      await call(ending);
      assert.equal(await say("pwd"), sub(), ending);
    }
  });

  it("stays what it was when the shell had no chance to tell, and inside subshells", async () => {
    await call("cd sub");
    for (const ending of ["cd deep; exec true", "cd deep; kill -9 $$", "(cd deep)", "cd deep | cat", "cd nowhere"]) {
      await call(ending);
      assert.equal(await say("pwd"), sub(), ending);
    }
  });

  it("survives a command's own EXIT trap with its status and output", async () => {
    const result = await call("trap 'echo bye $?' EXIT; cd sub; (exit 6)");
    assert.deepEqual(
      [textOf(result), result.details],
      [`bye 6\n(The working directory is ${sub()} now.)\nExit code 6`, { exitCode: 6 }],
    );
    assert.equal(await say("pwd"), sub());
  });

  it("keeps the name it was reached by, and odd names", async () => {
    symlinkSync("sub", join(root, "alias"));
    const alias = join(root, "alias");
    assert.equal(await say("cd alias; true"), `(no output)\n(The working directory is ${alias} now.)`);
    assert.equal(await say("pwd; cd ..; pwd"), `${alias}\n${root}\n(The working directory is ${root} now.)`);
    await call("mkdir $'new\\nline\\n' && cd $'new\\nline\\n'");
    assert.equal(await say('basename "$PWD"; pwd -P | wc -l'), "new\nline\n\n3");
  });

  it("stays within the project, and says so", async () => {
    const said = await say("cd /; pwd");
    assert.equal(said, `/\n(/ is outside of the project: the working directory is ${root}.)`);
    assert.equal(await say("pwd"), root);
    symlinkSync("/", join(root, "way-out"));
    assert.match(await say("cd way-out"), /is outside of the project/);
    rmSync(join(root, "way-out"));
  });

  it("falls back to the root and says so when it is gone", async () => {
    await call("cd sub/deep && rm -rf ../../sub");
    const gone = join(root, "sub/deep");
    assert.equal(await say("pwd"), `(The working directory ${gone} no longer exists; the command was run in ${root}.)\n${root}`);
    assert.equal(await say("pwd"), root);
  });

  it("outlives the loss of the file it is noted in", async () => {
    await call("cd sub");
    rmSync(join(base, "over 'flow"), { recursive: true });
    assert.match(await say("cd deep; pwd"), new RegExp(`^${join(root, "sub/deep")}$`, "m"));
    await call("cd deep");
    assert.equal(await say("pwd"), join(root, "sub/deep"));
  });
});

describe("long output", () => {
  it("is cut in the middle, saved whole, and never longer than the limit", async () => {
    const result = await call("seq 1 20000; exit 2");
    const text = textOf(result);
    const path = result.details?.fullOutputPath ?? "";
    assert.ok(text.length <= defaultOutputLimit && text.length > defaultOutputLimit * 0.8, String(text.length));
    assert.match(text, /^1\n2\n[\s\S]*\n… \d+ characters omitted; the whole output is in [\s\S]*\n19999\n20000\nExit code 2$/);
    assert.ok(text.includes(path) && path !== "");
    assert.equal(readFileSync(path, "utf8").trim().split("\n").length, 20_000);
    assert.equal(statSync(path).mode & 0o777, 0o600);
  });

  it("of 200 MB costs neither memory nor disk to match", async () => {
    const before = process.memoryUsage().rss;
    let peak = before;
    const watch = setInterval(() => {
      peak = Math.max(peak, process.memoryUsage().rss);
    }, 20);
    const result = await call("yes 0123456789 | head -c 200000000; echo; echo the end");
    clearInterval(watch);
    assert.match(
      textOf(result),
      /^0123456789\n[\s\S]*1999[0-9]{5} characters omitted; the first 16777216 characters are in [\s\S]*, the rest is lost …\n[\s\S]*the end$/,
    );
    assert.equal(statSync(result.details?.fullOutputPath ?? "").size, 16_777_216);
    assert.ok(peak - before < 150e6, `grew by ${Math.round((peak - before) / 1e6)} MB`);
  });
});

describe("stopping", () => {
  it("a timeout shows what came and says why it ended", async () => {
    const result = await call("echo begun; sleep 60", { timeout: 300 });
    assert.deepEqual(
      [textOf(result), result.isError, result.details],
      [
        "begun\nStopped after 300 ms, the time limit; the processes of the command were ended. If it needs longer, give a timeout of up to 600000 ms, or run it with run_in_background.",
        true,
        {},
      ],
    );
  });

  it("an abort throws with what came", async () => {
    const abort = new AbortController();
    const running = call("echo begun; sleep 60", { signal: abort.signal, progress: () => abort.abort() });
    await assert.rejects(running, (error) => {
      assert.ok(error instanceof ToolFailure);
      assert.equal(error.message, "begun\nInterrupted; the processes of the command were ended.");
      return true;
    });
  });

  it("a server in the background neither delays the answer nor dies with the command", async () => {
    const started = performance.now();
    const pid = Number(await say("sleep 61 & echo $!"));
    assert.ok(performance.now() - started < 5_000);
    assert.ok(process.kill(pid, 0));
    await workspace.close();
  });

  it("progress shows the last words now and then, not every time", async () => {
    const seen: string[] = [];
    await call("for i in $(seq 1 100); do echo line $i; sleep 0.01; done; sleep 0.5", { progress: (text) => seen.push(text) });
    assert.ok(seen.length >= 2 && seen.length < 40, String(seen.length));
    assert.ok(seen.at(-1)?.endsWith("line 100\n") && seen.every((text) => text.length <= 2_000));
  });
});

it("leaves nothing in the workspace", async () => {
  await call("true");
  assert.deepEqual(readdirSync(root), ["sub"]);
});
