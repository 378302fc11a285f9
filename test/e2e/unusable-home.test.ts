import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { model, run } from "./command.ts";

const places = { "a file": "/dev/null", "a place where nothing can be made": "/proc/nobody", "a folder of /proc": "/proc/1" };

describe("a home that cannot be used", () => {
  for (const [what, home] of Object.entries(places))
    it(`costs the journal and not the run, when it is ${what}`, { timeout: 120_000 }, async () => {
      const { env, server } = await model([{ calls: [{ name: "Bash", input: { command: "seq 100000" } }] }, { text: "ok" }], "");
      const { OUTRIDER_HOME: _, ...rest } = env;
      const { code, stdout } = await run(["-p", "go", "--output-format", "json"], { env: { ...rest, HOME: home } });
      const { result, warnings } = JSON.parse(stdout);
      assert.deepEqual([code, result, server.requests.length], [0, "ok", 2]);
      assert.match(warnings.join(), /Nothing of this session is kept, because .*\.outrider cannot be used: E/);
    });

  it("is an error when somebody chose it", { timeout: 120_000 }, async () => {
    const { env, server } = await model([{ text: "ok" }], "/proc/nobody");
    const { code, stdout } = await run(["-p", "go", "--output-format", "json"], { env });
    assert.deepEqual([code, JSON.parse(stdout).error.code, server.requests.length], [78, "storage-failed", 0]);
  });

  const commands = {
    doctor: ["doctor", "--offline"],
    "mcp add": ["mcp", "add", "a", "echo"],
    "providers add": ["providers", "add", "openai-compatible", "--base-url", "http://127.0.0.1:9", "--model", "m"],
    serve: ["serve", "--port", "0"],
    "plugin marketplace add": ["plugin", "marketplace", "add", "./nothing"],
    batch: ["batch", "-", "--out", "/proc/nobody/results"],
  };
  for (const [name, args] of Object.entries(commands))
    it(`ends ${name} at once with a word about the folder`, { timeout: 120_000 }, async () => {
      const env = { HOME: "/proc/nobody", OUTRIDER_HOME: "/proc/nobody/home" };
      const { code, stdout, stderr } = await run(args, { env, stdin: '{"id":"a","prompt":"go"}\n' });
      assert.equal(code, 78, stderr);
      assert.match(stdout + stderr, /\/proc\/nobody.* cannot be (?:made|written): ENOENT/);
      assert.doesNotMatch(stderr, /^ {4}at /m);
    });
});
