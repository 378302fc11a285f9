// The command imports the library's published barrels. esbuild puts whatever a barrel names, and any part of the command uses, into the
// file where the barrel is first needed, and that is the one every run starts from. So in the command's build each name is imported
// from the source that defines it.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** `barrels`: the source of each published name, such as "@outrider/runtime/host". `folder`: whose imports are rewritten. */
export function directImports(barrels, folder) {
  const sources = new Map(Object.entries(barrels).map(([name, path]) => [name, sourcesOf(path)]));
  return {
    name: "direct-imports",
    setup(build) {
      build.onLoad({ filter: /\.ts$/ }, ({ path }) => {
        if (!path.startsWith(folder)) return undefined;
        return { contents: rewrite(readFileSync(path, "utf8"), sources), loader: "ts" };
      });
    },
  };
}

/** The file behind each value a barrel exports. */
function sourcesOf(barrel) {
  const found = new Map();
  for (const [, names, path] of readFileSync(barrel, "utf8").matchAll(/^export \{([^}]*)\} from "([^"]+)";/gm)) {
    for (const { imported, local } of valuesIn(names)) found.set(local, { path: join(dirname(barrel), path), name: imported });
  }
  return found;
}

function rewrite(text, sources) {
  const one = (names, barrel) => {
    const byName = sources.get(barrel);
    return valuesIn(names).map(({ imported, local }) => {
      const source = byName?.get(imported);
      if (!source) throw new Error(`${barrel} has no value ${imported}`);
      return { ...source, local };
    });
  };
  return text
    .replace(/^import \{([^}]*)\} from "(@outrider\/runtime[^"]*)";/gm, (_, names, barrel) =>
      one(names, barrel)
        .map(({ path, name, local }) => `import { ${name} as ${local} } from ${JSON.stringify(path)};`)
        .join(" "),
    )
    .replace(/^( *)const \{([^}]*)\} = await import\("(@outrider\/runtime[^"]*)"\);/gm, (_, indent, names, barrel) => {
      const imports = [...new Set(one(names, barrel).map(({ path }) => path))].map((path) => `import(${JSON.stringify(path)})`);
      const loaded = imports.length === 1 ? `await ${imports[0]}` : `Object.assign({}, ...(await Promise.all([${imports}])))`;
      return `${indent}const {${names}} = ${loaded};`;
    });
}

/** `a, type B, c as d` without its types; nothing is renamed in a barrel or by `await import`. */
function valuesIn(names) {
  return names
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "" && !part.startsWith("type "))
    .map((part) => {
      const [imported, local = imported] = part.split(" as ");
      return { imported, local };
    });
}
