import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, before, describe, it } from "node:test";
import type { JsonObject } from "../../protocol/content.ts";
import { createLocalWorkspace } from "../../workspace/local.ts";
import type { Workspace } from "../../workspace/workspace.ts";
import { createToolMemory, type Tool, type ToolContext } from "../tool.ts";
import { McpServers } from "./mcp-servers.ts";
import type { McpServerState } from "./server-state.ts";
import { parseMcpServers } from "./server-config.ts";
import { eventually } from "../../../../../test/support/subagent-stage.ts";

const everything = resolve("node_modules/@modelcontextprotocol/server-everything/dist/index.js");
const env = { PATH: process.env["PATH"] ?? "" };
let folder: string;
let workspace: Workspace;

before(() => {
  folder = mkdtempSync(join(tmpdir(), "outrider-mcp-"));
  workspace = createLocalWorkspace({ root: folder, env, overflowDirectory: join(folder, "overflow") });
});
after(async () => {
  await workspace.close();
  rmSync(folder, { recursive: true, force: true });
});

const servers = (value: unknown) => parseMcpServers(value, { source: "a test", env: {} });
const context = (): ToolContext => ({
  callId: "call-1",
  workspace,
  signal: new AbortController().signal,
  progress: () => {},
  memory: createToolMemory(),
});

async function withServers(
  value: unknown,
  body: (open: { mcp: McpServers; states: McpServerState[]; tool: (name: string) => Tool }) => Promise<void>,
  options: { connectTimeoutMs?: number } = {},
): Promise<void> {
  const states: McpServerState[] = [];
  const mcp = new McpServers({ cwd: folder, env, onState: (state) => states.push(state), ...options });
  const tool = (name: string): Tool => {
    const found = mcp.tools.find((one) => one.name === name);
    assert.ok(found, `${name} is among ${mcp.tools.map((one) => one.name)}`);
    return found;
  };
  try {
    await mcp.connect(servers(value));
    await body({ mcp, states, tool });
  } finally {
    await mcp.close();
  }
}

