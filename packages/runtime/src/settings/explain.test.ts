import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { resolveFiles } from "../../../../test/support/settings-bench.ts";

describe("explain", () => {
  it("says for each setting what holds, and for each file whether it won, was united, overridden or ignored", async () => {
    const { explain } = resolveFiles(
      false,
      ["user", { permissions: { deny: ["Bash"] }, model: "a" }],
      ["project", { permissions: { deny: ["Edit"], allow: ["Read"] }, model: "b" }],
      ["flag", { model: "c" }],
    );
    assert.deepEqual(await explain("model"), [
      {
        key: "model",
        value: "c",
        from: [
          { path: "/user.json", line: 7, scope: "user", value: "a", verdict: "overridden" },
          {
            path: "/project.json",
            line: 10,
            scope: "project",
            value: "b",
            verdict: "ignored",
            why: "the project is not trusted, and may only forbid",
          },
          { path: "/flag.json", line: 2, scope: "flag", value: "c", verdict: "won" },
        ],
      },
    ]);
    assert.deepEqual(
      (await explain("permissions")).map(({ key, value, from }) => [key, value, from.map(({ verdict }) => verdict)]),
      [
        ["permissions.deny", ["Bash", "Edit"], ["united", "united"]],
        ["permissions.allow", undefined, ["ignored"]],
        ["permissions.ask", undefined, []],
        ["permissions.defaultMode", "default", []],
        ["permissions.additionalDirectories", undefined, []],
        ["permissions.networkReads", false, []],
        ["permissions.disableBypassPermissionsMode", undefined, []],
      ],
    );
    assert.deepEqual(
      (await explain()).map(({ key }) => key),
      ["permissions.deny", "model", "permissions.allow"],
    );
    assert.deepEqual(await explain("env"), []);
    assert.deepEqual(await explain("env.NOT_SET"), []);
    assert.deepEqual(await explain("providers.mine.model"), []);
    await assert.rejects(explain("permission"), {
      code: "usage",
      message: 'There is no setting "permission"; did you mean permissions?',
    });
    await assert.rejects(explain("providers.x.colour"), { code: "usage" });
  });

  it("says of hooks what both files have, were one of them wrong", async () => {
    const { explain } = resolveFiles(
      true,
      ["user", { hooks: { Stop: ["a"], PreToolUse: ["b"] } }],
      ["local", { hooks: { Stop: {}, PreToolUse: ["c"] } }],
    );
    assert.deepEqual(JSON.parse(JSON.stringify((await explain("hooks")).map(({ value }) => value))), [
      { Stop: {}, PreToolUse: ["b", "c"] },
    ]);
  });

  it("shows no secret, neither what holds nor what a file says", async () => {
    const secret = "Zx81-hunter2-Qq";
    const values = {
      providers: {
        a: {
          type: "openai",
          apiKey: secret,
          baseURL: `https://me:${secret}@example.org/v1`,
          options: { auth: { token: secret } },
        },
        b: { type: "openai", apiKey: "$ENV:WORK_KEY" },
      },
      env: { MY_TOKEN: secret, PLAIN: "shown" },
      mcpServers: {
        s: {
          command: "x",
          args: ["--api-key", secret, "--port", "1"],
          env: { A: secret },
          headers: { "X-Some": secret, B: "$B_TOKEN" },
        },
      },
      hooks: {
        Stop: [{ hooks: [{ type: "http", url: "https://example.org", headers: { Authorization: `Bearer ${secret}` } }] }],
      },
    };
    const text = JSON.stringify(await resolveFiles(true, ["user", values], ["project", values]).explain());
    assert.equal(text.includes(secret), false, text);
    for (const shown of ["$ENV:WORK_KEY", '"shown"', "$B_TOKEN", '"--port","1"']) assert.ok(text.includes(shown), shown);
  });
});
