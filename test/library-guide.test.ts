import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { transformSync } from "esbuild";
import { sessionKinds } from "../packages/runtime/src/hosting/option-kinds.ts";
import { type ModelServer, type ServerReply, startModelServer } from "../packages/runtime/src/testing/model-server.ts";
import { installLibrary } from "./support/installed-library.ts";

const root = process.env["OUTRIDER_ROOT"] ?? process.cwd();
const guide = readFileSync(join(root, "docs/library.md"), "utf8");
const project = mkdtempSync(join(tmpdir(), "outrider-guide-"));
const home = mkdtempSync(join(tmpdir(), "outrider-guide-home-"));
after(() => {
  for (const folder of [project, home]) rmSync(folder, { recursive: true, force: true });
});

type Example = { readonly name: string; readonly source: string; readonly output: string | undefined };

/** Blocks whose first line names a file; a block of plain text behind one is what it prints. */
const examples = [...guide.matchAll(/^```ts\n\/\/ (\S+)\n([\s\S]*?)^```\n(?:\n```text\n([\s\S]*?)^```\n)?/gm)].map(
  ([, name = "", source = "", output]): Example => ({ name, source, output }),
);

/** The README files show programs too: they are compiled, and not run. */
const shown = ["README.md", "packages/runtime/README.md"].flatMap((path, file) =>
  [...readFileSync(join(root, path), "utf8").matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, source = ""], index) => ({
    name: `readme-${file}-${index}.ts`,
    source,
  })),
);

const bash = (command: string): ServerReply => ({ calls: [{ name: "Bash", input: { command } }] });
const call = (name: string, input: object): ServerReply => ({ calls: [{ name, input }] });

/** What the model says to each of them. */
const scripts: Readonly<Record<string, readonly ServerReply[]>> = {
  "openai.ts": [{ text: "Good morning from OpenAI." }],
  "query.ts": [{ text: "It keeps a list of birds." }],
  "result.ts": [{ text: "There are 3.", usage: { outputTokens: 7 } }],
  "session.ts": [bash("wc -l birds.txt"), { text: "It has 3 lines." }, { text: "Three." }],
  "inbox.ts": [{ text: "Three." }, { text: "Owls and wrens." }],
  "tool.ts": [call("count_birds", { bird: "OWL" }), { text: "Twice." }],
  "permissions.ts": [bash("touch list.txt"), call("Write", { file_path: "list.txt", content: "owl\n" }), { text: "Done." }],
  "mcp.ts": [call("mcp__weather__forecast", {}), { text: "Bring an umbrella." }],
  "structured.ts": [
    { text: JSON.stringify({ birds: [], seen: "2026-11-16" }) },
    { text: JSON.stringify({ birds: ["owl", "wren"], seen: "2026-11-16" }) },
  ],
  "hooks.ts": [call("Read", { file_path: "secret.txt" }), { text: "I may not." }],
  "subagents.ts": [
    call("Task", { description: "count", prompt: "Count the birds in birds.txt.", subagent_type: "counter" }),
    { text: "3" },
    { text: "There are three." },
  ],
  "resume.ts": [{ text: "I will." }, { text: "The owl." }, { text: "Gladly." }],
  "host.ts": [{ text: "Good morning." }, { text: "Good morning again." }],
  "web.ts": [{ text: "Good morning." }],
  "agent.ts": [call("add", { a: 2, b: 40 }), { text: "42" }],
};

/** What the last request must hold, where what is printed does not show it. */
const sent: Readonly<Record<string, RegExp>> = {
  "tool.ts": /2 times/,
  "mcp.ts": /rain in the afternoon/,
  "structured.ts": /birds: Too small/,
  "hooks.ts": /That file is nobody's business/,
  "agent.ts": /"42"/,
};

/** An MCP server of one tool, over pipes. */
const weatherServer = `
import { createInterface } from "node:readline";
const answers = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "weather", version: "1" } }),
  "tools/list": () => ({ tools: [{ name: "forecast", inputSchema: { type: "object" } }] }),
  "tools/call": () => ({ content: [{ type: "text", text: "rain in the afternoon" }] }),
};
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: "2.0", id, result: answers[method]?.(params) ?? {} }));
}`;

