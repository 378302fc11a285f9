// Loaded before the program (`node --require`): counts what it does to files below TORTURE_ROOT, and at operation TORTURE_AT kills the process
// or lets that and every later operation of its kind fail. Operations are what could be lost: opens for writing, writes, syncs, truncations, names.
// TORTURE_HOW: before | after | half (of a write) kills; ENOSPC | EIO | EMFILE fails. TORTURE_COUNT: a file for the number of operations.
const fs = require("node:fs");
const { syncBuiltinESMExports } = require("node:module");

const root = process.env.TORTURE_ROOT;
const at = Number(process.env.TORTURE_AT ?? 0);
const how = process.env.TORTURE_HOW ?? "";
const countFile = process.env.TORTURE_COUNT;
const kills = ["before", "after", "half"].includes(how);
const real = { writeSync: fs.writeSync, openSync: fs.openSync, writeFileSync: fs.writeFileSync };
const files = new Set(); // descriptors of files below the root
let operations = 0;

const die = () => process.kill(process.pid, "SIGKILL");
const isInside = (path) => typeof path === "string" && path.startsWith(root);
const writes = (flags) => typeof flags === "string" && /[wa+]/.test(flags);

/** What is to happen at this operation; counts it. */
function next(kind) {
  operations++;
  if (at === 0 || operations < at) return "go";
  if (kills) return operations === at ? how : "go";
  if (how === "EMFILE") return kind === "open" ? "fail" : "go";
  return ["open", "write", "sync", "name"].includes(kind) ? "fail" : "go";
}

function failure(name) {
  const words = { ENOSPC: "no space left on device", EIO: "i/o error", EMFILE: "too many open files" };
  return Object.assign(new Error(`${how}: ${words[how]}, ${name}`), { code: how, syscall: name });
}

function patchSync(name, kind, concerns, half) {
  const original = fs[name];
  fs[name] = (...args) => {
    if (!concerns(...args)) return original(...args);
    const what = next(kind);
    if (what === "fail") throw failure(name);
    if (what === "before") die();
    if (what === "half" && half) half(...args);
    const result = original(...args);
    if (kind === "open") files.add(result);
    if (what !== "go") die();
    return result;
  };
}

function patchCallback(name, kind, concerns) {
  const original = fs[name];
  fs[name] = (...args) => {
    if (!concerns(...args)) return original(...args);
    const done = args.pop();
    const what = next(kind);
    if (what === "fail") return void setImmediate(() => done(failure(name)));
    if (what === "before") die();
    original(...args, (...results) => {
      if (kind === "open" && !results[0]) files.add(results[1]);
      if (what !== "go") die();
      done(...results);
    });
  };
}

function patchPromise(owner, name, kind, concerns) {
  const original = owner[name];
  owner[name] = async function (...args) {
    if (!concerns.call(this, ...args)) return original.apply(this, args);
    const what = next(kind);
    if (what === "fail") throw failure(name);
    if (what === "before") die();
    const result = await original.apply(this, args);
    if (what !== "go") die();
    return result;
  };
}

const byPath = (path) => isInside(path);
const byDescriptor = (file) => files.has(file);
const halfWrite = (file, bytes) => {
  const buffer = Buffer.from(bytes);
  real.writeSync(file, buffer.subarray(0, Math.max(1, buffer.length >> 1)));
  die();
};

patchSync("openSync", "open", (path, flags) => isInside(path) && writes(flags));
patchSync("writeSync", "write", byDescriptor, halfWrite);
patchSync(
  "writeFileSync",
  "write",
  (target) => byDescriptor(target) || byPath(target),
  (target, bytes) => {
    const file = typeof target === "number" ? target : real.openSync(target, "w");
    halfWrite(file, bytes);
  },
);
patchSync("ftruncateSync", "truncate", byDescriptor);
for (const name of ["mkdirSync", "renameSync", "linkSync"]) patchSync(name, "name", byPath);
patchSync("unlinkSync", "remove", byPath);
patchCallback("open", "open", (path, flags) => isInside(path) && writes(flags));
for (const name of ["fdatasync", "fsync"]) patchCallback(name, "sync", byDescriptor);
patchCallback("write", "write", byDescriptor);
for (const name of ["mkdir", "rename"]) patchPromise(fs.promises, name, "name", byPath);
patchPromise(fs.promises, "unlink", "remove", byPath);
const openHandle = fs.promises.open;
let handles;
fs.promises.open = async (path, flags, ...rest) => {
  const handle = await openHandle(path, flags, ...rest);
  handles ??= patchHandles(Object.getPrototypeOf(handle));
  if (isInside(String(path))) handles.add(handle);
  return handle;
};
syncBuiltinESMExports();

function patchHandles(prototype) {
  const known = new WeakSet();
  const concerns = function () {
    return known.has(this);
  };
  for (const name of ["write", "writeFile"]) patchPromise(prototype, name, "write", concerns);
  for (const name of ["sync", "datasync"]) patchPromise(prototype, name, "sync", concerns);
  return known;
}

const close = fs.closeSync;
fs.closeSync = (file) => {
  files.delete(file);
  return close(file);
};
if (countFile) process.on("exit", () => real.writeFileSync(countFile, String(operations)));
