import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { pathToFileURL } from "node:url";

const root = process.env["OUTRIDER_ROOT"] ?? process.cwd();
const temp = mkdtempSync(join(tmpdir(), "outrider-second-try-"));
after(() => rmSync(temp, { recursive: true, force: true }));

/** What each test file does; `tries` holds how often it has been run before. */
const bodies = {
  "good.mjs": "",
  "bad.mjs": "throw new Error('as always');",
  "unsteady.mjs": "if (tries === 0) throw new Error('this once');",
  "crashing.mjs": "if (tries === 0) process.exit(7);",
  "killed.mjs": "if (tries === 0) process.kill(process.pid, 'SIGKILL');",
};

describe("test files", () => {
  it("are played in the order in which they are given", () => {
    const { text } = run({ files: ["unsteady.mjs", "good.mjs", "crashing.mjs"], again: false, concurrency: 1 });
    assert.deepEqual(text.match(/^begins .*/gm), ["begins unsteady.mjs", "begins good.mjs", "begins crashing.mjs"]);
  });
});

describe("a second try for test files that failed", () => {
  it("is given to those alone, and names them when they pass", () => {
    const { status, text, tries } = run({ files: ["good.mjs", "unsteady.mjs", "crashing.mjs", "killed.mjs"], again: true });
    assert.equal(status, 0, text);
    assert.deepEqual(
      text.split("\n").filter((line) => line.startsWith("unsteady:")),
      ["unsteady.mjs", "crashing.mjs", "killed.mjs"].map((name) => `unsteady: passed only on its second try, ${name}`),
    );
    assert.deepEqual(tries, ["crashing.mjs 2", "good.mjs 1", "killed.mjs 2", "unsteady.mjs 2"]);
  });

  it("does not hide what fails every time", () => {
    const { status, text, tries } = run({ files: ["good.mjs", "bad.mjs", "unsteady.mjs"], again: true });
    assert.equal(status, 1);
    assert.match(text, /^failed: both times bad\.mjs$/m);
    assert.deepEqual(tries, ["bad.mjs 2", "good.mjs 1", "unsteady.mjs 2"]);
  });

  it("is given to nobody who did not ask", () => {
    const { status, tries } = run({ files: ["good.mjs", "unsteady.mjs"], again: false });
    assert.equal(status, 1);
    assert.deepEqual(tries, ["good.mjs 1", "unsteady.mjs 1"]);
  });
});

function run({ files, again, concurrency = 2 }: { files: (keyof typeof bodies)[]; again: boolean; concurrency?: number }): {
  status: number | null;
  text: string;
  tries: string[];
} {
  const folder = mkdtempSync(join(temp, "run-"));
  for (const name of files) writeFileSync(join(folder, name), testFile(name, join(folder, `${name}.tries`)));
  const options = {
    node: process.execPath,
    files: files.map((name) => join(folder, name)),
    timeoutMs: 60_000,
    concurrency,
    again,
    cwd: folder,
    env: { PATH: process.env["PATH"] },
  };
  const program = `import { runTestFiles } from ${JSON.stringify(pathToFileURL(join(root, "scripts/run-test-files.mjs")))};
    process.exitCode = runTestFiles(${JSON.stringify(options)}) ? 0 : 1;`;
  const { status, stdout } = spawnSync(process.execPath, ["--input-type=module", "-e", program], { encoding: "utf8" });
  const counted = spawnSync("wc", ["-c", ...files.map((name) => `${name}.tries`)], { cwd: folder, encoding: "utf8" }).stdout;
  const tries = [...counted.matchAll(/(\d+) (.*)\.tries/g)].map(([, count, name]) => `${name} ${count}`).sort();
  return { status, text: stdout, tries };
}

/** Each try adds one byte to `counter`. */
function testFile(name: keyof typeof bodies, counter: string): string {
  return `import { appendFileSync, existsSync, readFileSync } from "node:fs";
    import { it } from "node:test";
    const tries = existsSync(${JSON.stringify(counter)}) ? readFileSync(${JSON.stringify(counter)}).length : 0;
    appendFileSync(${JSON.stringify(counter)}, "x");
    console.log("begins ${name}");
    it("does what it does", async () => { ${bodies[name]} });`;
}
