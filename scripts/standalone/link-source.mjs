// The built command as one source text for a runtime that has no files beside it.
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

/**
 * Files of the build hold a part and all that it needs, so that many parts stand in several of them; here each stands once. A part is a
 * function, and what is not asked for is never run.
 */
export function linkSource(dist, ripgrepHash) {
  const require = createRequire(join(dist, "main.cjs"));
  const parts = new Map();
  for (const file of readdirSync(dist)
    .filter((name) => /^chunk-.*\.cjs$/.test(name))
    .sort()) {
    for (const [name, body] of Object.entries(require(join(dist, file)))) parts.set(name, `(${body.toString()})`);
  }
  const table = [...parts].sort(byName).map(([name, body]) => `${JSON.stringify(name)}:${withRipgrep(body)}`);
  return [
    'import ripgrepFile from "./rg.gz" with { type: "file" };',
    'import { createPartLoader } from "./part-loader.mjs";',
    'import { unpackRipgrep } from "./unpack-ripgrep.mjs";',
    `const outriderRipgrep=async()=>({rgPath:unpackRipgrep(ripgrepFile,${JSON.stringify(ripgrepHash)})});`,
    `const parts={${table.join(",\n")}};`,
    `${withRipgrep(readFileSync(join(dist, "main.cjs"), "utf8").trim().replace(/;$/, ""))}(createPartLoader(parts),"");`,
  ].join("\n");
}

function withRipgrep(source) {
  return source.replaceAll('import("@vscode/ripgrep")', "outriderRipgrep()");
}

function byName([a], [b]) {
  return a < b ? -1 : 1;
}
