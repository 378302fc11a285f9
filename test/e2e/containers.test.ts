import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, it } from "node:test";
import { bin, launcher, eventually, lines, model, tempFolder } from "./command.ts";

/** A process namespace of its own, as a container has one: nobody outside is seen, and its first process has the number 1 or 2 each time. */
const container = ["--unshare-pid", "--dev-bind", "/", "/", "--proc", "/proc", "--die-with-parent", "--"];
const canContain = spawnSync("bwrap", [...container, "true"]).status === 0;

describe("a session in a container that was killed", { skip: canContain ? false : "needs bubblewrap" }, () => {
  it("goes on at once in the next one, and outside", async () => {
    const home = tempFolder("containers");
    const cwd = tempFolder("containers-work");
    // The first one never gets an answer; those after it do.
    const { env, server } = await model((_, index) => (index === 0 ? { text: "late", delayMs: 600_000 } : { text: "ok" }), home);
    const id = "11111111-2222-4333-8444-555555555555";
    const begin = (args: readonly string[], inside: boolean) => {
      const words = [launcher, bin, "--cwd", cwd, "--output-format", "json", ...args];
      const [file = "", ...rest] = inside ? ["bwrap", ...container, ...words] : words;
      return spawn(file, rest, {
        env: { PATH: process.env["PATH"] ?? "", HOME: home, ...env },
        stdio: ["ignore", "pipe", "pipe"],
      });
    };
    const first = begin(["-p", "x", "--session-id", id], true);
    await eventually(() => server.requests.length === 1, "the first one asks");
    // As long as it lives, it is the only one.
    const second = begin(["-p", "y", "--resume", id], true);
    const [refused] = lines(await text(second.stdout));
    assert.match(JSON.stringify(refused), /in use by process/);
    first.kill("SIGKILL");
    await once(first, "close");
    for (const inside of [true, false]) {
      const next = begin(["-p", "z", "--resume", id], inside);
      const [stdout, stderr] = await Promise.all([text(next.stdout), text(next.stderr)]);
      const { result, session_id: resumed } = lines(stdout)[0] ?? {};
      assert.deepEqual([result, resumed], ["ok", id], stdout + stderr);
    }
    assert.deepEqual(
      readdirSync(join(home, "sessions")).filter((name) => /\.(?:door|lock)$/.test(name)),
      [],
    );
  });
});
