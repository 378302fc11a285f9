import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { startModelServer } from "../packages/runtime/src/testing/model-server.ts";

const root = process.env["OUTRIDER_ROOT"] ?? process.cwd();
const cli = join(root, "packages/cli");
const temp = mkdtempSync(join(tmpdir(), "outrider-startup-"));
after(() => rmSync(temp, { recursive: true, force: true }));

/** Node's public modules a run may load up to its end, beside those Node itself starts with. Each one costs start-up time. */
const allowedBuiltins: string[] = [];

/** The source folders and packages the start-up path is made of. What a tool needs beyond its declaration is loaded when it runs. */
const allowedPackages = ["eventsource-parser"];

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

  it("is made of listed packages only, in few files", () => {
    const meta = JSON.parse(readFileSync(join(cli, "dist/meta.json"), "utf8")) as Metafile;
    const files = reachable(meta, "packages/cli/dist/main.js");
    const run = Object.keys(meta.outputs).find((name) => /chunk-run-/.test(name));
    assert.ok(run);
    for (const file of reachable(meta, run)) files.add(file);
    const sources = [...files].flatMap((file) => Object.keys(meta.outputs[file]?.inputs ?? {}));
    const packages = new Set(sources.flatMap((source) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(source)?.[1] ?? []));
    assert.deepEqual([...packages].sort(), allowedPackages);
    assert.ok(files.size <= 8, [...files].join(", "));
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
  return names.flatMap((name) => /^NativeModule ((?!internal\/|_).*)$/.exec(name)?.[1] ?? []).sort();
}
