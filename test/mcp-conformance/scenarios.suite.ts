import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { promisify } from "node:util";

const root = process.env["OUTRIDER_ROOT"] ?? process.cwd();
const suite = join(root, "test/mcp-conformance");
const program = [
  "--import",
  join(suite, "old-node.mjs"),
  join(suite, "node_modules/@modelcontextprotocol/conformance/dist/index.js"),
];
const run = promisify(execFile);

/** Every scenario for clients, and how many of its checks there are; `docs/mcp.md` has the same table. */
const scenarios = [...readFileSync(join(root, "docs/mcp.md"), "utf8").matchAll(/^\| `([\w/-]+)` \| passes/gm)].map(
  ([, name]) => name ?? "",
);

describe("the conformance suite of MCP, as a client", { concurrency: 2 }, () => {
  it("has no scenario for clients that the documents leave out", async () => {
    const { stdout } = await run(process.execPath, [...program, "list"]);
    const known = [...stdout.slice(stdout.indexOf("Client scenarios")).matchAll(/^ {2}- (\S+)/gm)].map(([, name]) => name);
    assert.deepEqual([...scenarios].sort(), known.sort());
  });

  for (const scenario of scenarios)
    it(scenario, async () => {
      const client = `${process.execPath} ${join(suite, "client.mjs")}`;
      const words = ["client", "--command", client, "--scenario", scenario, "--timeout", "40000"];
      const { stdout, stderr } = await run(process.execPath, [...program, ...words], {
        env: { ...process.env, OUTRIDER_ROOT: root },
        maxBuffer: 64 * 1024 * 1024,
      }).catch((error: { stdout: string; stderr: string }) => error);
      assert.match(`${stdout}${stderr}`.slice(-4_000), /Passed: (\d+)\/\1, 0 failed, 0 warnings/);
    });
});
