// Bundles the pages: a script and a style sheet each, as texts in packages/web/dist/NAME-assets.js, for a file or a server to hand out whole.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants } from "node:zlib";
import { build, transform } from "esbuild";
import { root } from "./bundle-options.mjs";
import { buildSite } from "./docs-site/build-site.mjs";

const web = join(root, "packages/web");
const pages = ["report", "index", "compare", "live"];

/** Returns esbuild's account of what is in them. */
export async function buildWeb() {
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: pages.map((name) => join(web, `src/page/${name}.tsx`)),
    outdir: join(web, "dist"),
    bundle: true,
    minify: true,
    format: "iife",
    target: "es2023",
    jsx: "automatic",
    jsxImportSource: "preact",
    charset: "ascii",
    legalComments: "none", // THIRD-PARTY-NOTICES.txt has the licences
    metafile: true,
    write: false,
    logLevel: "warning",
  });
  mkdirSync(join(web, "dist"), { recursive: true });
  for (const name of pages) {
    const bundle = outputFiles.find(({ path }) => path.endsWith(`/${name}.js`)).text;
    const script = bundle.replaceAll("</script", "<\\/script"); // a script ends at the first of these, wherever it stands
    const style = await minified(["tokens", "ui", name]);
    writeFileSync(
      join(web, `dist/${name}-assets.js`),
      `export const script = ${JSON.stringify(script)};\nexport const style = ${JSON.stringify(style)};\n`,
    );
    writeFileSync(
      join(web, `dist/${name}-assets.d.ts`),
      "export declare const script: string;\nexport declare const style: string;\n",
    );
  }
  await writeDocuments();
  return metafile;
}

/** The site of the documents in one piece, for `outrider docs`: a tenth of what its files take. */
async function writeDocuments() {
  const files = JSON.stringify(Object.fromEntries(await buildSite()));
  const { BROTLI_PARAM_QUALITY: quality, BROTLI_PARAM_LGWIN: window, BROTLI_PARAM_SIZE_HINT: size } = constants;
  // A window for all of it: what is searched is what the pages say.
  const packed = brotliCompressSync(files, { params: { [quality]: 9, [window]: 24, [size]: files.length } }).toString("base64");
  writeFileSync(join(web, "dist/docs-assets.js"), `export const packed = ${JSON.stringify(packed)};\n`);
  writeFileSync(
    join(web, "dist/docs-assets.d.ts"),
    "/** Path to text, as JSON in brotli in base64. */\nexport declare const packed: string;\n",
  );
}

async function minified(names) {
  const text = names.map((name) => readFileSync(join(web, `src/styles/${name}.css`), "utf8")).join("\n");
  return (await transform(text, { loader: "css", minify: true, charset: "ascii", target: "es2023" })).code.trim();
}
