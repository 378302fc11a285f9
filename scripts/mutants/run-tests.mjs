import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { root } from "../bundle-options.mjs";

/** Runs one compiled test file with one mutant awake (or none). Answers whether it passed, how long it took and which mutants it met. */
export async function runTests(file, { mutant = "", timeoutMs = 120_000 } = {}) {
  const folder = mkdtempSync(join(tmpdir(), "outrider-mutant-"));
  const startedAt = Date.now();
  const child = spawn(process.execPath, ["--test-reporter=tap", file], {
    cwd: root,
    stdio: ["ignore", "pipe", "ignore"],
    detached: true, // a group of its own: a mutant may leave processes that never end
    env: {
      ...process.env,
      OUTRIDER_ROOT: root,
      OUTRIDER_PROPERTY_COMMANDS: "300",
      OUTRIDER_MUTANT: mutant,
      OUTRIDER_MUTANTS_MET: join(folder, "met"),
      TMPDIR: folder,
    },
  });
  let failed = false;
  createInterface({ input: child.stdout }).on("line", (line) => {
    if (!/^\s*not ok /.test(line) || line.includes("# TODO")) return;
    failed = true;
    end(child); // one failure says it all
  });
  const timer = setTimeout(() => end(child), timeoutMs);
  const code = await new Promise((resolve) => child.on("close", resolve));
  clearTimeout(timer);
  end(child);
  const met = new Set(readIfThere(join(folder, "met")).split("\n").filter(Boolean));
  removeIfStill(folder);
  return { passed: code === 0 && !failed, ms: Date.now() - startedAt, met };
}

/** Every process of a test file adds what it met; child processes of the same bundle do so too. */
export const preamble = `import { appendFileSync as $append } from "node:fs";
const $awake = process.env.OUTRIDER_MUTANT;
const $met = new Set();
globalThis.$mutant = (id) => { if (!$met.has(id)) $met.add(id); return id === $awake; };
process.on("exit", () => { try { $append(process.env.OUTRIDER_MUTANTS_MET, [...$met].join("\\n") + "\\n"); } catch {} });`;

function end(child) {
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch {
    // It is gone.
  }
}

/** What a mutant left running in a sandbox may still write there. */
function removeIfStill(folder) {
  try {
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  } catch (error) {
    if (error.code !== "ENOTEMPTY") throw error;
  }
}

function readIfThere(path) {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
