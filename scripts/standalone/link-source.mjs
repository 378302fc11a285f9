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
  for (const [there] of replaced)
    if (![...parts.values()].some((body) => body.includes(there))) throw new Error(`Nothing in the build has ${there} any more`);
  const table = [...parts].sort(byName).map(([name, body]) => `${JSON.stringify(name)}:${forBun(body)}`);
  return [
    'import ripgrepFile from "./rg.gz" with { type: "file" };',
    'import { createPartLoader } from "./part-loader.mjs";',
    'import { PipeStream } from "./pipe-stream.mjs";',
    'import { unpackRipgrep } from "./unpack-ripgrep.mjs";',
    `const outriderRipgrep=async()=>({rgPath:unpackRipgrep(ripgrepFile,${JSON.stringify(ripgrepHash)})});`,
    `const parts={${table.join(",\n")}};`,
    `${forBun(readFileSync(join(dist, "main.cjs"), "utf8").trim().replace(/;$/, ""))}(createPartLoader(parts),"");`,
  ].join("\n");
}

/** What only Node has, or what is in a file of its own there, and what takes its place. */
const replaced = [
  ['import("@vscode/ripgrep")', "outriderRipgrep()"],
  ['process.binding("tcp_wrap").TCP', "PipeStream"],
];

function forBun(source) {
  return replaced.reduce((text, [there, here]) => text.replaceAll(there, here), source);
}

function byName([a], [b]) {
  return a < b ? -1 : 1;
}
