// What must hold when processes are killed, disks fail and logs are damaged: npm run torture -- [PART…] [--short] [--share 0.1] [--seed N].
// Parts: damage, kills, faults, crowds, writers, contract. Works on the built command (`npm run build` first); builds only when there is nothing.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const output = join(root, `.cache/torture-${process.pid}`); // inside the project, so that packages resolve
if (!existsSync(join(root, "packages/cli/dist/main.cjs"))) {
  const built = spawnSync(process.execPath, [join(root, "scripts/build.mjs"), "--no-types"], { stdio: "inherit" });
  if (built.status !== 0) process.exit(built.status ?? 1);
}

mkdirSync(output, { recursive: true });
try {
  await build({
    absWorkingDir: root,
    entryPoints: ["main", "resume-child", "writer-child"].map((name) => join(root, `torture/${name}.ts`)),
    outdir: output,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    packages: "external",
    alias: {
      "@outrider/runtime/admin": join(root, "packages/runtime/src/exports/admin.ts"),
      "@outrider/runtime/live": join(root, "packages/runtime/src/exports/live.ts"),
      "@outrider/runtime/mcp": join(root, "packages/runtime/src/exports/mcp.ts"),
      "@outrider/runtime/atif": join(root, "packages/runtime/src/exports/atif.ts"),
      "@outrider/runtime/host": join(root, "packages/runtime/src/exports/host.ts"),
      "@outrider/runtime": join(root, "packages/runtime/src/exports/index.ts"),
    },
    conditions: ["outrider-source"],
    format: "esm",
    platform: "node",
    target: "node20.19",
    define: { OUTRIDER_VERSION: '"0.0.0-torture"' },
    logLevel: "warning",
  });
  const { torture } = await import(pathToFileURL(join(output, "main.mjs")).href);
  process.exitCode = await torture(process.argv.slice(2), {
    command: join(root, "packages/cli/bin/outrider.js"),
    shim: join(root, "torture/fault-shim.cjs"),
    resume: join(output, "resume-child.mjs"),
    writer: join(output, "writer-child.mjs"),
  });
} finally {
  rmSync(output, { recursive: true, force: true });
}
