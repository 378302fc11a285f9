import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { png } from "../border/images.ts";
import { lines, model, run, start, tempFolder } from "../e2e/command.ts";

const stream = ["-p", "go", "--output-format", "stream-json"];
const megabyte = 1_000_000;
/** Ten megabytes in pieces of a kilobyte, as a model says them. */
const answer = `${"x".repeat(1000)} `.repeat(10_000).trimEnd();

type Kept = { field: string; path: string; bytes: number };

function checkKept(stdout: string): void {
  const frames = lines(stdout);
  for (const line of stdout.split("\n"))
    assert.ok(Buffer.byteLength(line) < megabyte, `a line of ${Buffer.byteLength(line)} bytes`);
  const result = frames.at(-1) as { type: string; result: string; persisted_output: Kept[] };
  assert.equal(result.type, "result");
  const [kept] = result.persisted_output;
  assert.deepEqual([kept?.field, kept?.bytes], ["result", answer.length]);
  assert.equal(readFileSync(kept?.path ?? "", "utf8"), answer);
  assert.ok(result.result.includes(kept?.path ?? "?"), "the text names the file");
}

describe("an answer of ten megabytes", { timeout: 180_000 }, () => {
  it("comes in lines of less than a megabyte that name the file with all of it", async () => {
    const { env } = await model([{ text: answer }, { text: answer }], tempFolder("lines"));
    const streamed = await run(stream, { env });
    assert.equal(streamed.code, 0, streamed.stderr);
    checkKept(streamed.stdout);
    const json = await run(["-p", "go", "--output-format", "json"], { env });
    checkKept(json.stdout);
  });

  it("comes whole as text through a reader that pauses", async () => {
    const { env } = await model([{ text: answer }], tempFolder("lines"));
    const { child, done } = start(["-p", "go"], { env });
    child.stdout.on("data", () => {
      child.stdout.pause();
      setTimeout(() => child.stdout.resume(), 2);
    });
    const { code, stdout } = await done;
    assert.equal(code, 0);
    assert.ok(stdout === `${answer}\n`, `${stdout.length} characters`);
  });

  it("comes in whole lines, delta by delta, through a reader that stalls and goes on", async () => {
    const { env } = await model([{ text: answer }], tempFolder("lines"));
    const { child, done } = start([...stream, "--include-partial-messages"], { env });
    child.stdout.pause();
    setTimeout(() => child.stdout.resume(), 1500);
    const { code, stdout } = await done;
    assert.equal(code, 0);
    const deltas = lines(stdout).flatMap((frame) => {
      const event = frame["event"] as { delta?: { text?: string } } | undefined;
      return event?.delta?.text ?? [];
    });
    assert.ok(deltas.join("") === answer, `${deltas.join("").length} characters`);
    checkKept(stdout);
  });

  it("ends with its reader, in time and with nothing but whole lines before", async () => {
    const { env } = await model([{ text: answer, chunkDelayMs: 1 }], tempFolder("lines"));
    const { child, done } = start([...stream, "--include-partial-messages"], { env });
    let leftAt = 0;
    let seen = "";
    child.stdout.on("data", (text: string) => {
      seen += text;
      if (seen.length < 200_000 || leftAt > 0) return;
      leftAt = Date.now();
      child.stdout.destroy();
    });
    const { code, stderr } = await done;
    assert.ok(Date.now() - leftAt < 2000, `${Date.now() - leftAt} ms`);
    assert.deepEqual([code, /\n\s+at /.test(stderr)], [124, false]);
    assert.ok(lines(seen.slice(0, seen.lastIndexOf("\n"))).length > 10);
  });
});

describe("a tool's result of several megabytes", () => {
  it("is kept as a file that the frame names", async () => {
    const cwd = tempFolder("image");
    const image = Buffer.from(png(1_000, 1_000, { noise: true }), "base64");
    assert.ok(image.length > 2 * megabyte);
    writeFileSync(join(cwd, "big.png"), image);
    const { env } = await model(
      [{ calls: [{ name: "Read", input: { file_path: "big.png" } }] }, { text: "Seen." }],
      tempFolder("lines"),
    );
    const { code, stdout, stderr } = await run(stream, { env, cwd });
    assert.equal(code, 0, stderr);
    for (const line of stdout.split("\n")) assert.ok(Buffer.byteLength(line) < megabyte);
    const frame = lines(stdout).find(({ type }) => type === "user") as { persisted_output: Kept[] } | undefined;
    const kept = frame?.persisted_output.find(({ path }) => path.endsWith(".png"));
    assert.ok(readFileSync(kept?.path ?? "").equals(image));
  });
});
