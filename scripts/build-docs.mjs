// npm run docs:build [-- FOLDER]: the documents as a static site, in .cache/docs-site unless a folder is named.
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { root } from "./bundle-options.mjs";
import { buildSite } from "./docs-site/build-site.mjs";

const folder = resolve(process.argv[2] ?? join(root, ".cache/docs-site"));
const files = await buildSite({
  dead(line) {
    console.error(line);
    process.exitCode = 1;
  },
});
if (process.argv[2] === undefined) rmSync(folder, { recursive: true, force: true });
for (const [path, text] of files) {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}
console.log(`${files.size} files in ${folder}`);
