import assert from "node:assert/strict";
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { startModelServer } from "../packages/runtime/src/testing/model-server.ts";

const root = process.env["OUTRIDER_ROOT"] ?? process.cwd();
const everything = join(root, "node_modules/@modelcontextprotocol/server-everything/dist/index.js");
const folder = mkdtempSync(join(tmpdir(), "outrider-installed-"));
const libraryProject = join(folder, "with-library");
const commandProject = join(folder, "with-command");
after(() => rmSync(folder, { recursive: true, force: true }));

/** What npm would install, without a network and outside of this workspace: nothing is found that a package does not ask for. */
before(() => {
  const workspaces = ["--workspace", "packages/runtime", "--workspace", "packages/cli"];
  const args = ["pack", "--json", "--ignore-scripts", "--pack-destination", folder, ...workspaces];
  const packed = execFileSync("npm", args, { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  const files = new Map<string, string>(JSON.parse(packed).map(({ name, filename }: Packed) => [name, join(folder, filename)]));
  for (const [name, project] of [
    ["@outrider/runtime", libraryProject],
    ["outrider", commandProject],
  ] as const) {
    const place = join(project, "node_modules", name);
    mkdirSync(place, { recursive: true });
    execFileSync("tar", ["-xzf", files.get(name) ?? "", "-C", place, "--strip-components=1"]);
    copyDependencies(place, project);
  }
});

type Packed = { name: string; filename: string };

function copyDependencies(place: string, project: string): void {
  const { dependencies = {} } = JSON.parse(readFileSync(join(place, "package.json"), "utf8"));
  for (const name of Object.keys(dependencies)) {
    const copy = join(project, "node_modules", name);
    cpSync(join(root, "node_modules", name), copy, { recursive: true });
    copyDependencies(copy, project);
  }
}

describe("the library, installed", () => {
  it("brings types that need nothing but Node's", () => {
    for (const name of ["@types/node", "undici-types"])
      cpSync(join(root, "node_modules", name), join(libraryProject, "node_modules", name), { recursive: true });
    const { exports } = JSON.parse(readFileSync(join(libraryProject, "node_modules/@outrider/runtime/package.json"), "utf8"));
    const imports = Object.keys(exports).map(
      (path, index) => `import * as part${index} from "@outrider/runtime${path.slice(1)}";`,
    );
    writeFileSync(
      join(libraryProject, "consumer.ts"),
      [
        ...imports,
        `export const parts: object[] = [${imports.map((_, index) => `part${index}`)}];`,
        'import { type McpMessage, McpServers, type McpTransport } from "@outrider/runtime/mcp";',
        "class Silent implements McpTransport {",
        "  onmessage?: (message: McpMessage) => void;",
        "  async start(): Promise<void> {}",
        "  async send(message: McpMessage): Promise<void> { if (message.method === 'ping') this.onmessage?.(message); }",
        "  async close(): Promise<void> {}",
        "}",
        'export const servers = new McpServers({ cwd: ".", env: {}, hostTransport: () => new Silent() });',
      ].join("\n"),
    );
    writeFileSync(join(libraryProject, "package.json"), '{"type":"module"}');
    const tsc = join(root, "node_modules/typescript/bin/tsc");
    // Libraries are checked too: what a declaration names must be there.
    const flags = ["--noEmit", "--strict", "--skipLibCheck", "false", "--module", "nodenext", "--target", "es2023"];
    assert.equal(execute([tsc, ...flags, "--types", "node", "consumer.ts"], libraryProject), "");
  });

  it("shows its errors under their own name", () => {
    const program =
      'import { RuntimeError } from "@outrider/runtime"; console.log(new RuntimeError("usage", "wrong"), RuntimeError.name);';
    const said = execute(["--input-type=module", "-e", program], libraryProject);
    assert.match(said, /^RuntimeError: wrong\n/);
    assert.match(said, /\} RuntimeError\n$/);
  });

  it("talks to MCP servers over pipes and over HTTP", async () => {
    const port = await freePort();
    const server = spawn(process.execPath, [everything, "streamableHttp"], {
      env: { PORT: String(port) },
      stdio: ["ignore", "ignore", "pipe"],
    });
    after(() => server.kill());
    await untilItSpeaks(server);
    const config = {
      pipes: { command: process.execPath, args: [everything, "stdio"] },
      web: { type: "http", url: `http://127.0.0.1:${port}/mcp` },
    };
    writeFileSync(
      join(libraryProject, "servers.mjs"),
      `import { McpServers, parseMcpServers } from "@outrider/runtime/mcp";
      const servers = new McpServers({ cwd: ".", env: {} });
      await servers.connect(parseMcpServers(${JSON.stringify(config)}, { source: "a test", env: {} }));
      const call = (name, input) => servers.call(name, input, new AbortController().signal);
      console.log(JSON.stringify(servers.states.map(({ status, error }) => error ?? status)));
      console.log(await call("mcp__pipes__echo", { message: "pipes" }), await call("mcp__web__get-sum", { a: 2, b: 40 }));
      console.log(await call("mcp__pipes__get-structured-content", { location: "New York" }));
      await servers.close();`,
    );
    assert.deepEqual(execute(["servers.mjs"], libraryProject).trim().split("\n").slice(0, 2), [
      '["connected","connected"]',
      "Echo: pipes The sum of 2 and 40 is 42.",
    ]);
  });

  it("is there once: nothing it depends on is also in it", () => {
    const { dependencies } = JSON.parse(
      readFileSync(join(libraryProject, "node_modules/@outrider/runtime/package.json"), "utf8"),
    );
    const inside = namesInNotices(join(libraryProject, "node_modules/@outrider/runtime"));
    // One more is argued for in review, and then written here.
    const allowed = [
      "@modelcontextprotocol/client",
      "@modelcontextprotocol/core",
      "@modelcontextprotocol/server",
      "@pydantic/genai-prices", // its prices
      "eventsource",
      "jose",
      "pkce-challenge",
      "zod",
    ];
    assert.deepEqual(inside, allowed);
    assert.deepEqual(
      Object.keys(dependencies).filter((name) => inside.includes(name)),
      [],
    );
  });
});

describe("the command, installed", () => {
  it("needs no other package, and runs an MCP server", async () => {
    assert.deepEqual(readdirSync(join(commandProject, "node_modules")), ["outrider"]);
    const model = await startModelServer({
      replies: [{ calls: [{ name: "mcp__ev__echo", input: { message: "from the tarball" } }] }, { text: "done" }],
    });
    after(() => model.close());
    const config = JSON.stringify({ mcpServers: { ev: { command: process.execPath, args: [everything, "stdio"] } } });
    const child = spawn(
      process.execPath,
      ["node_modules/outrider/bin/outrider.js", "-p", "x", "--mcp-config", config, "--allowedTools", "mcp__ev__echo"],
      {
        cwd: commandProject,
        env: {
          PATH: process.env["PATH"],
          OUTRIDER_HOME: join(folder, "home"),
          ANTHROPIC_API_KEY: "k",
          ANTHROPIC_BASE_URL: model.url,
        },
        stdio: ["ignore", "pipe", "inherit"],
      },
    );
    let said = "";
    for await (const chunk of child.stdout) said += chunk;
    assert.equal(said, "done\n");
    assert.match(JSON.stringify(model.requests[1]?.body), /Echo: from the tarball/);
  });

  it("hands on the licences of what is in it", () => {
    const names = namesInNotices(join(commandProject, "node_modules/outrider"));
    for (const name of ["@cfworker/json-schema", "@modelcontextprotocol/client", "eventsource-parser", "unbash", "zod"])
      assert.ok(names.includes(name), `${name} is among ${names}`);
    assert.deepEqual([...new Set(names)].length, names.length);
  });
});

/** The headings of the notices; under each is the text of a licence. */
function namesInNotices(place: string): string[] {
  const [, ...sections] = readFileSync(join(place, "dist/THIRD-PARTY-NOTICES.txt"), "utf8").split(`\n${"-".repeat(80)}\n`);
  return sections.map((section) => {
    const [heading = "", ...text] = section.split("\n");
    assert.match(
      text.join(" "),
      /Permission (is hereby granted|to use)|Apache License|Redistribution and use in source and binary forms/,
      heading,
    );
    return heading.replace(/ \S+ \(.*$/, "");
  });
}

function execute(args: string[], cwd: string): string {
  try {
    return execFileSync(process.execPath, args, { cwd, encoding: "utf8", env: { PATH: process.env["PATH"] } });
  } catch (error) {
    return String((error as { stdout?: string }).stdout); // the compiler says there what is wrong
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** It says on stderr that it listens. */
async function untilItSpeaks(server: ChildProcess): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once("exit", (code) => reject(new Error(`The server ended with ${code}`)));
    server.stderr?.on("data", (chunk) => String(chunk).includes("listening") && resolve());
  });
}
