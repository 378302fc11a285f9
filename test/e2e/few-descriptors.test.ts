import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { bin, cleanEnv, launcher, lines, model, tempFolder } from "./command.ts";

type Ran = { readonly code: number; readonly stdout: string; readonly stderr: string };

/** From the first number of descriptors with which the launcher runs any file at all: below it, no line of ours is ever read. */
const tried = 14;

describe("a run with a handful of file descriptors", { skip: process.platform !== "linux" }, () => {
  for (const format of ["text", "stream-json"])
    it(`ends once and in words, with ${format}`, { timeout: 240_000 }, async () => {
      const folder = tempFolder();
      writeFileSync(join(folder, "nothing.js"), "");
      const { env } = await model((request) => {
        const isAnswered = JSON.stringify(request.body).includes("tool_result");
        return isAnswered ? { text: "done" } : { calls: [{ name: "Bash", input: { command: "echo hi" } }] };
      }, folder);
      const least = await leastFor(join(folder, "nothing.js"));
      for (let limit = least; limit < least + tried; limit++) {
        const ran = await runWith(limit, [bin, "-p", "hi", "--allowedTools", "Bash", "--output-format", format], env);
        const told = `${limit} descriptors: ${JSON.stringify(ran)}`;
        assert.doesNotMatch(ran.stderr, /^ {4}at |After the end/m, told);
        assert.equal(ran.stderr.match(/^outrider: /gm)?.length ?? 0, ran.code === 0 ? 0 : 1, told);
        if (ran.code !== 0) assert.match(ran.stderr, /too many open files/, told);
        if (ran.code !== 0) assert.doesNotMatch(ran.stderr, /is recorded in/, told);
        if (format === "text") assert.equal(ran.stdout, ran.code === 0 ? "done\n" : "", told);
        else assert.deepEqual([lines(ran.stdout).filter(({ type }) => type === "result").length, told], [1, told]);
      }
    });
});

async function leastFor(file: string): Promise<number> {
  for (let limit = 8; limit < 64; limit++) if ((await runWith(limit, [file], {})).code === 0) return limit;
  throw new Error("Nothing runs with 64 descriptors");
}

function runWith(limit: number, args: readonly string[], env: Record<string, string>): Promise<Ran> {
  const words = ["-c", 'ulimit -n "$0"; exec "$@"', String(limit), launcher, ...args];
  return new Promise((resolve) => {
    const child = execFile("bash", words, { env: cleanEnv(env) }, (error, stdout, stderr) =>
      resolve({ code: error ? (typeof error.code === "number" ? error.code : -1) : 0, stdout, stderr }),
    );
    child.stdin?.end();
  });
}
