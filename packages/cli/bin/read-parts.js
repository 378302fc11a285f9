// Runs the command's other files from compiled code that earlier runs have kept, all of it in one file. Nothing here may fail a run.
const fs = require("node:fs");
const path = require("node:path");
const vm = require("node:vm");
const { store } = require("./keep-code.js");

/** Each run compiles a little more of a file than the ones before it. So many of them add to what is kept. */
const mostStores = 5;

/** Gives what a file of `folder` evaluates to. `kept`: the bytes that an earlier run has left in `place`, if any. */
exports.openParts = (folder, place, kept) => {
  const { stores, parts } = unpack(kept);
  const scripts = new Map();
  let isNew = stores < mostStores;
  process.once("exit", () => {
    if (isNew) store(place, () => pack(stores + 1, merge(parts, scripts)));
  });
  return (name) => {
    const filename = path.join(folder, name);
    const cachedData = parts.get(name);
    const script = new vm.Script(fs.readFileSync(filename, "utf8"), { filename, cachedData });
    if (script.cachedDataRejected) parts.delete(name);
    if (!parts.has(name)) isNew = true;
    scripts.set(name, script);
    return script.runInThisContext();
  };
};

/** A long run has forgotten what it has not used for a while: the larger one counts. */
function merge(parts, scripts) {
  const made = [...scripts].map(([name, script]) => [name, script.createCachedData()]);
  return new Map([...parts, ...made.filter(([name, code]) => code.length > (parts.get(name)?.length ?? 0))]);
}

/** A line of JSON that says what follows, and the code of each file. All begin at multiples of eight: V8 would copy them else. */
function pack(stores, parts) {
  const sizes = [...parts].map(([name, code]) => [name, code.length]);
  const head = JSON.stringify({ stores, sizes });
  return Buffer.concat([
    Buffer.from(`${head.padEnd(padded(head.length + 1) - 1)}\n`),
    ...[...parts.values()].flatMap((code) => [code, Buffer.alloc(padded(code.length) - code.length)]),
  ]);
}

function unpack(bytes) {
  try {
    const end = bytes.indexOf("\n") + 1;
    const { stores, sizes } = JSON.parse(bytes.toString("utf8", 0, end));
    let at = end;
    const parts = sizes.map(([name, size]) => {
      const code = bytes.subarray(at, at + size);
      at += padded(size);
      return [name, code];
    });
    return { stores, parts: new Map(parts) };
  } catch {
    return { stores: 0, parts: new Map() }; // none yet, or not ours
  }
}

function padded(size) {
  return Math.ceil(size / 8) * 8;
}
