import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, it } from "node:test";
import { bin, launcher, lines, model, run, start, tempFolder } from "./command.ts";

/** The lock is a folder when it is given back: it can neither be read nor removed. */
const spoilLock = 'for lock in "$OUTRIDER_SPOILED"/sessions/*.lock; do rm -f "$lock"; mkdir "$lock"; done';

describe("a failure after the result", () => {
  const formats: [format: string[], results: (stdout: string) => unknown[]][] = [
    [["--output-format", "json"], (stdout) => lines(stdout).map(({ subtype }) => subtype)],
    [
      ["--output-format", "stream-json"],
      (stdout) => lines(stdout).flatMap(({ type, subtype }) => (type === "result" ? [subtype] : [])),
    ],
  ];
  for (const [format, results] of formats) {
    it(`is no second result (${format[1]})`, async () => {
      const home = tempFolder();
      const { env } = await model([{ calls: [{ name: "Bash", input: { command: spoilLock } }] }, { text: "done" }], home);
      const args = ["-p", "x", ...format, "--sandbox", "off", "--allowedTools", "Bash"];
      const { code, stdout, stderr } = await run(args, { env: { ...env, OUTRIDER_SPOILED: home } });
      assert.deepEqual([code, results(stdout)], [0, ["success"]], stderr);
      assert.match(stderr, /After the end: .*lock/);
    });
  }

  it("is no second result of a session that a host drives", async () => {
    const home = tempFolder();
    const { env } = await model([{ calls: [{ name: "Bash", input: { command: spoilLock } }] }, { text: "done" }], home);
    const stdin = `${JSON.stringify({ type: "user", message: { role: "user", content: "x" } })}\n`;
    const args = [
      "--input-format",
      "stream-json",
      "--output-format",
      "stream-json",
      "--sandbox",
      "off",
      "--allowedTools",
      "Bash",
    ];
    const { code, stdout, stderr } = await run(args, { env: { ...env, OUTRIDER_SPOILED: home }, stdin });
    assert.deepEqual(
      [code, lines(stdout).flatMap(({ type, subtype }) => (type === "result" ? [subtype] : []))],
      [0, ["success"]],
      stderr,
    );
  });

  it("is no other ending when a signal comes late", async () => {
    for (let round = 0; round < 12; round++) {
      const { env } = await model([{ text: "done" }], tempFolder());
      const { child, done } = start(["-p", "x", "--output-format", "json"], { env });
      child.stdout.once("data", () => {
        for (const after of [0, 2, 4, 8, 12]) setTimeout(() => child.kill("SIGTERM"), after);
      });
      const { code, signal, stdout } = await done;
      assert.deepEqual([code, signal, lines(stdout).length], [0, null, 1]);
    }
  });

  it("is none where hardly any descriptor is left", async () => {
    for (const limit of [20, 21, 22, 23, 24, 26]) {
      const { env } = await model([{ calls: [{ name: "Bash", input: { command: "true" } }] }, { text: "done" }], tempFolder());
      const words = [launcher, bin, "-p", "x", "--output-format", "json", "--sandbox", "off"];
      const child = spawn("bash", ["-c", `ulimit -n ${limit}; exec "$@"`, "bash", ...words], {
        env: { PATH: process.env["PATH"] ?? "", HOME: env.OUTRIDER_HOME, ...env },
        stdio: ["ignore", "pipe", "pipe"],
      });
      const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
      assert.ok(lines(stdout).length <= 1, stdout);
      // With too few to load a program, Node itself does not come to the first line of ours; what comes to a result ends calmly.
      const trace = lines(stdout).length === 1 ? /process-sweep|node:internal|EMFILE.*\n *at /s : /process-sweep|_onTimeout/;
      assert.doesNotMatch(stderr, trace, `${limit}: ${stderr}`);
    }
  });
});

describe("a record that cannot be written", () => {
  for (const record of ["audit", "checkpoints"])
    for (const format of ["json", "stream-json"])
      it(`ends the run as what it is, before anything is done: ${record}, ${format}`, async () => {
        const home = tempFolder();
        const cwd = tempFolder();
        // A file stands where the folder is to be.
        mkdirSync(home, { recursive: true });
        writeFileSync(join(home, record), "");
        const call = { name: "Write", input: { file_path: join(cwd, "new.txt"), content: "x" } };
        const { env, server } = await model([{ calls: [call] }, { text: "never said" }], home);
        const args = ["-p", "x", "--output-format", format, "--permission-mode", "acceptEdits", "--cwd", cwd];
        const { code, stdout, stderr } = await run(args, { env });
        const results = lines(stdout).filter(({ type }) => type === "result");
        const [result] = results as { is_error?: boolean; error?: { code?: string } }[];
        assert.deepEqual([results.length, result?.is_error, result?.error?.code], [1, true, "storage-failed"], stdout + stderr);
        assert.deepEqual([code, server.requests.length, existsSync(join(cwd, "new.txt"))], [78, 1, false], stderr);
      });
});
