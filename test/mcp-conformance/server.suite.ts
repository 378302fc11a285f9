import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { promisify } from "node:util";

const root = process.env["OUTRIDER_ROOT"] ?? process.cwd();
const suite = join(root, "test/mcp-conformance");
const run = promisify(execFile);

/** Those that any server can pass. The others want tools, resources and prompts of fixed names. */
const scenarios = ["server-initialize", "ping", "tools-list", "tools-call-error", "resources-list", "prompts-list"];

describe("the conformance suite of MCP, as a server", () => {
  const server = spawn(process.execPath, [join(suite, "server.mjs")], {
    env: { ...process.env, OUTRIDER_ROOT: root },
    stdio: ["ignore", "pipe", "inherit"],
  });
  after(() => server.kill());
  const address = once(server.stdout, "data").then(([data]) => String(data).trim());

  for (const scenario of scenarios)
    it(scenario, async () => {
      const program = [
        ...["--import", join(suite, "old-node.mjs")],
        join(suite, "node_modules/@modelcontextprotocol/conformance/dist/index.js"),
      ];
      const { stdout, stderr } = await run(process.execPath, [
        ...program,
        ...["server", "--url", await address, "--scenario", scenario],
      ]).catch((error: { stdout: string; stderr: string }) => error);
      assert.match(`${stdout}${stderr}`.slice(-4_000), /Passed: ([1-9]\d*)\/\1, 0 failed, 0 warnings/);
    });
});
