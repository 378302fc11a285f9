import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { lines, model, run, tempFolder } from "./command.ts";

describe("/compact over the command", () => {
  it("summarises the session that is resumed, with one result, and is offered", async () => {
    const home = tempFolder("home");
    const cwd = tempFolder("project");
    const { server, env } = await model(
      [{ text: "first answer" }, { text: "the summary" }, { text: "second answer" }, { text: "another summary" }],
      home,
    );
    const outrider = (...args: string[]) => run(["-p", ...args, "--output-format", "stream-json", "--verbose"], { env, cwd });
    await outrider("one");
    const ended = await outrider("--continue", "/compact focus on auth");
    const frames = lines(ended.stdout);
    assert.equal(ended.code, 0, ended.stderr);
    assert.deepEqual(
      frames.map(({ type, subtype, status }) => [type, subtype, status].filter((word) => word !== undefined)),
      [
        ["system", "init"],
        ["system", "status", "compacting"],
        ["system", "status", null],
        ["system", "compact_boundary"],
        ["assistant"],
        ["result", "success"],
      ],
    );
    assert.match(JSON.stringify(frames[0]?.["slash_commands"]), /^\["compact",/);
    assert.match(String(frames.at(-1)?.["result"]), /^Older messages gave way to a summary/);
    assert.match(JSON.stringify(server.requests[1]?.body), /focus on auth/);
    await outrider("--continue", "two");
    assert.match(JSON.stringify(server.requests[2]?.body), /the summary/);
    assert.doesNotMatch(JSON.stringify(server.requests[2]?.body), /\/compact/);
  });

  const useless: [what: string, summary: object, code: string, told: RegExp][] = [
    ["longer than what it would stand for", { text: "word and more ".repeat(3_000) }, "context-overflow", /no shorter/],
    ["cut off by the output limit", { text: "Half a summ", finish: "length" }, "model-output-limit", /cut off/],
    ["paused", { text: "Half a summ", finish: "paused" }, "model-output-limit", /cut off/],
  ];
  for (const [what, summary, code, told] of useless) {
    it(`does not take a summary that is ${what}, and says so`, async () => {
      const home = tempFolder("home");
      const cwd = tempFolder("project");
      const { server, env } = await model(
        [{ text: `first answer ${"blah ".repeat(500)}` }, summary, { text: "second answer" }],
        home,
      );
      const outrider = (...args: string[]) => run(["-p", ...args, "--output-format", "stream-json", "--verbose"], { env, cwd });
      await outrider("one");
      const ended = await outrider("--continue", "/compact");
      const result = lines(ended.stdout).at(-1) ?? {};
      const error = result["error"] as { code?: string; message?: string } | undefined;
      assert.notEqual(ended.code, 0);
      assert.equal(error?.code, code, ended.stdout);
      assert.match(String(error?.message), told);
      await outrider("--continue", "two");
      assert.match(JSON.stringify(server.requests[2]?.body), /first answer blah/);
    });
  }

  it("acts when it arrives on a live session", async () => {
    const home = tempFolder("home");
    const { env } = await model([{ text: "first answer" }, { text: "the summary" }, { text: "second answer" }], home);
    const input = ["one", "/compact", "two"].map(
      (content) => `${JSON.stringify({ type: "user", message: { role: "user", content } })}\n`,
    );
    const ended = await run(["-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose"], {
      env,
      cwd: tempFolder("project"),
      stdin: input.join(""),
    });
    const results = lines(ended.stdout).filter(({ type }) => type === "result");
    assert.deepEqual(
      results.map(({ subtype }) => subtype),
      ["success", "success", "success"],
    );
    assert.match(String(results[1]?.["result"]), /^Older messages gave way to a summary/);
    assert.equal(lines(ended.stdout).filter(({ subtype }) => subtype === "compact_boundary").length, 1);
  });
});
