// Builds both packages: bundles with esbuild, declarations with tsc. One command, about two seconds.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build, transform } from "esbuild";
import { noticesFile, thirdPartyNotices } from "./build-notices.mjs";
import { directImports } from "./direct-imports.mjs";
import { buildWeb } from "./build-web.mjs";
import { pruneDeclarations } from "./prune-declarations.mjs";
import { withoutDefaultValidator } from "./without-default-validator.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const runtime = join(root, "packages/runtime");
const cli = join(root, "packages/cli");
const fleet = join(root, "packages/fleet");
const readPackage = (folder) => JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
const { exports: published, dependencies, optionalDependencies } = readPackage(runtime);

const shared = {
  bundle: true,
  splitting: true,
  format: "esm",
  platform: "node",
  target: "node20.19",
  conditions: ["outrider-source"],
  chunkNames: "chunk-[name]-[hash]",
  define: { OUTRIDER_VERSION: JSON.stringify(readPackage(cli).version) },
  plugins: [withoutDefaultValidator()],
  drop: ["console"], // the official client's words for its own developers: nothing of ours says anything to a console
  metafile: true,
  write: false,
  logLevel: "warning",
};

const commonJs = {
  format: "cjs",
  platform: "node",
  target: "node20.19",
  minify: true,
};

const barrels = Object.fromEntries(
  Object.entries(published).map(([name, target]) => [join("@outrider/runtime", name), join(runtime, target["outrider-source"])]),
);
const pages = await buildWeb(); // first: the command has them inside
const [library, command, batches] = await Promise.all([
  // What the package depends on is installed beside it; what it only needs to be built is in it.
  build({
    ...shared,
    entryPoints: Object.values(barrels),
    outdir: join(runtime, "dist"),
    // For people to read and to step through: the sources are in the package.
    sourcemap: "linked",
    sourcesContent: false,
    external: Object.keys({ ...dependencies, ...optionalDependencies }),
  }),
  build({
    ...shared,
    minify: true,
    entryPoints: [join(cli, "src/main.ts")],
    // Every run reads each name in main.cjs.
    chunkNames: "c-[name]-[hash]",
    plugins: [...shared.plugins, directImports(barrels, join(cli, "src"))],
    outdir: join(cli, "dist"),
    external: ["@vscode/ripgrep", "@outrider/fleet"],
  }),
  // It runs on the library as it is installed.
  build({
    ...shared,
    conditions: [],
    entryPoints: [
      ...Object.values(readPackage(fleet).exports).map((target) => join(fleet, target["outrider-source"])),
      join(fleet, "src/exports/worker.ts"),
      join(fleet, "src/exports/engine-worker.ts"),
    ],
    outdir: join(fleet, "dist"),
    sourcemap: "linked",
    sourcesContent: false,
    packages: "external",
  }),
]);
const { files: commandFiles, core } = await linkCommand(command);
const notices = ({ metafile }) => ({ name: noticesFile, text: thirdPartyNotices(metafile, root) });
const libraryFiles = [...withoutForeignMaps(library), notices(library)];
// What each file is made of, and what is in main.cjs: the start-up test reads which sources the command loads before it needs them.
const meta = { name: "meta.json", text: JSON.stringify({ ...command.metafile, core }) };
commandFiles.push(notices({ metafile: { outputs: { ...command.metafile.outputs, ...pages.outputs } } }), meta);

// Only now is the last build gone: one that fails leaves it in place.
write(join(runtime, "dist"), libraryFiles);
write(join(cli, "dist"), commandFiles);
write(join(fleet, "dist"), withoutForeignMaps(batches));

copyDocuments(runtime, () => true);
copyDocuments(cli, (path) => !/^(api\b|library\.md$)/.test(path));

if (!process.argv.includes("--no-types")) {
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  for (const place of [runtime, fleet]) {
    execFileSync(process.execPath, [tsc, "-p", join(place, "tsconfig.build.json")], { stdio: "inherit" });
    pruneDeclarations(place);
  }
}

/**
 * The command's files as CommonJS: what every run needs in `main.cjs`, the rest in files that are read when they are asked for.
 * esbuild splits ES modules only, into many small files, and Node 20 takes 25 ms longer to start from those.
 */
