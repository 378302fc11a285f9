// Keeps V8's compiled code below OUTRIDER_HOME for the next start. Nothing here may fail a run.
const fs = require("node:fs");
const path = require("node:path");
const { subscribe, unsubscribe } = require("node:diagnostics_channel");

const requests = "http.client.request.start";

/**
 * Right after the first request, when what a start needs has just been compiled: V8 forgets that in a long run, so that later starts would
 * compile it again, and they would read what only this run needed. A run that asks nobody has compiled too little for one that does: what
 * it keeps has a name of its own, until a request is made.
 */
exports.keepCode = (script, { place, hasShort }) => {
  const onRequest = () => {
    unsubscribe(requests, onRequest);
    process.off("exit", onExit);
    setImmediate(() => store(`${place}.bin`, script));
  };
  const onExit = () => {
    if (!hasShort) store(`${place}-short.bin`, script);
  };
  subscribe(requests, onRequest);
  process.once("exit", onExit);
};

function store(file, script) {
  try {
    const folder = path.dirname(file);
    // One by one: in /proc, Node's own recursion never ends.
    for (const made of [path.dirname(folder), folder]) if (!fs.existsSync(made)) fs.mkdirSync(made, { mode: 0o700 });
    const temporary = `${file}.${process.pid}.tmp`;
    fs.writeFileSync(temporary, script.createCachedData(), { mode: 0o600, flag: "wx" });
    fs.renameSync(temporary, file);
    for (const name of fs.readdirSync(folder)) {
      if (name.startsWith("code-") && name !== path.basename(file)) fs.rmSync(path.join(folder, name), { force: true });
    }
  } catch {
    // A home that cannot be written only means that the next start is as slow as this one.
  }
}
