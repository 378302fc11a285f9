import { readdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

/** Takes away the declarations that nobody can reach from what a package publishes: most files are its own business. */
export function pruneDeclarations(place) {
  const { exports: published } = JSON.parse(readFileSync(join(place, "package.json"), "utf8"));
  const entries = Object.values(published).flatMap(({ types }) => (types ? [resolve(place, types)] : []));
  const reached = new Set();
  for (const file of entries) reach(file, reached);
  for (const name of readdirSync(join(place, "dist/types"), { recursive: true })) {
    const file = join(place, "dist/types", name);
    if (/\.d\.ts(?:\.map)?$/.test(name) && !reached.has(file.replace(/\.map$/, ""))) rmSync(file);
  }
}

function reach(file, reached) {
  if (reached.has(file)) return;
  reached.add(file);
  // `from "./x.ts"`, `import "./x.ts"` and `import("./x.ts")`; a file that is missing ends the build.
  for (const [, path] of readFileSync(file, "utf8").matchAll(/\b(?:from|import)\s*\(?\s*["'](\.[^"']+)["']/g))
    reach(resolve(dirname(file), path.replace(/\.ts$/, ".d.ts")), reached);
}
