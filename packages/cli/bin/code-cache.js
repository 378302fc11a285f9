// What `module.enableCompileCache` does on newer versions of Node, for one file: V8's compiled code is kept below OUTRIDER_HOME.
// Nothing here may fail a run: without a cache the program is compiled as always.
const fs = require("node:fs");
const path = require("node:path");
const vm = require("node:vm");
const { createRequire } = require("node:module");

exports.runCached = (program) => {
  const source = fs.readFileSync(program, "utf8");
  const place = cachePlace(program);
  const cachedData = readOwn(place);
  const body = `(function (exports, require, module, __filename, __dirname) {${source}\n})`;
  // Without it, code that is run this way cannot import what is an ES module: ripgrep's package.
  const importModuleDynamically = vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER;
  const script = new vm.Script(body, { filename: program, cachedData, importModuleDynamically });
  const module = { exports: {} };
  if (!cachedData || script.cachedDataRejected) storeLater(place, script);
  script.runInThisContext()(module.exports, createRequire(program), module, program, path.dirname(program));
};

/** One file per program, version and machine; V8 itself refuses what another V8, or other flags, have written. */
function cachePlace(program) {
  const home = process.env.OUTRIDER_HOME || path.join(process.env.HOME || "/nonexistent", ".outrider");
  const { size, mtimeMs } = fs.statSync(program);
  return path.join(home, "cache", `code-${process.version}-${process.arch}-${size}-${Math.round(mtimeMs)}.bin`);
}

/** Only a file that nobody else can have written: compiled code is code. */
function readOwn(place) {
  try {
    const file = fs.openSync(place, fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW);
    try {
      const { uid, mode } = fs.fstatSync(file);
      return uid === process.getuid() && (mode & 0o022) === 0 ? fs.readFileSync(file) : undefined;
    } finally {
      fs.closeSync(file);
    }
  } catch {
    return undefined;
  }
}

/**
 * Right after the first request, when what a start needs has just been compiled: V8 forgets that in a long run, so that later starts would
 * compile it again, and they would read what only this run needed. At the end of a run that asks nobody.
 */
function storeLater(place, script) {
  const { subscribe, unsubscribe } = require("node:diagnostics_channel");
  const storeOnce = () => {
    process.off("exit", storeOnce);
    store(place, script);
  };
  const onRequest = () => {
    unsubscribe(requests, onRequest);
    setImmediate(storeOnce);
  };
  subscribe(requests, onRequest);
  process.once("exit", storeOnce);
}

const requests = "http.client.request.start";

function store(place, script) {
  try {
    const folder = path.dirname(place);
    fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
    const temporary = `${place}.${process.pid}.tmp`;
    fs.writeFileSync(temporary, script.createCachedData(), { mode: 0o600, flag: "wx" });
    fs.renameSync(temporary, place);
    for (const name of fs.readdirSync(folder)) {
      if (name.startsWith("code-") && name !== path.basename(place)) fs.rmSync(path.join(folder, name), { force: true });
    }
  } catch {
    // A home that cannot be written only means that the next start is as slow as this one.
  }
}
