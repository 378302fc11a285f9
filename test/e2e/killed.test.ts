import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after, describe, it } from "node:test";
import { bin, launcher, eventually, lines, model, processesWith, run, start, tempFolder } from "./command.ts";

const onLinux = { skip: process.platform !== "linux" };
const hasPython = spawnSync("python3", ["--version"]).status === 0;
/** Seconds that nobody else sleeps for: how a test knows its processes. */
let rounds = 0;
const newMark = (): string => `7${process.pid}.${++rounds}`;

/** Forks twice, leaves its session, closes every descriptor and forgets its environment. */
const daemon = (mark: string): string =>
  `python3 -c 'import os
if os.fork(): os._exit(0)
os.setsid()
if os.fork(): os._exit(0)
os.closerange(0, 256)
os.execve("/bin/sleep", ["sleep", "${mark}"], {})'`;

/** How commands leave something in the background. */
const kinds = (mark: string): string[] => [
  `sleep ${mark} &`,
  `setsid sleep ${mark} > /dev/null 2>&1 &`,
  `nohup sleep ${mark} > /dev/null 2>&1 &`,
  `(env -i setsid sleep ${mark} > /dev/null 2>&1 < /dev/null &)`,
  `(setsid bash -c 'trap "" TERM HUP INT; sleep ${mark}; sleep ${mark}' > /dev/null 2>&1 &)`,
  ...(hasPython ? [daemon(mark)] : []),
];

type Place = { cwd: string; env: Record<string, string>; bodies: () => string[] };

async function place(replies: Parameters<typeof model>[0]): Promise<Place> {
  const folder = tempFolder("killed");
  const cwd = join(folder, "work");
  mkdirSync(cwd);
  const { env, server } = await model(replies, join(folder, "home"));
  return { cwd, env, bodies: () => server.requests.map(({ body }) => JSON.stringify(body)) };
}

const bash = (command: string) => ({ calls: [{ name: "Bash", input: { command } }] });
const allowed = ["--allowedTools", "Bash", "--output-format", "json"];
const sleepers = (mark: string): number[] => processesWith(`sleep\0${mark}`);
/** Long: the machine may be busy, and nothing else waits for it. */
async function untilGone(mark: string, what: string): Promise<void> {
  for (let tries = 0; tries < 3 && sleepers(mark).length > 0; tries++)
    await eventually(() => sleepers(mark).length === 0, what).catch(() => {});
  assert.deepEqual(sleepers(mark), [], what);
}

function bystander(mark: string): { isAlive: () => boolean } {
  const child = spawn("sleep", [`6${mark}`], { stdio: "ignore" });
  after(() => child.kill("SIGKILL"));
  return { isAlive: () => child.exitCode === null && child.signalCode === null };
}

