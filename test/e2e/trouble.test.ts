import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { closeSync, existsSync, openSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import {
  bin,
  launcher,
  eventually,
  handlesSignals,
  lines,
  model,
  processesWith,
  type Run,
  run,
  start,
  tempFolder,
} from "./command.ts";

const home = tempFolder("home");
type Error = { code: string; message: string; retryable: boolean; http_status: number | null; hint: string | null };

function resultOf({ stdout }: Run): Record<string, unknown> {
  const results = lines(stdout).filter((frame) => frame["type"] === "result");
  assert.equal(results.length, 1, stdout);
  return results[0] ?? {};
}

const errorOf = (run: Run): Error => resultOf(run)["error"] as Error;
const json = ["-p", "go", "--output-format", "json"];
const stream = ["-p", "go", "--output-format", "stream-json"];

describe("a provider in trouble", () => {
  const statuses: [number, string, number][] = [
    [401, "provider-auth", 1],
    [403, "provider-auth", 1],
    [400, "provider-bad-request", 1],
    [404, "provider-bad-request", 1],
    [500, "provider-unavailable", 3],
    [529, "provider-overloaded", 3],
    [429, "provider-rate-limit", 3],
  ];
  for (const [status, code, requests] of statuses) {
    it(`that answers ${status} ends the run as ${code} after ${requests} request${requests > 1 ? "s" : ""}`, async () => {
      const { env, server } = await model(() => ({ status }), home);
      const ended = await run(json, { env: { ...env, OUTRIDER_MAX_RETRIES: "2" } });
      assert.deepEqual(
        [ended.code, errorOf(ended).code, errorOf(ended).http_status, server.requests.length],
        [1, code, status, requests],
      );
      assert.match(ended.stderr, /^outrider: /);
    });
  }

  it("that recovers is waited for, and each retry is told", async () => {
    const { env } = await model([{ status: 529 }, { status: 503, headers: { "retry-after-ms": "5" } }, { text: "there" }], home);
    const ended = await run(stream, { env });
    assert.equal(ended.code, 0);
    const retries = lines(ended.stdout).filter((frame) => frame["subtype"] === "api_retry");
    assert.deepEqual(
      retries.map((frame) => [frame["attempt"], frame["error_status"]]),
      [
        [1, 529],
        [2, 503],
      ],
    );
    assert.equal(resultOf(ended)["result"], "there");
  });

  it("that goes silent in the middle is given up, and no tool runs twice", async () => {
    const folder = tempFolder("once");
    const calls = [{ name: "Bash", input: { command: "echo ran >> log" } }];
    const { env } = await model(
      [{ text: "Working.", calls, stallAfterBytes: 400 }, { text: "Working.", calls }, { text: "done" }],
      home,
    );
    const ended = await run([...stream, "--allowedTools", "Bash"], {
      env: { ...env, OUTRIDER_IDLE_TIMEOUT_MS: "150" },
      cwd: folder,
    });
    assert.equal(ended.code, 0);
    assert.equal(readFileSync(join(folder, "log"), "utf8"), "ran\n");
    assert.equal(resultOf(ended)["result"], "done");
  });

  it("that always breaks off is an error, never an answer", async () => {
    const { env } = await model(() => ({ text: "half an answer that never ends", dropAfterBytes: 500 }), home);
    const ended = await run(json, { env: { ...env, OUTRIDER_MAX_RETRIES: "1" } });
    assert.deepEqual([ended.code, errorOf(ended).code, errorOf(ended).retryable], [1, "provider-unavailable", true]);
  });

  it("that answers with a web page is told by its first words", async () => {
    const page = { status: 200, headers: { "content-type": "text/html" }, body: "<html><title>Captive portal</title></html>" };
    const { env } = await model(() => page, home);
    const ended = await run(json, { env: { ...env, OUTRIDER_MAX_RETRIES: "0" } });
    assert.equal(ended.code, 1);
    assert.match(errorOf(ended).message, /Captive portal/);
  });

  it("that is not there is told by host and reason", async () => {
    const env = {
      ANTHROPIC_API_KEY: "k",
      ANTHROPIC_BASE_URL: "http://127.0.0.1:9",
      OUTRIDER_HOME: home,
      OUTRIDER_MAX_RETRIES: "0",
    };
    const ended = await run(json, { env });
    assert.equal(ended.code, 1);
    assert.match(errorOf(ended).message, /127\.0\.0\.1/);
  });

  it("whose model refuses is exit 2", async () => {
    const { env } = await model([{ text: "No.", finish: "refusal" }], home);
    const ended = await run(json, { env });
    assert.deepEqual([ended.code, errorOf(ended).code], [2, "model-refusal"]);
  });
});

const canBox = spawnSync("bwrap", ["--ro-bind", "/", "/", "true"]).status === 0;

describe("a home that cannot be written to", { skip: !canBox }, () => {
  for (const folder of ["", "deeper/home"])
    it(`is told by what the system says: ${folder || "a folder"}`, () => {
      const home = join(tempFolder("read-only"), folder);
      const box = ["--ro-bind", "/", "/", "--dev", "/dev", "--setenv", "OUTRIDER_HOME", home];
      const words = [launcher, bin, "-p", "hi"];
      const { status, stderr } = spawnSync("bwrap", [...box, "--setenv", "ANTHROPIC_API_KEY", "k", ...words], {
        encoding: "utf8",
        input: "",
        timeout: 30_000,
      });
      assert.equal(status, 78, stderr);
      assert.match(stderr, /Cannot create .*EROFS: read-only file system/);
    });
});

describe("signals", () => {
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) {
    it(`${signal} while a tool runs: tool killed, one result, exit 124, within 2 seconds`, async () => {
      const marker = `31${Math.floor(Math.random() * 1e6)}.25`;
      const command = `(setsid sleep ${marker} &) ; nohup sleep ${marker} & trap '' TERM; sleep ${marker}`;
      const { env } = await model([{ text: "Starting.", calls: [{ name: "Bash", input: { command } }] }], home);
      const { child, done } = start([...stream, "--allowedTools", "Bash"], { env });
      await eventually(() => processesWith(`sleep\0${marker}`).length >= 3, "three sleepers");
      const at = Date.now();
      child.kill(signal);
      const ended = await done;
      assert.ok(Date.now() - at < 2000, `${Date.now() - at} ms`);
      assert.deepEqual(
        [ended.code, resultOf(ended)["subtype"], resultOf(ended)["terminal_reason"]],
        [124, "error_during_execution", "cancelled_signal"],
      );
      assert.deepEqual(processesWith(`sleep\0${marker}`), []);
    });
  }

  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    it(`${signal} is named on stderr where a person reads`, async () => {
      const { env, server } = await model([{ text: "The answer so far", stallAfterBytes: 900 }], home);
      const { child, done } = start(["-p", "go"], { env });
      await eventually(() => server.requests.length === 1, "a request");
      child.kill(signal);
      const { code, stderr } = await done;
      assert.equal(code, 124);
      assert.match(stderr, new RegExp(`stopped by ${signal} before the end`));
    });
  }

  it("SIGTERM while waiting for the prompt ends with a result too", async () => {
    const { env } = await model([], home);
    const { child, done } = start(["-", "--output-format", "json"], { env, stdin: "open" });
    await eventually(() => handlesSignals(child.pid ?? 0), "the program to listen");
    child.kill("SIGTERM");
    const ended = await done;
    assert.deepEqual([ended.code, resultOf(ended)["terminal_reason"]], [124, "cancelled_signal"]);
  });

  it("SIGTERM in the middle of an answer keeps what was said", async () => {
    const own = tempFolder("own");
    const { env } = await model([{ text: "The answer so far", stallAfterBytes: 900 }], own);
    const { child, done } = start([...stream, "--include-partial-messages"], { env });
    let seen = "";
    child.stdout.on("data", (text: string) => {
      seen += text;
    });
    await eventually(() => seen.includes("text_delta"), "a delta");
    child.kill("SIGTERM");
    const ended = await done;
    assert.equal(ended.code, 124);
    const said = String(resultOf(ended)["last_assistant_text"]);
    assert.ok(said.startsWith("The"), said);
    const [name] = readdirSync(join(own, "sessions"));
    const journal = lines(readFileSync(join(own, "sessions", name ?? ""), "utf8"));
    assert.deepEqual(
      journal.slice(-3).map((event) => event["type"]),
      ["message.ended", "turn.ended", "session.ended"],
    );
  });

  it("two SIGINTs behind the result change nothing: the exit code agrees with it", async () => {
    const own = tempFolder("own");
    const hook = { hooks: [{ type: "command", command: "touch ended; sleep 1.2" }] };
    writeFileSync(join(own, "settings.json"), JSON.stringify({ hooks: { SessionEnd: [hook] } }));
    const { env } = await model([{ text: "The answer." }], own);
    const { child, done } = start(json, { env, cwd: own });
    await eventually(() => existsSync(join(own, "ended")), "the hook of the end");
    child.kill("SIGINT");
    await new Promise((resolve) => setTimeout(resolve, 50)); // two signals of one kind at once are one
    child.kill("SIGINT");
    const ended = await done;
    assert.deepEqual([ended.code, resultOf(ended)["is_error"]], [0, false]);
  });

  it("a second SIGINT ends with 130, and still ends the tools", async () => {
    const marker = `32${Math.floor(Math.random() * 1e6)}.25`;
    // Deaf to the first signal's SIGTERM, so that the run is still ending when the second one comes.
    const command = `trap '' TERM; while true; do sleep ${marker}; done`;
    const { env } = await model([{ text: "Starting.", calls: [{ name: "Bash", input: { command } }] }], home);
    const { child, done } = start([...stream, "--allowedTools", "Bash"], { env });
    await eventually(() => processesWith(`sleep\0${marker}`).length === 1, "the sleeper");
    child.kill("SIGINT");
    await new Promise((resolve) => setTimeout(resolve, 50)); // two signals of one kind at once are one
    child.kill("SIGINT");
    assert.equal((await done).code, 130);
    assert.deepEqual(processesWith(`sleep\0${marker}`), []);
  });
});

