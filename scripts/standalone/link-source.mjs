// The built command as one source text for a runtime that has no files beside it.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { runInThisContext } from "node:vm";

/**
 * Files of the build hold a part and all that it needs, so that many parts stand in several of them; here each stands once. A part is a
 * function, and what is not asked for is never run.
 */
export function linkSource(dist, ripgrepHash) {
  const parts = new Map();
  for (const file of readdirSync(dist)
    .filter((name) => /^c-.*\.cjs$/.test(name))
    .sort()) {
    for (const [name, body] of Object.entries(runInThisContext(readFileSync(join(dist, file), "utf8"))))
      parts.set(name, `(${body.toString()})`);
  }
  const main = readFileSync(join(dist, "main.cjs"), "utf8").trim().replace(/;$/, "");
  for (const [there] of replaced)
    if (![main, ...parts.values()].some((body) => body.includes(there)))
      throw new Error(`Nothing in the build has ${there} any more`);
  const table = (isWanted) =>
    `{${[...parts]
      .filter(([name]) => isWanted(name))
      .sort(byName)
      .map(([name, body]) => `${JSON.stringify(name)}:${forBun(body)}`)
      .join(",\n")}}`;
  return [
    'import ripgrepFile from "./rg.gz" with { type: "file" };',
    'import { createPartReader, requireBuiltin } from "./part-loader.mjs";',
    'import { PipeStream } from "./pipe-stream.mjs";',
    'import { unpackRipgrep } from "./unpack-ripgrep.mjs";',
    'import fleetFile from "./fleet.gz" with { type: "file" };',
    'import { loadFleet } from "./load-fleet.mjs";',
    `const ripgrep=()=>({rgPath:unpackRipgrep(ripgrepFile,${JSON.stringify(ripgrepHash)})});`,
    "const outriderRipgrep=async()=>ripgrep();",
    'const outriderFleet=async()=>loadFleet(fleetFile,{"@vscode/ripgrep":ripgrep},{PipeStream});',
    `const first=${table(isFirst)};`,
    `const others=()=>(${table((name) => !isFirst(name))});`,
    `${forBun(main)}(requireBuiltin,createPartReader(first,others));`,
  ].join("\n");
}

/** What only Node has, or what is in a file of its own there, and what takes its place. */
const replaced = [
  ['require.importModule("@vscode/ripgrep")', "outriderRipgrep()"],
  ['require.importModule("@outrider/fleet")', "outriderFleet()"],
  ['process.binding("tcp_wrap").TCP', "PipeStream"],
];

/** The part that every run asks for. The others, 580 functions, take 1.5 ms to be told of, and a plain run needs none. */
function isFirst(name) {
  return name.startsWith("./c-send-with-fetch-");
}

export function forBun(source) {
  return replaced.reduce((text, [there, here]) => text.replaceAll(there, here), source);
}

function byName([a], [b]) {
  return a < b ? -1 : 1;
}
