import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { command, projectRoot, stage } from "./harness.ts";

type Asked = { readonly model: string; readonly messages: readonly { role: string; content: string }[] };

describe("examples/agent-sdk", () => {
  it("runs on a model of OpenAI's, with its tool, its callback and its typed result", async () => {
    const call = (file: string) => ({ name: "mcp__house__has_test", input: { file } });
    const { server, cwd, env } = await stage([
      { calls: [call("cart.js"), call("door.js"), { name: "Bash", input: { command: "touch made" } }] },
      { text: '{"missing":["door.js"]}' },
    ]);
    for (const name of ["cart.js", "cart.test.js", "door.js"]) writeFileSync(join(cwd, name), "");
    const copy = join(projectRoot, "test/agent-sdk/.cache/example"); // beside the suite's packages
    mkdirSync(copy, { recursive: true });
    const program = join(copy, "missing-tests.mjs");
    copyFileSync(join(projectRoot, "examples/agent-sdk/missing-tests.mjs"), program);
    const child = spawn(process.execPath, [program, cwd], {
      env: { ...env, ANTHROPIC_API_KEY: "", OPENAI_API_KEY: "test-key", OPENAI_BASE_URL: `${server.url}/v1`, OUTRIDER: command },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let [stdout, stderr] = ["", ""];
    child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
    const code = await new Promise((resolve) => child.on("close", resolve));
    assert.deepEqual([code, stdout], [0, '{"missing":["door.js"]}\n'], stderr);
    const asked = server.requests.map(({ url, body }) => ({ url, ...(body as Asked) })); // sent by the command under test
    assert.deepEqual(
      asked.map(({ url, model }) => [url, model]),
      Array(2).fill(["/v1/chat/completions", "gpt-5.5"]),
    );
    const messages = asked[1]?.messages ?? [];
    assert.deepEqual(
      messages.flatMap(({ role, content }) => (role === "tool" ? [content] : [])),
      ["true", "false", "Bash is not part of this job"],
    );
  });
});
