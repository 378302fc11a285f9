import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { build } from "esbuild";
import { bundleOptions, root } from "../bundle-options.mjs";
import { plantMutants } from "./plant-mutants.mjs";
import { preamble, runTests } from "./run-tests.mjs";

const source = join(root, "packages/runtime/src");
/** For a test file that passes: those of sandboxes take minutes on a busy machine. */
const slowestMs = 600_000;

/**
 * Tests that are compiled with all mutants asleep and run once when they are first wanted: which mutants does each meet, and how long does it
 * take? The answer is kept under the hash of what was compiled, so that only changed tests and sources are asked again.
 */
export function openSlowTests({ mutants, place, output }) {
  const kept = join(place, "met");
  mkdirSync(kept, { recursive: true });
  const meetings = new Map();
  const meet = async (entry) => {
    await compileWithMutants({ entries: [entry], mutants, output, banner: { js: preamble } });
    const file = join(output, entry.replace(/\.ts$/, ".mjs"));
    const bundle = readFileSync(file, "utf8");
    if (!bundle.includes('$mutant("')) return undefined; // it holds none
    const answer = join(kept, createHash("sha256").update(bundle).digest("hex"));
    if (!existsSync(answer)) {
      const first = await runTests(file, { timeoutMs: slowestMs });
      // A busy machine may fail a test that counts time.
      const { passed, ms, met } = first.passed ? first : await runTests(file, { timeoutMs: slowestMs });
      if (passed) writeFileSync(answer, JSON.stringify({ ms, met: [...met] }));
      else console.log(`not used: ${entry} does not pass here`);
      if (!passed) return undefined;
    }
    const { ms, met } = JSON.parse(readFileSync(answer, "utf8"));
    return { file, ms, met: new Set(met) };
  };
  return {
    /** Undefined for a test that holds no mutant, or does not pass without any. */
    meet(entry) {
      if (!meetings.has(entry)) meetings.set(entry, meet(entry));
      return meetings.get(entry);
    },
    close() {},
  };
}

export async function compileWithMutants({ entries, stdin, mutants, output, banner = {}, plugins = [] }) {
  await build({
    ...bundleOptions,
    logLevel: "error", // what a mutant does may well be odd
    ...(stdin ? { stdin } : { entryPoints: entries, outbase: root }),
    outdir: output,
    banner,
    define: { OUTRIDER_VERSION: '"0.0.0-mutant"' },
    plugins: [
      ...plugins,
      {
        name: "mutants",
        setup({ onLoad }) {
          onLoad({ filter: /packages\/runtime\/src\/.*\.ts$/ }, ({ path }) => {
            const planted = mutants.filter(({ file }) => file === relative(source, path));
            if (planted.length === 0) return undefined;
            return { contents: plantMutants(planted[0].text, planted), loader: "ts" };
          });
        },
      },
    ],
  });
}
