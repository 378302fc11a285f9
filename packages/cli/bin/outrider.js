#!/usr/bin/env node
// Runs dist/main.cjs, which is one function, from the compiled code that an earlier run has kept: a third of the start-up time.
const fs = require("node:fs");
const path = require("node:path");
const vm = require("node:vm");

const folder = path.join(__dirname, "../dist");
const filename = path.join(folder, "main.cjs");
const source = fs.readFileSync(filename).latin1Slice(); // it is ASCII, and that is the quickest way to a string
const placeOf = cachePlaces();
const place = placeOf("code");
let parts;
const whole = readOwn(`${place}.bin`);
const { code: cachedData, extent } = whole ? { code: whole } : require("./keep-code.js").findLess(place, readOwn);
const script = new vm.Script(source, { filename, cachedData });
const isRejected = script.cachedDataRejected === true;
if (!whole || isRejected) require("./keep-code.js").keepCode(script, place, isRejected ? undefined : extent);
/** Kept for a run that has used up its descriptors: without one, what says so could not be read either. */
let spare = openSpare();
// Code that is run this way cannot import what is an ES module (ripgrep's package) without a warning on stderr: it is done here.
script.runInThisContext()(require, readPart, (name) => import(name));

/** What one of the other files of the command holds; most runs need few of them, or none. */
function readPart(name) {
  try {
    return readNow(name);
  } catch (error) {
    if (spare === undefined || (error.code !== "EMFILE" && error.code !== "ENFILE")) throw error;
    fs.closeSync(spare);
    try {
      return readNow(name);
    } finally {
      spare = openSpare();
    }
  }
}

function readNow(name) {
  if (!parts) {
    const file = `${placeOf("parts")}.bin`;
    parts = require("./read-parts.js").openParts(folder, file, readOwn(file));
  }
  return parts(name);
}

function openSpare() {
  try {
    return fs.openSync(filename);
  } catch {
    return undefined; // a run that has only one more than it needs
  }
}

/** One file of each kind per program, version and machine; V8 itself refuses what another V8, or other flags, have written. */
function cachePlaces() {
  const home = process.env.OUTRIDER_HOME || path.join(process.env.HOME || "/nonexistent", ".outrider");
  const { size, mtimeMs } = fs.statSync(filename);
  const build = source.slice(2, 17); // main.cjs begins with it: npm gives the files of all versions one day
  const program = `${process.version}-${process.arch}-${size}-${Math.round(mtimeMs)}${build}`;
  return (kind) => path.join(home, "cache", `${kind}-${program}`);
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
