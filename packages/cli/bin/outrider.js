#!/usr/bin/env node
// Runs dist/main.cjs, which is one function, from the compiled code that an earlier run has kept: a third of the start-up time.
const fs = require("node:fs");
const path = require("node:path");
const vm = require("node:vm");

const folder = path.join(__dirname, "../dist");
const filename = path.join(folder, "main.cjs");
const source = fs.readFileSync(filename).latin1Slice(); // it is ASCII, and that is the quickest way to a string
const place = cachePlace();
const kept = readOwn(`${place}.bin`);
const cachedData = kept ?? readOwn(`${place}-short.bin`);
// Without it, code that is run this way cannot import what is an ES module: ripgrep's package.
const importModuleDynamically = vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER;
const script = new vm.Script(source, { filename, cachedData, importModuleDynamically });
const isRejected = script.cachedDataRejected === true;
if (!kept || isRejected) require("./keep-code.js").keepCode(script, { place, hasShort: cachedData !== undefined && !isRejected });
module.constructor.enableCompileCache?.(); // newer versions of Node keep the code of the other files themselves
script.runInThisContext()(require, folder);

/** One file per program, version and machine; V8 itself refuses what another V8, or other flags, have written. */
function cachePlace() {
  const home = process.env.OUTRIDER_HOME || path.join(process.env.HOME || "/nonexistent", ".outrider");
  const { size, mtimeMs } = fs.statSync(filename);
  return path.join(home, "cache", `code-${process.version}-${process.arch}-${size}-${Math.round(mtimeMs)}`);
}

/** Only a file that nobody else can have written: compiled code is code. Whatever fails, the program is compiled as always. */
function readOwn(file) {
  try {
    const descriptor = fs.openSync(file, fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW);
    try {
      const { uid, mode } = fs.fstatSync(descriptor);
      return uid === process.getuid() && (mode & 0o022) === 0 ? fs.readFileSync(descriptor) : undefined;
    } finally {
      fs.closeSync(descriptor);
    }
  } catch {
    return undefined;
  }
}