describe("McpServers", () => {
  it("offers the tools of a server that is a program, and calls them", async () => {
    const config = { ev: { command: process.execPath, args: [everything, "stdio"] } };
    await withServers(config, async ({ states, tool }) => {
      assert.deepEqual(
        states.map(({ status }) => status),
        ["pending", "connected"],
      );
      const output = await tool("mcp__ev__echo").execute({ message: "hello" }, context());
      assert.deepEqual(output, { content: [{ type: "text", text: "Echo: hello" }], isError: false });
      const image = await tool("mcp__ev__get-tiny-image").execute({}, context());
      assert.ok(image.content.some((part) => part.type === "image" && part.mediaType === "image/png"));
    });
  });

  it("offers the tools of a server over HTTP", async () => {
    const port = await freePort();
    const child = spawn(process.execPath, [everything, "streamableHttp"], {
      env: { ...env, PORT: String(port) },
      stdio: "ignore",
    });
    try {
      await untilListening(port);
      await withServers({ web: { type: "http", url: `http://127.0.0.1:${port}/mcp` } }, async ({ tool }) => {
        const output = await tool("mcp__web__echo").execute({ message: "over http" }, context());
        assert.deepEqual(output.content, [{ type: "text", text: "Echo: over http" }]);
      });
    } finally {
      child.kill("SIGKILL");
    }
  });

  it("goes on without a server that hangs, cannot be started, or ends at once, and says why", async () => {
    const config = {
      hangs: { command: "sleep", args: ["60"] },
      missing: { command: "no-such-program-anywhere" },
      ends: { command: "bash", args: ["-c", "echo 'no licence' >&2; exit 3"] },
      good: { command: process.execPath, args: [everything, "stdio"] },
    };
    await withServers(
      config,
      async ({ mcp }) => {
        const errors = Object.fromEntries(mcp.states.map(({ name, status, error }) => [name, `${status}: ${error ?? ""}`]));
        assert.match(errors["hangs"] ?? "", /^failed: it did not answer within 3000 ms/);
        assert.match(errors["missing"] ?? "", /^failed: .*ENOENT/);
        assert.match(errors["ends"] ?? "", /^failed: .*no licence/);
        assert.equal(errors["good"], "connected: ");
        const own = mcp.tools.filter((tool) => tool.name.startsWith("mcp__"));
        assert.ok(own.length > 0 && own.every((tool) => tool.name.startsWith("mcp__good__")));
      },
      { connectTimeoutMs: 3_000 },
    );
  });

  it("ends what a server has started, also what left its process group", async () => {
    const script = join(folder, "server.sh");
    const pids = join(folder, "pids");
    writeFileSync(
      script,
      `setsid sleep 300 & echo $! >> ${pids}\n(sleep 301 & echo $! >> ${pids})\nexec ${process.execPath} ${everything} stdio\n`,
    );
    let started: number[] = [];
    await withServers({ s: { command: "bash", args: [script] } }, async ({ mcp }) => {
      assert.equal(mcp.states[0]?.status, "connected");
      started = readFileSync(pids, "utf8").trim().split("\n").map(Number);
      assert.equal(started.length, 2);
    });
    assert.deepEqual(started.filter(isRunning), []);
  });

  it("does not carry headers to another origin", async () => {
    const seen: (string | undefined)[] = [];
    const other = createServer((request, response) => {
      seen.push(request.headers.authorization);
      response.end();
    });
    const first = createServer((_, response) => {
      response.writeHead(307, { location: `http://127.0.0.1:${(other.address() as AddressInfo).port}/mcp` }).end();
    });
    await Promise.all([other, first].map((server) => new Promise<void>((done) => server.listen(0, "127.0.0.1", done))));
    const url = `http://127.0.0.1:${(first.address() as AddressInfo).port}/mcp`;
    try {
      await withServers({ x: { url, headers: { authorization: "Bearer secret" } } }, async ({ mcp }) => {
        assert.equal(mcp.states[0]?.status, "failed");
        assert.match(mcp.states[0]?.error ?? "", /another origin/);
      });
      assert.deepEqual(seen, []);
    } finally {
      for (const server of [other, first]) server.close();
    }
  });

  it("replaces servers that came later, and leaves those alone that it began with", async () => {
    const ev = { command: process.execPath, args: [everything, "stdio"] };
    await withServers({ a: ev }, async ({ mcp }) => {
      const changed = await mcp.replace(servers({ b: { command: "no-such-program-anywhere" } }));
      assert.deepEqual(
        { added: changed.added, removed: changed.removed, failed: Object.keys(changed.errors) },
        { added: ["b"], removed: [], failed: ["b"] },
      );
      assert.ok(mcp.tools.length > 0);
      const again = await mcp.replace(servers({ a: ev }));
      assert.deepEqual(
        { added: again.added, removed: again.removed, errors: again.errors },
        { added: [], removed: ["b"], errors: {} },
      );
      assert.deepEqual((await mcp.replace(new Map())).removed, ["a"]); // it was named, so it may go
      assert.deepEqual(mcp.tools, []);
    });
  });

  it("switches a server off and on again, and calls a tool outside of a turn", async () => {
    const ev = { command: process.execPath, args: [everything, "stdio"] };
    await withServers({ a: ev }, async ({ mcp }) => {
      const { signal } = new AbortController();
      assert.match(await mcp.call("mcp__a__echo", { message: "hello" }, signal), /hello/);
      assert.equal(await mcp.toggle("a", false), true);
      assert.equal(mcp.states[0]?.status, "disabled");
      assert.deepEqual(mcp.tools, []);
      await assert.rejects(mcp.call("mcp__a__echo", { message: "hello" }, signal), /not there/);
      assert.equal(await mcp.toggle("a", true), true);
      assert.equal(mcp.states[0]?.status, "connected");
      assert.equal(await mcp.toggle("nobody", true), false);
      assert.equal(await mcp.reconnect("nobody"), false);
    });
  });

  it("hands a server's questions to whoever can answer them, and the answer back", async () => {
    const ev = { command: process.execPath, args: [everything, "stdio"] };
    const name = "mcp__ev__trigger-elicitation-request";
    const asked: unknown[] = [];
    const elicit = async (server: string, request: JsonObject) => {
      asked.push([server, request["message"]]);
      return { action: "decline" };
    };
    const mcp = new McpServers({ cwd: folder, env, elicit });
    try {
      await mcp.connect(servers({ ev }));
      await eventually(() => mcp.tools.some((tool) => tool.name === name)); // offered once the server knows what we can do
      assert.match(await mcp.call(name, {}, new AbortController().signal), /declined/);
      assert.deepEqual(asked, [["ev", "Please provide inputs for the following fields:"]]);
    } finally {
      await mcp.close();
    }
  });

  it("refuses two servers whose tools would have the same names", async () => {
    const mcp = new McpServers({ cwd: folder, env });
    await assert.rejects(mcp.connect(servers({ "x y": { command: "sleep" }, x_y: { command: "sleep" } })), { code: "config" });
    await mcp.close();
  });
});

function isRunning(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as AddressInfo;
  await new Promise((done) => server.close(done));
  return port;
}

async function untilListening(port: number): Promise<void> {
  for (let attempt = 0; attempt < 200; attempt++) {
    try {
      await fetch(`http://127.0.0.1:${port}/`);
      return;
    } catch {
      await new Promise((done) => setTimeout(done, 50));
    }
  }
  throw new Error("The server does not listen");
}