async function linkCommand({ outputFiles, metafile }) {
  const texts = new Map(outputFiles.map((file) => [basename(file.path), file.text]));
  const main = "main.js";
  // The wire that most runs speak is in there too, what reads settings files and looks at lists of tools, which most people have, what knows
  // the window of the model, and what hears that nobody reads a pipe any more.
  const needed = [
    "run",
    "anthropic-messages",
    "claude-parameters",
    "read-layer",
    "resolve",
    "pricing",
    "check-tools",
    "reader-watch",
  ].map((part) => {
    const found = [...texts.keys()].find((name) => name.startsWith(`c-${part}-`));
    if (!found) throw new Error(`There is no chunk for ${part}`);
    return found;
  });
  const core = staticallyReachable(metafile, [main, ...needed]);
  const chunks = new Map(
    await Promise.all([...texts].filter(([name]) => !core.has(name)).map(async ([name, text]) => [name, await toCommonJs(text)])),
  );
  const define = (names) =>
    `{${names.map((name) => `${JSON.stringify(`./${name}`)}:(function(module,exports,require){${chunks.get(name)}})`).join(",\n")}}`;
  const linker = [
    // One function, for bin/outrider.js to call: `read` gives what one of the other files holds, `importModule` what an ES module exports.
    '(function(require,read,importModule){"use strict";const core={exports:{}},defined={},loaded={};load.importModule=importModule;',
    "load.importPart=(id)=>Promise.resolve().then(()=>load(id));",
    // Node's promises of files take 2 ms to load, and a run may never need one.
    'const files=new Proxy({},{get:(_,name)=>require("node:fs/promises")[name]});',
    "function load(id){",
    "  if(loaded[id])return loaded[id].exports;",
    "  const module=loaded[id]={exports:{}};",
    '  if(!id.startsWith("./"))return module.exports=id==="node:fs/promises"?files:require(id);',
    "  const own=core.exports.parts[id];",
    "  if(own)return module.exports=own();",
    // A file of ours holds a part that is asked for and all that it needs; what is there already stays as it is.
    '  if(!defined[id])Object.entries(read(id.slice(2).replace(/\\.js$/,".cjs"))).forEach(([name,body])=>{defined[name]??=body});',
    "  defined[id](module,module.exports,load);return module.exports;",
    "}",
    `(function(module,exports,require){${await linkCore(texts, { core, main, metafile })}})(core,core.exports,load);`,
    "})",
  ].join("\n");
  // What is not tiny is written once, however many need it: a file takes some 0.3 ms to load, and most are in the way of nobody.
  const large = new Set([...chunks].filter(([, text]) => text.length > 1_000).map(([name]) => name));
  const isEntry = ([path, { entryPoint }]) => (entryPoint || large.has(basename(path))) && !core.has(basename(path));
  const entries = Object.entries(metafile.outputs).filter(isEntry);
  const others = entries.map(([path]) => {
    const name = basename(path);
    const own = [...staticallyReachable(metafile, [name])].filter(
      (part) => !core.has(part) && (part === name || !large.has(part)),
    );
    return { name: name.replace(/\.js$/, ".cjs"), text: `(${define(own)})\n` };
  });
  // Code that was kept of another build must not be taken for this one's: V8 compares lengths, and all files that npm installs are of one day.
  const files = [
    { name: "main.cjs", text: `/*${buildNumber([linker, ...others.map(({ text }) => text)])}*/${linker}\n` },
    ...others,
  ];
  return { files, core: Object.keys(metafile.outputs).filter((path) => core.has(basename(path))) };
}

/** Fifteen digits of what is in the build. */
function buildNumber(texts) {
  const hash = createHash("sha256");
  for (const text of texts) hash.update(text).update("\0");
  return (BigInt(`0x${hash.digest("hex")}`) % 10n ** 15n).toString().padStart(15, "0");
}

/**
 * The core's chunks in one scope, where they need nothing to find each other. `parts` is how other files get at some of them, and where the
 * core itself finds those that it imports on demand: all are there when the first is asked for.
 */
