import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { after, describe, it } from "node:test";
import { startModelServer } from "../packages/runtime/src/testing/model-server.ts";

const root = process.env["OUTRIDER_ROOT"] ?? process.cwd();
const cli = join(root, "packages/cli");
const temp = mkdtempSync(join(tmpdir(), "outrider-startup-"));
after(() => rmSync(temp, { recursive: true, force: true }));

/** Node's public modules a run may load up to its end, beside those Node itself starts with. Each one costs start-up time. */
const allowedBuiltins = ["fs/promises", "http", "module", "os", "timers/promises", "tty", "vm"];

/** The source folders and packages the start-up path is made of. What a tool needs beyond its declaration is loaded when it runs. */
const allowedPackages = ["eventsource-parser"];

/** What only some runs need, and is loaded then. */
const laterSources = [
  "catalog-data.ts",
  "ledger.ts",
  "openai-chat.ts",
  "openai-responses.ts",
  "gemini.ts",
  "html-text.ts",
  "http-get.ts",
  "input-problems.ts",
  "search-built-in.ts",
  "demo.ts",
  "help.ts",
  "progress.ts",
  "recording.ts",
  "providers.ts",
];

describe("the way to the first request", () => {
  it("loads only listed modules of Node's", async () => {
    const server = await startModelServer({ replies: [{ text: "ok" }] });
    after(() => server.close());
    const report = `process.on("exit", () => process.stderr.write("MODULES " + JSON.stringify(process.moduleLoadList)));`;
    writeFileSync(join(temp, "bare.mjs"), report);
    writeFileSync(
      join(temp, "probe.mjs"),
      `${report} process.argv.splice(2, 99, "-p", "hi"); await import(${JSON.stringify(join(cli, "bin/outrider.js"))});`,
    );
    const env = { ANTHROPIC_API_KEY: "k", ANTHROPIC_BASE_URL: server.url, OUTRIDER_HOME: temp };
    const bare = await modulesOf("bare.mjs", env);
    const loaded = (await modulesOf("probe.mjs", env)).filter((name) => !bare.includes(name));
    assert.equal(server.requests.length, 1);
    assert.deepEqual(
      loaded.filter((name) => !allowedBuiltins.includes(name)),
      [],
    );
  });

  it("is one file of listed packages, and what runs need later is not in it", () => {
    const meta = JSON.parse(readFileSync(join(cli, "dist/meta.json"), "utf8")) as Metafile;
    const names = Object.keys(meta.outputs);
    const roots = names.filter((name) => /\/(main|chunk-run-\w+|chunk-anthropic-messages-\w+)\.js$/.test(name));
    assert.equal(roots.length, 3);
    const core = roots.reduce((seen, root) => reachable(meta, root, seen), new Set<string>());
    const written = readdirSync(join(cli, "dist")).filter((name) => name.endsWith(".cjs"));
    const separate = names.filter((name) => !core.has(name)).map((name) => basename(name).replace(/js$/, "cjs"));
    assert.deepEqual(written.sort(), ["main.cjs", ...separate].sort());

    const sources = [...core].flatMap((file) => Object.keys(meta.outputs[file]?.inputs ?? {}));
    const packages = new Set(sources.flatMap((source) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(source)?.[1] ?? []));
    assert.deepEqual([...packages].sort(), allowedPackages);
    const later = sources.filter((source) => laterSources.some((name) => source.endsWith(name)));
    assert.deepEqual(later, []);
  });
});

type Metafile = {
  outputs: Record<string, { inputs: Record<string, unknown>; imports: { path: string; kind: string; external?: boolean }[] }>;
};

/** The output files that are loaded with this one; dynamic imports are not followed. */
function reachable(meta: Metafile, from: string, seen: Set<string> = new Set()): Set<string> {
  if (seen.has(from)) return seen;
  seen.add(from);
  for (const { path, kind, external } of meta.outputs[from]?.imports ?? [])
    if (kind === "import-statement" && !external) reachable(meta, path, seen);
  return seen;
}

/** The public modules of Node's that a script has loaded when it ends. */
async function modulesOf(script: string, env: Record<string, string>): Promise<string[]> {
  const child = spawn(process.execPath, [join(temp, script)], {
    env: { PATH: process.env["PATH"] ?? "", ...env },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let text = "";
  for await (const chunk of child.stderr) text += chunk;
  const names: string[] = JSON.parse(text.slice(text.indexOf("MODULES ") + "MODULES ".length));
  return names.flatMap((name) => /^NativeModule ((?!internal\/(?!deps\/undici)|_).*)$/.exec(name)?.[1] ?? []).sort();
}