describe("a run that is killed", onLinux, () => {
  for (const box of ["off", "auto"])
    it(`leaves nothing of what its commands started, and nobody else is harmed (sandbox ${box})`, async () => {
      const mark = newMark();
      const other = bystander(mark);
      const at = await place([bash([...kinds(mark), "touch up", `sleep ${mark}`].join("\n"))]);
      const { child, done } = start(["-p", "go", ...allowed, "--sandbox", box], at);
      await eventually(() => existsSync(join(at.cwd, "up")) && sleepers(mark).length >= kinds(mark).length, "all are up");
      child.kill("SIGKILL");
      const { stdout } = await done;
      assert.equal(stdout, "");
      await untilGone(mark, "everything is ended");
      assert.ok(other.isAlive());
    });

  it("leaves no server, also not one that minds neither its input nor a signal", async () => {
    const mark = newMark();
    const at = await place([{ text: "late", delayMs: 600_000 }]);
    writeFileSync(
      join(at.cwd, "server.sh"),
      `trap "" TERM HUP INT\nread line\ntouch asked\n(env -i setsid sleep ${mark} &)\nsleep ${mark}\nsleep ${mark}\n`,
    );
    const servers = JSON.stringify({ mcpServers: { s: { command: "bash", args: [join(at.cwd, "server.sh")] } } });
    const { child, done } = start(["-p", "go", ...allowed, "--mcp-config", servers], at);
    await eventually(() => sleepers(mark).length === 2, "the server is up");
    child.kill("SIGKILL");
    await done;
    await untilGone(mark, "the server is ended");
  });

  it("is told to the model that goes on: what became of its processes", async () => {
    for (const [limit, words] of [
      ["unlimited", "(the processes that it had started were ended with the run)"],
      ["100", "(a process that it had started may still be running)"],
    ] as const) {
      const mark = newMark();
      const at = await place([bash(`touch up; sleep ${mark}`), { text: "ok" }]);
      const id = `22222222-2222-4333-8444-${String(process.pid).padStart(12, "0")}`;
      const args = [bin, "-p", "go", "--session-id", id, ...allowed, "--sandbox", "off"];
      const child = spawn("bash", ["-c", `ulimit -x ${limit}; exec "$@"`, "bash", launcher, ...args], {
        cwd: at.cwd,
        env: { PATH: process.env["PATH"] ?? "", HOME: at.cwd, ...at.env },
        stdio: "ignore",
      });
      await eventually(() => existsSync(join(at.cwd, "up")), "the command runs");
      child.kill("SIGKILL");
      await once(child, "exit");
      await untilGone(mark, "the command is ended");
      const { code, stderr } = await run(["-p", "go on", "--resume", id, ...allowed], at);
      assert.equal(code, 0, stderr);
      assert.ok(at.bodies().at(-1)?.includes(words), at.bodies().at(-1));
    }
  });

  it("ends them by their environment alone where the limit cannot be set, and doctor says so", async () => {
    const doctor = async (limit: string): Promise<Record<string, string> | undefined> => {
      const child = spawn(
        "bash",
        ["-c", `ulimit -x ${limit}; exec "$@"`, "bash", launcher, bin, "doctor", "--offline", "--json"],
        {
          env: { PATH: process.env["PATH"] ?? "", HOME: tempFolder("killed-home") },
          stdio: ["ignore", "pipe", "ignore"],
        },
      );
      return (JSON.parse(await text(child.stdout)) as Record<string, string>[]).find(({ about }) => about === "processes");
    };
    assert.equal((await doctor("unlimited"))?.["state"], "ok");
    const low = await doctor("100");
    assert.deepEqual([low?.["state"], /hard limit of file locks/.test(low?.["says"] ?? "")], ["note", true]);
  });
});

describe("a run that ends", onLinux, () => {
  for (const signal of [undefined, "SIGTERM", "SIGINT"] as const)
    it(`leaves nothing that cleared its environment: ${signal ?? "by itself"}`, async () => {
      const mark = newMark();
      const other = bystander(mark);
      const at = await place([
        bash([...kinds(mark), "touch up", signal ? `sleep ${mark}` : "true"].join("\n")),
        { text: "Done." },
      ]);
      const { child, done } = start(["-p", "go", ...allowed, "--sandbox", "off"], at);
      await eventually(() => existsSync(join(at.cwd, "up")), "the command runs");
      if (signal) child.kill(signal);
      const ended = await done;
      assert.equal(lines(ended.stdout).length, 1, ended.stderr);
      await untilGone(mark, "everything is ended");
      assert.ok(other.isAlive());
    });

  it("leaves nothing of a run inside it, when the outer one is stopped", async () => {
    const mark = newMark();
    const inner = await place([bash([...kinds(mark), "touch up", `sleep ${mark}`].join("\n"))]);
    const env = Object.entries(inner.env).map(([name, value]) => `${name}='${value}'`);
    const words = [
      "env",
      ...env,
      `'${launcher}'`,
      `'${bin}'`,
      "-p",
      "go",
      ...allowed,
      "--sandbox",
      "off",
      "--cwd",
      `'${inner.cwd}'`,
    ];
    const outer = await place([bash(words.join(" "))]);
    const { child, done } = start(["-p", "go", ...allowed, "--sandbox", "off"], outer);
    await eventually(() => existsSync(join(inner.cwd, "up")), "the inner command runs");
    child.kill("SIGTERM");
    const ended = await done;
    assert.equal(lines(ended.stdout).length, 1, ended.stderr);
    await untilGone(mark, "everything is ended");
  });

  it("leaves no guard behind", async () => {
    const at = await place([bash("echo mark:$OUTRIDER_PROCESS_SCOPE:"), { text: "Done." }]);
    const { code } = await run(["-p", "go", ...allowed, "--sandbox", "off"], at);
    // The guard is told which mark to look for.
    const [, mark] = /mark:([0-9a-f-]{36})\./.exec(at.bodies().at(-1) ?? "") ?? [];
    assert.deepEqual([code, typeof mark], [0, "string"]);
    await eventually(() => processesWith(mark ?? "").length === 0, "the guard is gone");
  });
});