async function linkCore(texts, { core, main, metafile }) {
  const outputs = new Map(Object.entries(metafile.outputs).map(([path, output]) => [basename(path), output]));
  const asked = new Set(
    [...outputs].flatMap(([name, { imports }]) => imports.filter((one) => isAsked(name, one)).map(({ path }) => basename(path))),
  );
  const shared = [...core].filter((name) => asked.has(name)).map((name, at) => ({ name, at, names: outputs.get(name).exports }));
  const imports = shared.map(
    ({ name, at, names }) => `import {${names.map((one) => `${one} as ${one}_${at}`)}} from "./${name}";`,
  );
  const parts = shared.map(({ name, at, names }) => `"./${name}":()=>({${names.map((one) => `${one}:${one}_${at}`)}})`);
  const contents = `${imports.join("")}export const parts={${parts}};import "./${main}";`;
  const chunksOfCore = {
    name: "chunks-of-core",
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^\.\// }, ({ path, kind }) =>
        core.has(path.slice(2)) && kind === "import-statement"
          ? { path: path.slice(2), namespace: "core" }
          : { path, external: true },
      );
      onLoad({ filter: /.*/, namespace: "core" }, ({ path }) => ({ contents: texts.get(path), loader: "js" }));
    },
  };
  const { outputFiles } = await build({
    ...commonJs,
    stdin: { contents, loader: "js", resolveDir: root },
    bundle: true,
    plugins: [chunksOfCore],
    write: false,
    logLevel: "warning",
  });
  return linkImports(outputFiles[0].text);

  /** By another file, or on demand. */
  function isAsked(name, { kind }) {
    return !core.has(name) || kind === "dynamic-import";
  }
}

function staticallyReachable(metafile, names, seen = new Set()) {
  const outputs = new Map(Object.entries(metafile.outputs).map(([path, output]) => [basename(path), output]));
  for (const name of names) {
    if (seen.has(name)) continue;
    seen.add(name);
    const imported = outputs.get(name).imports.filter(({ kind, external }) => kind === "import-statement" && !external);
    staticallyReachable(
      metafile,
      imported.map(({ path }) => basename(path)),
      seen,
    );
  }
  return seen;
}

/** A map leads to sources, and those of other people are not in the package: half a megabyte of maps would lead nowhere. */
function withoutForeignMaps({ outputFiles, metafile }) {
  const isForeign = ({ inputs }) => {
    const bytes = (list) => list.reduce((sum, [, { bytesInOutput }]) => sum + bytesInOutput, 0);
    const all = Object.entries(inputs);
    return bytes(all.filter(([path]) => path.includes("node_modules/"))) > bytes(all) / 2;
  };
  const outputs = Object.entries(metafile.outputs).filter(([, output]) => isForeign(output));
  const names = new Set(outputs.map(([path]) => basename(path)));
  return outputFiles
    .map((file) => ({ name: basename(file.path), text: file.text }))
    .filter(({ name }) => !names.has(name.replace(/\.map$/, "")) || !name.endsWith(".map"))
    .map(({ name, text }) => ({ name, text: names.has(name) ? text.replace(/\n\/\/# sourceMappingURL=\S+\s*$/, "\n") : text }));
}

async function toCommonJs(source) {
  const { code } = await transform(source, commonJs);
  return linkImports(code);
}

/**
 * Code that is run from what was compiled before cannot import by itself: the linker does it for all. Two packages are ES modules, which
 * `require` cannot load on every Node 20; the rest are parts of the command and of Node.
 */
function linkImports(text) {
  return text
    .replace(/\bimport\("(@vscode\/ripgrep|@outrider\/fleet)"\)/g, 'require.importModule("$1")')
    .replace(/\bimport\("(\.\/c-[^"]+|node:[^"]+)"\)/g, 'require.importPart("$1")');
}

/** What a package says of itself is in it: help and hints name these files. They are copies, and not in git. */
function copyDocuments(place, isWanted) {
  const docs = join(root, "docs");
  rmSync(join(place, "docs"), { recursive: true, force: true });
  cpSync(docs, join(place, "docs"), { recursive: true, filter: (path) => isWanted(relative(docs, path)) });
  rmSync(join(place, "examples"), { recursive: true, force: true });
  cpSync(join(root, "examples"), join(place, "examples"), { recursive: true, filter: (path) => !/node_modules$/.test(path) });
  cpSync(join(root, "CHANGELOG.md"), join(place, "CHANGELOG.md"));
}

function write(folder, files) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const { name, text } of files) writeFileSync(join(folder, name), text);
}
