import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { bin, launcher, eventually, lines, model, processesWith, run, start, tempFolder } from "./command.ts";

const onLinux = { skip: process.platform !== "linux" };
/** Seconds that nobody else sleeps for: how a test knows its processes. */
let rounds = 0;
const newMark = (): string => `8${process.pid}.${++rounds}`;

type Place = { cwd: string; env: Record<string, string>; requests: () => number };

async function place(replies: Parameters<typeof model>[0]): Promise<Place> {
  const folder = tempFolder("leftovers");
  const cwd = join(folder, "work");
  mkdirSync(cwd);
  const { env, server } = await model(replies, join(folder, "home"));
  return { cwd, env, requests: () => server.requests.length };
}

const bash = (command: string) => ({ calls: [{ name: "Bash", input: { command } }] });
const allowed = ["--allowedTools", "Bash", "--sandbox", "off"];

/** An MCP server that minds no signal and starts something of its own. */
function stubbornServer(cwd: string, mark: string): string[] {
  const file = join(cwd, "server.mjs");
  writeFileSync(
    file,
    `import { spawn } from "node:child_process";
     import { createInterface } from "node:readline";
     for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(signal, () => {});
     spawn("setsid", ["sleep", ${JSON.stringify(mark)}], { stdio: "ignore", detached: true });
     setInterval(() => {}, 1000);
     const say = (id, result) => console.log(JSON.stringify({ jsonrpc: "2.0", id, result }));
     createInterface({ input: process.stdin }).on("line", (line) => {
       const { id, method, params } = JSON.parse(line);
       if (method === "initialize")
         say(id, { protocolVersion: params.protocolVersion, capabilities: {}, serverInfo: { name: "s", version: "1" } });
     });`,
  );
  return ["--mcp-config", JSON.stringify({ mcpServers: { s: { command: process.execPath, args: [file] } } })];
}

function killLater(mark: string): void {
  after(() => {
    for (const pid of processesWith(mark)) process.kill(pid, "SIGKILL");
  });
}

describe("after a run", onLinux, () => {
  it("nothing is left of what commands started, and it says what it stopped", async () => {
    const mark = newMark();
    killLater(mark);
    const command = [
      `sleep ${mark} &`,
      `nohup sleep ${mark} > /dev/null 2>&1 &`,
      `(setsid bash -c 'trap "" TERM HUP; sleep ${mark}' > /dev/null 2>&1 &)`,
      `(env -i PATH="$PATH" setsid sleep ${mark} > /dev/null 2>&1 < /dev/null &)`,
      "echo started",
    ].join("\n");
    const at = await place([bash(command), { text: "Done." }]);
    const ended = await run(["-p", "go", ...allowed, ...stubbornServer(at.cwd, mark)], at);
    assert.deepEqual([ended.code, ended.stdout], [0, "Done.\n"], ended.stderr);
    assert.match(
      ended.stderr,
      new RegExp(`^outrider: Stopped with the session, because commands had left it[^\n]*sleep ${mark}`),
    );
    assert.deepEqual([processesWith(`sleep\0${mark}`), processesWith(join(at.cwd, "server.mjs"))], [[], []]);
  });

  for (const event of ["SessionStart", "PreToolUse", "Stop", "SessionEnd"])
    it(`nothing is left when it is cancelled while a hook hangs that minds no signal: ${event}`, async () => {
      const mark = newMark();
      killLater(mark);
      const at = await place([bash("echo hi"), { text: "Done." }]);
      const command = `trap "" TERM INT HUP; (setsid sleep ${mark} &); touch hooked; sleep ${mark}; sleep ${mark}`;
      const settings = JSON.stringify({ hooks: { [event]: [{ hooks: [{ type: "command", command }] }] } });
      const words = ["--output-format", "json", "--settings", settings, ...allowed, ...stubbornServer(at.cwd, mark)];
      const { child, done } = start(["-p", "go", ...words], at);
      after(() => child.kill("SIGKILL"));
      await eventually(() => existsSync(join(at.cwd, "hooked")), "the hook runs");
      const told = Date.now();
      child.kill("SIGTERM");
      const ended = await done;
      const [result] = lines(ended.stdout);
      // One that has its result keeps to it.
      assert.deepEqual([ended.code, result?.["is_error"]], event === "SessionEnd" ? [0, false] : [124, true], ended.stderr);
      assert.ok(Date.now() - told < 5_000);
      assert.deepEqual([processesWith(`sleep\0${mark}`), processesWith(join(at.cwd, "server.mjs"))], [[], []]);
    });

  for (const input of ["text", "stream-json"])
    it(`there is a result when it is cancelled while a server hangs: ${input}`, async () => {
      const mark = newMark();
      killLater(mark);
      const at = await place([{ text: "Done." }]);
      const servers = JSON.stringify({ mcpServers: { s: { command: "sleep", args: [mark] } } });
      const words = input === "text" ? ["-p", "go"] : ["-p", "--input-format", input];
      const output = input === "text" ? "json" : input; // frames have no place for a wait before the first of them
      const { child, done } = start([...words, "--output-format", output, "--mcp-config", servers], {
        ...at,
        ...(input === "stream-json" && { stdin: "open" }),
      });
      after(() => child.kill("SIGKILL"));
      if (input === "stream-json") child.stdin.write('{"type":"user","content":"go"}\n');
      await eventually(() => processesWith(`sleep\0${mark}`).length === 1, "the server has been started");
      let said = "";
      child.stderr.on("data", (text: string) => {
        said += text;
      });
      if (input === "text") await eventually(() => /waiting for MCP server s, at most 10 s/.test(said), "the wait is told");
      child.kill("SIGTERM");
      const ended = await done;
      const results = lines(ended.stdout).filter(({ type }) => type === "result");
      assert.deepEqual([ended.code, results.length, results[0]?.["terminal_reason"]], [124, 1, "cancelled_signal"], ended.stderr);
      assert.deepEqual([processesWith(`sleep\0${mark}`), at.requests()], [[], 0]);
    });
});

