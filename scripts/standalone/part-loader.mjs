// Part of the standalone command: where it finds its own parts and modules of the runtime, and nothing else: no file of the folder that the
// command happens to run in.

/** Stands for `require`. */
export function requireBuiltin(id) {
  const module = process.getBuiltinModule(id);
  if (module === undefined) throw new Error(`There is no module ${id}`);
  return module;
}

/** What a file of the build holds: here, of each part, the part alone. */
export function createPartReader(parts) {
  return (file) => {
    const name = `./${file.replace(/\.cjs$/, ".js")}`;
    if (!parts[name]) throw new Error(`There is no part ${name}`);
    return { [name]: parts[name] };
  };
}
