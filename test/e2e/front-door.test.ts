import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { bin, launcher, model, run, tempFolder } from "./command.ts";

describe("the front door", { timeout: 60_000 }, () => {
  it("a prompt that looks like a flag is a prompt: it sets nothing and runs nothing", async () => {
    const home = tempFolder();
    const marker = join(home, "hooked");
    const hooks = { SessionStart: [{ hooks: [{ type: "command", command: `touch ${marker}` }] }] };
    const prompt = `--settings=${JSON.stringify({ hooks })}`;
    const { env, server } = await model([{ text: "no" }], home);
    const { code, stdout } = await run(["-p", prompt, "--output-format", "json"], { env });
    assert.deepEqual({ code, result: JSON.parse(stdout).result }, { code: 0, result: "no" });
    assert.equal(existsSync(marker), false);
    assert.ok(JSON.stringify(server.requests[0]?.body).includes(JSON.stringify(prompt).slice(1, -1)));
  });

  it("a bare word of power behind -p is neither flag nor prompt when only stdin could be the prompt", async () => {
    const { code, stderr } = await run(["-p", "--dangerously-skip-permissions"], { stdin: "do as you like" });
    assert.equal(code, 64);
    assert.match(stderr, /could be a flag or a prompt/);
  });

  it("a slip in a flag behind -p asks no model, also where the prompt is on stdin", async () => {
    const { env, server } = await model([], tempFolder());
    const rows: [args: string[], stdin: string, message: RegExp][] = [
      [["--max-budget-usd", "--output-format", "json", "next"], "", /lacks its value/],
      [["--permission-mode=plna", "--output-format", "json", "hi"], "", /Did you mean plan/],
      [["--max-turnz=3"], "do it", /Did you mean --max-turns/],
      [["--permission-mode=plan"], "do it", /there is another prompt/],
    ];
    for (const [args, stdin, message] of rows) {
      const { code, stderr } = await run(["-p", ...args], { env, stdin });
      assert.deepEqual([code, server.requests.length], [64, 0], args.join(" "));
      assert.match(stderr, message);
    }
  });

  const title = "\x1b]0;pwned\x07\x1b[2Jhello";
  it("a pipe gets the model's words as they are", async () => {
    const { env } = await model([{ text: title }], tempFolder());
    assert.equal((await run(["-p", "hi"], { env })).stdout, `${title}\n`);
  });

  it("a terminal does not obey the model's words", { skip: !existsSync("/usr/bin/script") }, async () => {
    const replies = join(tempFolder(), "replies.json");
    writeFileSync(replies, JSON.stringify([{ text: title }]));
    const command = `'${launcher}' '${bin}' -q -p hi --provider scripted --model '${replies}'`;
    const env = { PATH: process.env["PATH"] ?? "", HOME: tempFolder(), OUTRIDER_HOME: tempFolder(), TERM: "xterm" };
    const shown = execFileSync("/usr/bin/script", ["-qec", command, "/dev/null"], { env, encoding: "utf8" });
    assert.ok(shown.includes("\\u001b]0;pwned\\u0007\\u001b[2Jhello"), JSON.stringify(shown));
    assert.ok(!shown.includes(title), JSON.stringify(shown));
  });
});
