import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root } from "../bundle-options.mjs";

/** Runs one compiled test file with one mutant awake (none: 0). Answers whether it passed, how long it took and which mutants it met. */
export async function runTests(file, { mutant = 0, timeoutMs = 120_000 } = {}) {
  const folder = mkdtempSync(join(tmpdir(), "outrider-mutant-"));
  const startedAt = Date.now();
  const child = spawn(process.execPath, ["--test-reporter=tap", file], {
    cwd: root,
    stdio: ["ignore", "ignore", "ignore"],
    detached: true, // a group of its own: a mutant may leave processes that never end
    env: {
      ...process.env,
      OUTRIDER_ROOT: root,
      OUTRIDER_PROPERTY_COMMANDS: "300",
      OUTRIDER_MUTANT: String(mutant),
      OUTRIDER_MUTANTS_MET: join(folder, "met"),
      TMPDIR: folder,
    },
  });
  const timer = setTimeout(() => end(child), timeoutMs);
  const code = await new Promise((resolve) => child.on("close", resolve));
  clearTimeout(timer);
  end(child);
  const met = new Set(readIfThere(join(folder, "met")).split("\n").filter(Boolean).map(Number));
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  return { passed: code === 0, ms: Date.now() - startedAt, met };
}

/** Every process of a test file adds what it met; child processes of the same bundle do so too. */
export const preamble = `import { appendFileSync as $append } from "node:fs";
const $awake = Number(process.env.OUTRIDER_MUTANT ?? 0);
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

function readIfThere(path) {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