describe("a reader that leaves while a tool works silently", onLinux, () => {
  for (const format of ["text", "json", "stream-json", "atif-jsonl", "live"])
    it(`stops the work: ${format}`, async () => {
      const mark = newMark();
      killLater(mark);
      const at = await place([bash(`touch started; sleep ${mark}`), { text: "Done." }]);
      const words =
        format === "live"
          ? ["-p", "--input-format", "stream-json", "--output-format", "stream-json"]
          : ["-p", "go", "--output-format", format];
      const writer = format === "live" ? `printf '{"type":"user","content":"go"}\\n'; sleep ${mark}` : "true";
      const reader = "while [ ! -e started ]; do sleep 0.05; done; exec <&-";
      const script = `exec 3>&1; { ${writer}; } | { "$0" "$@"; echo "code $?" >&3; } | { ${reader}; }`;
      const child = spawn("bash", ["-c", script, launcher, bin, ...words, ...allowed], {
        cwd: at.cwd,
        env: { PATH: process.env["PATH"] ?? "", HOME: at.cwd, ...at.env },
        stdio: ["ignore", "pipe", "ignore"],
      });
      after(() => child.kill("SIGKILL"));
      let said = "";
      child.stdout.setEncoding("utf8").on("data", (text: string) => {
        said += text;
      });
      await eventually(() => existsSync(join(at.cwd, "started")), "the tool works");
      await eventually(() => said === "code 124\n", `it has stopped (${said})`);
      assert.equal(at.requests(), 1);
      // What is left is the writer of this test, which does not mind.
      const left = processesWith(`sleep\0${mark}`).map((pid) => readFileSync(`/proc/${pid}/environ`, "utf8"));
      assert.ok(left.every((environment) => !environment.includes("OUTRIDER_PROCESS_SCOPE")));
    });

  it("ends a live session that nobody asks for anything", async () => {
    const at = await place([]);
    const { child, done } = start(["-p", "--input-format", "stream-json", "--output-format", "stream-json"], {
      ...at,
      stdin: "open",
    });
    after(() => child.kill("SIGKILL"));
    child.stdout.destroy();
    assert.equal((await done).code, 124);
  });
});
