import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { build } from "esbuild";

/** Watches its own stdout for as long as it is told, and leaves a file when it is told that the reader left. */
const source = (file: string): string => `
  import { writeFileSync } from "node:fs";
  import { watchReader } from ${JSON.stringify(file)};
  const [left, ms] = process.argv.slice(2);
  watchReader(1, () => { writeFileSync(left, "left"); process.exit(3); });
  process.stderr.write("watching\\n");
  setTimeout(() => { process.stdout.write("still here\\n"); }, Number(ms));`;

let folder: string;
let program: string;
const started: ChildProcess[] = [];

before(async () => {
  folder = mkdtempSync(join(tmpdir(), "outrider-reader-"));
  program = join(folder, "program.mjs");
  const file = join(process.env["OUTRIDER_ROOT"] ?? process.cwd(), "packages/runtime/src/transports/headless/reader-watch.ts");
  await build({
    stdin: { contents: source(file), resolveDir: folder },
    outfile: program,
    bundle: true,
    format: "esm",
    platform: "node",
    logLevel: "silent",
  });
});
after(() => {
  for (const child of started) child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

/** A pipeline in bash around the program, which is `$node $program FILE MILLISECONDS`. */
async function pipeline(script: string): Promise<string> {
  const env = { PATH: process.env["PATH"] ?? "", node: process.execPath, program };
  const child = spawn("bash", ["-c", script], { cwd: folder, env, stdio: ["ignore", "pipe", "ignore"] });
  started.push(child);
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
  });
  await new Promise((resolve) => child.on("close", resolve));
  return output;
}

const onLinux = { skip: process.platform !== "linux" };

describe("watchReader", onLinux, () => {
  it("tells when the reader of a pipe has left, though nothing is written", async () => {
    // Its exit code says when it ended: 3 long before its own end.
    assert.equal(await pipeline('exec 3>&1; { "$node" "$program" gone 60000 3>&-; echo $? >&3; } | exec <&-'), "3\n");
    assert.equal(readFileSync(join(folder, "gone"), "utf8"), "left");
  });

  it("says nothing while a pipe is read, by whoever has it", async () => {
    assert.equal(await pipeline('"$node" "$program" read 1500 | { sleep 1; cat; }'), "still here\n");
    assert.equal(await pipeline('"$node" "$program" handed 1500 | { exec 3<&0 <&-; sleep 1; cat <&3; }'), "still here\n");
    assert.deepEqual([existsSync(join(folder, "read")), existsSync(join(folder, "handed"))], [false, false]);
  });

  it("says nothing of a file, of nothing, and of a named pipe whose readers come and go", async () => {
    assert.equal(await pipeline('"$node" "$program" file 1200 > out.txt; cat out.txt'), "still here\n");
    await pipeline('"$node" "$program" null 1200 > /dev/null');
    await pipeline('"$node" "$program" closed 1200 >&-');
    const named = 'mkfifo named; "$node" "$program" fifo 2000 > named & { sleep 0.5; } < named; cat < named; wait';
    assert.equal(await pipeline(named), "still here\n");
    const left = ["file", "null", "closed", "fifo"].filter((name) => existsSync(join(folder, name)));
    assert.deepEqual(left, []);
  });

  it("tells when the other end of a socket is closed, and says nothing before", async () => {
    // Node's own pipes to its children are sockets.
    const child = spawn(process.execPath, [program, join(folder, "socket"), "60000"], { stdio: ["ignore", "pipe", "pipe"] });
    started.push(child);
    const ended = new Promise((resolve) => child.on("exit", resolve));
    await new Promise((resolve) => child.stderr?.once("data", resolve));
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    assert.deepEqual([child.exitCode, existsSync(join(folder, "socket"))], [null, false]);
    child.stdout?.destroy();
    assert.equal(await ended, 3);
  });
});
