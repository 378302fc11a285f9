// Hands compiled test files to Node's own test runner.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";

/**
 * True when all files passed. With `again`, those that failed run a second time, one by one: a machine that stood still for a moment is
 * no failure of ours, and a file that needs its second try is named. What fails twice has failed.
 */
export function runTestFiles({ node, files, timeoutMs, concurrency, again = false, cwd, env }) {
  const folder = mkdtempSync(join(tmpdir(), "outrider-test-run-"));
  const passedList = join(folder, "passed");
  writeFileSync(passedList, "");
  const run = (chosen, atOnce) => {
    const notes = again ? ["--require", join(import.meta.dirname, "note-passed.cjs")] : [];
    const flags = ["--enable-source-maps", ...notes, `--test-timeout=${timeoutMs}`]; // the process of each file has them too
    const player = join(import.meta.dirname, "play-test-files.mjs");
    const { status } = spawnSync(node, [...flags, player, String(timeoutMs), String(atOnce), ...chosen], {
      stdio: "inherit",
      cwd,
      env: { ...env, NODE_OPTIONS: "", PASSED_TEST_FILES: passedList },
    });
    return status === 0;
  };
  const failedOf = (chosen) => {
    const passed = new Set(readFileSync(passedList, "utf8").split("\n"));
    return chosen.filter((file) => !passed.has(file));
  };
  try {
    if (run(files, concurrency)) return true;
    const failed = failedOf(files);
    if (!again || failed.length === 0) return false;
    const name = (file) => relative(cwd, file).replace(/^\.cache\/[^/]*\//, "");
    console.log(`\nOnce more, one by one: ${failed.map(name).join(", ")}\n`);
    const ok = run(failed, 1);
    const stillFailed = failedOf(failed);
    for (const file of failed) {
      const how = stillFailed.includes(file) ? "failed: both times" : "unsteady: passed only on its second try,";
      console.log(`${how} ${name(file)}`);
    }
    return ok && stillFailed.length === 0;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