describe("the guide to the library", () => {
  before(() => {
    installLibrary(project, ["zod"]);
    writeFileSync(join(project, "package.json"), '{"type":"module"}');
    writeFileSync(join(project, "birds.txt"), "owl\nwren\nwren\n");
    writeFileSync(join(project, "weather-server.mjs"), weatherServer);
    for (const { name, source } of shown) writeFileSync(join(project, name), source);
    for (const { name, source } of examples) {
      writeFileSync(join(project, name), source);
      writeFileSync(join(project, name.replace(/\.ts$/, ".js")), transformSync(source, { loader: "ts", target: "node20" }).code);
    }
  });

  it("has programs, and a script for each that asks a model", () => {
    assert.ok(examples.length > 14, `${examples.length} examples`);
    const blocks = guide.match(/^```(ts|js|tsx|jsx|javascript|typescript)$/gm) ?? [];
    assert.equal(examples.length, blocks.length, "every block of code names its file");
    const known = [...Object.keys(scripts), "provider.ts", "own-provider.ts", "testing.test.ts"];
    assert.deepEqual(examples.map(({ name }) => name).sort(), known.sort());
  });

  for (const [resolution, module] of [
    ["nodenext", "nodenext"],
    ["bundler", "esnext"],
  ])
    it(`is taken by the compiler as it stands, modules resolved as ${resolution}`, () => {
      const tsc = join(root, "node_modules/typescript/bin/tsc");
      const flags = [
        "--noEmit",
        "--strict",
        "--exactOptionalPropertyTypes",
        "--skipLibCheck",
        "--types",
        "node",
        "--target",
        "es2022",
      ];
      const how = ["--module", String(module), "--moduleResolution", String(resolution)];
      assert.equal(shown.length, 2);
      const files = [...examples, ...shown].map(({ name }) => name);
      const { status, stdout } = spawnSync(process.execPath, [tsc, ...flags, ...how, ...files], {
        cwd: project,
        encoding: "utf8",
      });
      assert.deepEqual([status, stdout], [0, ""]);
    });

  for (const { name, output } of examples.filter(({ name }) => name !== "provider.ts"))
    it(`has a program that runs and prints what it says: ${name}`, async () => {
      const server = await startModelServer({ replies: scripts[name] ?? [] });
      try {
        const { status, stdout, stderr } = await run(name, server);
        assert.deepEqual([status, output === undefined ? undefined : stdout], [0, output], stderr);
        assert.equal(server.requests.length, scripts[name]?.length ?? 0);
        const wanted = sent[name];
        if (wanted) assert.match(JSON.stringify(server.requests.at(-1)?.body), wanted);
      } finally {
        await server.close();
      }
    });

  it("has a host that goes on with what an earlier run of the program has stored", async () => {
    const server = await startModelServer({ replies: scripts["host.ts"] ?? [] });
    const { status, stdout, stderr } = await run("host.ts", server);
    await server.close();
    assert.deepEqual([status, stdout], [0, examples.find(({ name }) => name === "host.ts")?.output], stderr);
    assert.match(JSON.stringify(server.requests[0]?.body), /Hello.*Good morning/);
  });

  it("has a row for every option", () => {
    const rows = [...guide.matchAll(/^\| `(\w+)`(?:, `(\w+)`)?(?: \(\*request\*\))? \|/gm)].flatMap(([, ...names]) =>
      names.filter(Boolean),
    );
    assert.deepEqual(rows.sort(), Object.keys(sessionKinds).sort());
  });

  it("leads to documents that are there", () => {
    for (const [, target = ""] of guide.matchAll(/\]\(([^)#]+)(?:#[^)]*)?\)/g))
      assert.doesNotThrow(() => readFileSync(join(root, "docs", target)), target);
  });
});

/** Without a network: only the scripted model is there. */
async function run(name: string, server: ModelServer): Promise<{ status: number | null; stdout: string; stderr: string }> {
  const child = spawn(process.execPath, [name.replace(/\.ts$/, ".js")], {
    cwd: project,
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      PATH: process.env["PATH"],
      HOME: home,
      TMPDIR: home,
      ANTHROPIC_API_KEY: "k",
      ANTHROPIC_BASE_URL: server.url,
      OPENAI_API_KEY: "k",
      OPENAI_BASE_URL: `${server.url}/v1`,
    },
  });
  const read = async (stream: NodeJS.ReadableStream): Promise<string> => {
    let text = "";
    for await (const chunk of stream) text += String(chunk);
    return text;
  };
  const ended = new Promise<number | null>((resolve) => child.once("exit", resolve));
  const [stdout, stderr, status] = await Promise.all([read(child.stdout), read(child.stderr), ended]);
  return { status, stdout, stderr };
}
