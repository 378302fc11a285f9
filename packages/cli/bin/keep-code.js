// Keeps V8's compiled code below OUTRIDER_HOME for the next start. Nothing here may fail a run.
const fs = require("node:fs");
const path = require("node:path");
const { subscribe, unsubscribe } = require("node:diagnostics_channel");

const requests = "http.client.request.start";
/** Seconds of a run: V8 forgets the code that a longer one has not used for a while. */
const longestWhole = 10;
/** Programs, versions of Node and builds whose code stays beside ours. */
const mostOthers = 3;

/**
 * How much of a run the kept code is of, least first. A run that asks nobody has compiled too little for one that does, and a long one has
 * forgotten at its end how it began. What each keeps has a name of its own, until a short run has got its answer: that of the last is "".
 */
const extents = ["-short", "-asked", ""];

/** What there is where no whole run has kept its code yet. */
exports.findLess = (place, read) => {
  for (const extent of ["-asked", "-short"]) {
    const code = read(`${place}${extent}.bin`);
    if (code) return { code, extent };
  }
  return {};
};

/** Keeps more than there is, if this run comes to it. */
exports.keepCode = (script, place, extent) => {
  const keep = (next) => {
    if (extents.indexOf(next) > extents.indexOf(extent)) store(`${place}${next}.bin`, () => script.createCachedData());
  };
  let hasAsked = false;
  const onRequest = () => {
    unsubscribe(requests, onRequest);
    hasAsked = true;
    setImmediate(keep, "-asked");
  };
  // A subcommand asks for other things, and of what a run needs it compiles little.
  if (!/^[a-z][a-z-]*$/.test(process.argv[2] ?? "")) subscribe(requests, onRequest);
  process.once("exit", (code) => {
    if (!hasAsked) keep("-short");
    else if (code === 0 && process.uptime() < longestWhole) keep("");
  });
};

exports.store = store;

/** Writes what `make` gives, in one step, and takes away what it is in the place of. */
function store(file, make) {
  try {
    const folder = path.dirname(file);
    // One by one: in /proc, Node's own recursion never ends.
    for (const made of [path.dirname(folder), folder]) if (!fs.existsSync(made)) fs.mkdirSync(made, { mode: 0o700 });
    const temporary = `${file}.${process.pid}.tmp`;
    // On the disk before it has its name: V8 trusts what it is given, and would crash on what a power cut has left half empty.
    const descriptor = fs.openSync(temporary, "wx", 0o600);
    try {
      fs.writeFileSync(descriptor, make());
      fs.fsyncSync(descriptor);
    } finally {
      fs.closeSync(descriptor);
    }
    fs.renameSync(temporary, file);
    for (const name of unneeded(folder, path.basename(file))) fs.rmSync(path.join(folder, name), { force: true });
  } catch {
    // A home that cannot be written only means that the next start is as slow as this one.
  }
}

/** What there is of the same program, which is less, and of others all but the newest: two that take turns keep their code. */
function unneeded(folder, kept) {
  const [kind] = kept.split("-", 1);
  const program = (name) => /^\w+-.*?-\d+-\d+/.exec(name)?.[0];
  const written = (name) => fs.statSync(path.join(folder, name)).mtimeMs;
  const all = fs.readdirSync(folder).filter((name) => name.startsWith(`${kind}-`) && name !== kept);
  const others = all.filter((name) => program(name) !== program(kept)).sort((one, other) => written(other) - written(one));
  return [...all.filter((name) => program(name) === program(kept)), ...others.slice(mostOthers)];
}
