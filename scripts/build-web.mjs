// Bundles the pages: a script and a style sheet each, as texts in packages/web/dist/assets.js, for a file or a server to hand out whole.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build, transform } from "esbuild";
import { root } from "./bundle-options.mjs";

const web = join(root, "packages/web");

/** Returns esbuild's account of what is in them. */
export async function buildWeb() {
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: [join(web, "src/page/report.tsx")],
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
  const style = await minified(["tokens.css", "ui.css", "report.css"]);
  // A script ends at the first </script, wherever that stands.
  const script = outputFiles[0].text.replaceAll("</script", "<\\/script");
  mkdirSync(join(web, "dist"), { recursive: true });
  writeFileSync(
    join(web, "dist/assets.js"),
    `export const reportScript = ${JSON.stringify(script)};\nexport const reportStyle = ${JSON.stringify(style)};\n`,
  );
  writeFileSync(
    join(web, "dist/assets.d.ts"),
    "export declare const reportScript: string;\nexport declare const reportStyle: string;\n",
  );
  return metafile;
}

async function minified(names) {
  const text = names.map((name) => readFileSync(join(web, "src/styles", name), "utf8")).join("\n");
  return (await transform(text, { loader: "css", minify: true, charset: "ascii", target: "es2023" })).code.trim();
}