describe("stdout", () => {
  it("on a full disk is told of, and is no success", { skip: !existsSync("/dev/full") && "there is no /dev/full" }, async () => {
    const { env } = await model([{ text: "The answer." }], tempFolder("full"));
    const full = openSync("/dev/full", "w");
    const child = spawn(launcher, [bin, "-p", "go"], {
      env: { ...process.env, ...env },
      stdio: ["ignore", full, "pipe"],
    });
    closeSync(full);
    let stderr = "";
    child.stderr?.on("data", (chunk) => {
      stderr += chunk;
    });
    const code = await new Promise((resolve) => child.on("close", resolve));
    assert.equal(code, 124);
    assert.match(stderr, /^outrider: stdout cannot be written: ENOSPC/m);
    assert.match(stderr, /is in the session (\S+) \(outrider sessions export \1 --format markdown\)/);
  });

  it("that is closed stops the work, saves it and ends quietly", async () => {
    const own = tempFolder("closed");
    const folder = tempFolder("work");
    const { env, server } = await model(
      (_request, index) => ({
        text: `step ${index} ${"word ".repeat(50)}`,
        calls: [{ name: "Bash", input: { command: "echo step >> log; sleep 0.1" } }],
      }),
      own,
    );
    const shell = `"${launcher}" "${bin}" -p go --output-format stream-json --allowedTools Bash | head -1; echo "codes \${PIPESTATUS[*]}"`;
    const { promise, resolve } = withResolvers<{ stdout: string; stderr: string }>();
    const child = spawn("bash", ["-c", shell], {
      cwd: folder,
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let stdout = "";
    let stderr = "";
    child.stdout.on("data", (chunk) => {
      stdout += chunk;
    });
    child.stderr.on("data", (chunk) => {
      stderr += chunk;
    });
    child.on("close", () => resolve({ stdout, stderr }));
    const ended = await promise;
    assert.match(ended.stdout, /"subtype":"init"[\s\S]*codes 124 0\n$/);
    assert.equal(ended.stderr, "");
    assert.ok(server.requests.length < 5, `${server.requests.length} requests`);
    const [name] = readdirSync(join(own, "sessions"));
    const journal = lines(readFileSync(join(own, "sessions", name ?? ""), "utf8"));
    const outcome = journal.find((event) => event["type"] === "turn.ended")?.["outcome"] as { cause: string };
    assert.equal(outcome.cause, "output-closed");
  });

  it("loses nothing of a long answer through a slow reader", { timeout: 120_000 }, async () => {
    const text = "0123456789abcdef".repeat(4 * 1024 * 1024); // 64 MB
    const { env } = await model([{ text, chunkBytes: 1024 * 1024 }], home);
    const child = spawn(launcher, [bin, "-p", "go", "--no-session-persistence"], {
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "inherit"],
    });
    let received = 0;
    let pauses = 0;
    for await (const chunk of child.stdout) {
      received += chunk.length;
      if (++pauses % 64 === 0) await new Promise((resolve) => setTimeout(resolve, 2));
    }
    assert.equal(received, text.length + 1);
  });

  it("carries whole lines of valid JSON whatever the text holds", async () => {
    const text = 'line\nbreak\u2028separator\u2029 \u0000 "quotes" \\ emoji 😀 and a lone \ud800 surrogate';
    const { env } = await model([{ text, chunkBytes: 3 }], home);
    const ended = await run(stream, { env });
    assert.equal(ended.code, 0);
    assert.doesNotMatch(ended.stdout, /[\u2028\u2029]/);
    assert.equal(String(resultOf(ended)["result"]).replace("\ufffd", "\ud800"), text);
  });
});

describe("--verbose", () => {
  it("says on stderr what happens, in plain lines, also when it is no terminal", async () => {
    const { env } = await model(
      [{ status: 529 }, { calls: [{ name: "Glob", input: { pattern: "*.md" } }] }, { text: "ok" }],
      home,
    );
    const { code, stdout, stderr } = await run(["-p", "go", "--verbose"], { env });
    assert.deepEqual([code, stdout], [0, "ok\n"]);
    assert.match(
      stderr,
      /^session \S+ · claude-sonnet-5-5 · default\n… trying again in \d+ s \(1\/6\): .*529.*\n✓ Glob \*\.md\nThe whole run is recorded in .*\n✓ done · 2 turns · [\d.]+ s · \d+ tokens in, \d+ out · .* · session \S+\n$/,
    );
  });
});

describe("many at once", () => {
  it("eight runs on one home all end well", async () => {
    const own = tempFolder("many");
    const { env } = await model(() => ({ text: "ok" }), own);
    const ended = await Promise.all(Array.from({ length: 8 }, () => run(json, { env })));
    assert.deepEqual(
      ended.map(({ code }) => code),
      Array.from({ length: 8 }, () => 0),
    );
    assert.equal(readdirSync(join(own, "sessions")).length, 8);
  });
});

describe("a terminal", {
  skip: spawnSync("script", ["--version"]).status === 0 ? false : "util-linux script is not here",
}, () => {
  it("shows progress on stderr, and none of it with --quiet or in CI", async () => {
    const { env } = await model(() => ({ text: "the answer", delayMs: 400 }), home);
    const shown = await onTerminal(`"${launcher}" "${bin}" -p go > /dev/null`, { ...env, CI: "" });
    assert.match(shown, /thinking/);
    const quiet = await onTerminal(`"${launcher}" "${bin}" -p go --quiet > /dev/null`, { ...env, CI: "" });
    assert.equal(quiet, "");
    const inCi = await onTerminal(`"${launcher}" "${bin}" -p go > /dev/null`, { ...env, CI: "true" });
    assert.equal(inCi, "");
  });

  it("shows the answer on a line of its own, where the moving line was", async () => {
    const { env } = await model(() => ({ text: "the answer", delayMs: 300 }), home);
    const shown = await onTerminal(`"${launcher}" "${bin}" -p go`, { ...env, CI: "" });
    assert.match(
      shown.replaceAll("\r\n", "\n").replaceAll("\u001b", "␛"),
      /\r␛\[Jthe answer\nThe whole run is recorded in .*\n.*✓ done/,
    );
  });

  it("moves nothing among the frames of stream-json", async () => {
    const { env } = await model(() => ({ text: "the answer", delayMs: 300 }), home);
    const shown = await onTerminal(`"${launcher}" "${bin}" -p go --output-format stream-json`, { ...env, CI: "" });
    assert.equal(lines(shown.replaceAll("\r\n", "\n")).at(-1)?.["result"], "the answer");
  });
});

function onTerminal(command: string, env: Record<string, string>): Promise<string> {
  const child = spawn("script", ["-qec", command, "/dev/null"], {
    env: { ...process.env, TERM: "xterm", ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let text = "";
  child.stdout.on("data", (chunk) => {
    text += chunk;
  });
  return new Promise((resolve) => child.on("close", () => resolve(text)));
}

function withResolvers<T>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => {};
  const promise = new Promise<T>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
