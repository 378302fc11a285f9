// What must hold when processes are killed, disks fail and logs are damaged: npm run torture -- [PART…] [--short] [--share 0.1] [--seed N] [--seconds N].
// Parts: damage, kills, faults, crowds, writers, checkpoints, contract, inbox, census, endings, worktrees, batches, fleets (fleets-embedded, fleets-engine, fleets-nodes), machines, tasks, soak, server. Works on the built command (`npm run build` first); builds only when there is nothing.
// OUTRIDER_TEST_COMMAND=FILE has another command tortured, such as the standalone one: census, endings (without faults of disks), contract, worktrees, batches, server.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import { bundleOptions, root } from "./bundle-options.mjs";

const output = join(root, `.cache/torture-${process.pid}`); // inside the project, so that packages resolve
if (!existsSync(join(root, "packages/cli/dist/main.cjs"))) {
  const built = spawnSync(process.execPath, [join(root, "scripts/build.mjs"), "--no-types"], { stdio: "inherit" });
  if (built.status !== 0) process.exit(built.status ?? 1);
}

mkdirSync(output, { recursive: true });
try {
  await build({
    ...bundleOptions,
    entryPoints: ["main", "resume-child", "task-child", "soak-child", "writer-child", "machines-child"].map((name) =>
      join(root, `torture/${name}.ts`),
    ),
    outdir: output,
    define: { OUTRIDER_VERSION: '"0.0.0-torture"' },
  });
  const { torture } = await import(pathToFileURL(join(output, "main.mjs")).href);
  process.exitCode = await torture(process.argv.slice(2), {
    command: process.env.OUTRIDER_TEST_COMMAND ?? join(root, "packages/cli/bin/outrider.js"),
    shim: join(root, "torture/fault-shim.cjs"),
    resume: join(output, "resume-child.mjs"),
    tasks: join(output, "task-child.mjs"),
    soak: join(output, "soak-child.mjs"),
    writer: join(output, "writer-child.mjs"),
    machines: join(output, "machines-child.mjs"),
    project: root,
  });
} finally {
  rmSync(output, { recursive: true, force: true });
}
