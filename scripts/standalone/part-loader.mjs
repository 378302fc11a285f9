// Part of the standalone command: what stands for `require` there.

/** Finds parts of the command and modules of the runtime, and nothing else: no file of the folder that the command happens to run in. */
export function createPartLoader(parts) {
  return (id) => {
    const name = id.startsWith("/") ? `.${id.replace(/\.cjs$/, ".js")}` : undefined;
    if (name !== undefined && parts[name]) return { [name]: parts[name] };
    const module = process.getBuiltinModule(id);
    if (module === undefined) throw new Error(`There is no module ${id}`);
    return module;
  };
}
