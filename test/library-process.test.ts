import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";

const root = process.env["OUTRIDER_ROOT"] ?? process.cwd();
const folder = mkdtempSync(join(tmpdir(), "outrider-process-"));
const home = mkdtempSync(join(tmpdir(), "outrider-process-home-"));
after(() => {
  for (const made of [folder, home]) rmSync(made, { recursive: true, force: true });
});

/** A program with a session whose one call says more than the model is shown; `ending` is how it ends. */
function program(ending: string): string {
  return `
    import { readdirSync } from "node:fs";
    import { createScriptedProvider, defineTool, InteractiveSession } from "@outrider/runtime";
    const tool = defineTool({ name: "talk", description: "", inputSchema: {}, execute: () => "word ".repeat(100_000) });
    const provider = createScriptedProvider([{ calls: [{ name: "talk", input: {} }] }, { text: "done" }]);
    const session = new InteractiveSession({ cwd: ${JSON.stringify(folder)}, provider, bare: true, tools: [tool], allowedTools: ["talk"] });
    await session.submit("go");
    console.log(readdirSync(${JSON.stringify(folder)}).length);
    ${ending}`;
}

describe("a program with a session whose outputs are long", () => {
  for (const [how, ending] of [
    ["shuts the session down", "await session.shutdown();"],
    ["simply ends", ""],
    ["exits with a failure", "process.exit(3);"],
    ["throws", "throw new Error('oh');"],
  ] as const)
    it(`leaves no folder behind when it ${how}`, () => {
      let said: unknown;
      try {
        said = execFileSync(process.execPath, ["--input-type=module", "-e", program(ending)], {
          cwd: root,
          encoding: "utf8",
          stdio: ["ignore", "pipe", "ignore"],
          env: { PATH: process.env["PATH"], TMPDIR: folder, HOME: home },
        });
      } catch (error) {
        said = (error as { stdout: string }).stdout;
      }
      assert.deepEqual([said, readdirSync(folder)], ["1\n", []]);
    });
});

describe("a program with an MCP server", () => {
  const server = join(folder, "..", `outrider-process-server-${process.pid}.mjs`);
  after(() => rmSync(server, { force: true }));
  writeFileSync(
    server,
    `
      import { createInterface } from "node:readline";
      const answer = (id, result) => console.log(JSON.stringify({ jsonrpc: "2.0", id, result }));
      const tools = [{ name: "wait", description: "", inputSchema: { type: "object" } }];
      for await (const line of createInterface({ input: process.stdin })) {
        const { id, method, params } = JSON.parse(line);
        if (method === "initialize")
          answer(id, { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } });
        if (method === "tools/list") answer(id, { tools });
        if (method === "tools/call") setTimeout(() => answer(id, { content: [{ type: "text", text: "waited" }] }), 1_000);
      }
    `,
  );
  const source = (ending: string): string => `
    import { createScriptedProvider, InteractiveSession } from "@outrider/runtime";
    const provider = createScriptedProvider([{ calls: [{ name: "mcp__s__wait", input: {} }] }, { text: "done" }]);
    const mcpServers = { s: { command: process.execPath, args: [${JSON.stringify(server)}] } };
    const session = new InteractiveSession({ cwd: ${JSON.stringify(folder)}, provider, bare: true, mcpServers, allowedTools: ["mcp__s"] });
    const { text } = await session.submit("go");
    console.log(text, /waited/.test(JSON.stringify(provider.requests[1].messages)));
    ${ending}`;

  for (const [how, ending] of [
    ["does not shut the session down", ""],
    ["does", "await session.shutdown(); console.log('closed');"],
  ] as const)
    it(`waits for its answers, and ends when it ${how}`, () => {
      const said = execFileSync(process.execPath, ["--input-type=module", "-e", source(ending)], {
        cwd: root,
        encoding: "utf8",
        stdio: ["ignore", "pipe", "inherit"],
        env: { PATH: process.env["PATH"], HOME: home },
        timeout: 60_000,
      });
      assert.equal(said, `done true\n${ending === "" ? "" : "closed\n"}`);
    });
});
