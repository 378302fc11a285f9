// Part of the standalone command: the package of batches, which few runs need and which is a text until then.
import { readFileSync } from "node:fs";
import { requireBuiltin } from "./part-loader.mjs";

let loaded;

/** What the package exports. `own` are the modules that the standalone command has in the place of others. */
export function loadFleet(file, own, names) {
  if (loaded) return loaded;
  const { gunzipSync } = process.getBuiltinModule("node:zlib");
  const module = { exports: {} };
  const find = (id) => (id in own ? own[id]() : requireOrMiss(id));
  const run = new Function(
    "require",
    "module",
    "exports",
    ...Object.keys(names),
    gunzipSync(readFileSync(file)).toString("utf8"),
  );
  run(find, module, module.exports, ...Object.values(names));
  loaded = module.exports;
  return loaded;
}

function requireOrMiss(id) {
  try {
    return requireBuiltin(id);
  } catch (error) {
    throw Object.assign(error, { code: "ERR_MODULE_NOT_FOUND" });
  }
}
