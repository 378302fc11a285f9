import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { describe, it } from "node:test";

const root = process.env["OUTRIDER_ROOT"] ?? process.cwd();
const guide = readFileSync(join(root, "AGENTS.md"), "utf8");
const walks = (/```walks\n([\s\S]*?)```/.exec(guide)?.[1] ?? "")
  .trim()
  .split("\n")
  .map((line) => /^(\w+): +(.+)$/.exec(line)?.slice(1) ?? [line, ""]);

describe("the walks of AGENTS.md", () => {
  it("are there", () => {
    assert.ok(walks.length >= 5, `${walks.length} walks`);
    for (const [name, path] of walks) assert.match(path ?? "", / [→←] /, name);
  });

  for (const [name = "", path = ""] of walks)
    it(`${name}: each arrow is an import`, () => {
      const [first = "", ...steps] = path.split(/ (?=[→←] )/);
      let here = fileOf(first);
      for (const step of steps) {
        const there = fileOf(step.slice(2));
        const [importing, imported] = step.startsWith("→") ? [here, there] : [there, here];
        assert.ok(importsOf(importing).has(imported), `${importing} does not import ${imported}`);
        here = there;
      }
    });
});

function fileOf(name: string): string {
  const path = name.startsWith("cli/") ? name.replace("cli/", "packages/cli/src/") : `packages/runtime/src/${name}`;
  assert.ok(existsSync(join(root, path)), `${path} is not there`);
  return path;
}

/** The files that a file imports. What comes from a published name counts as imported from the file that defines it. */
function importsOf(file: string): Set<string> {
  const found = new Set<string>();
  const text = readFileSync(join(root, file), "utf8");
  for (const [, names, from] of text.matchAll(/^import (?:type )?\{([^}]*)\} from "([^"]+)";/gm)) add(names ?? "", from ?? "");
  for (const [, names, from] of text.matchAll(/\{([^{}]*)\} = await import\("([^"]+)"\)/g)) add(names ?? "", from ?? "");
  for (const [, from] of text.matchAll(/import\("([^"]+)"\)/g)) add("", from ?? "");
  return found;

  function add(names: string, from: string): void {
    if (from.startsWith(".")) found.add(normalize(join(dirname(file), from)));
    if (!from.startsWith("@outrider/runtime")) return;
    const barrel = publishedNames(from);
    for (const name of namesIn(names)) {
      const source = barrel.get(name);
      assert.ok(source, `${from} has no ${name}`);
      found.add(source);
    }
  }
}

/** Which file defines each name of a published subpath. */
function publishedNames(subpath: string): Map<string, string> {
  const folder = "packages/runtime/src/exports";
  const text = readFileSync(join(root, folder, `${subpath.slice("@outrider/runtime/".length) || "index"}.ts`), "utf8");
  const exported = text.matchAll(/^export (?:type )?\{([^}]*)\} from "([^"]+)";/gm);
  return new Map(
    [...exported].flatMap(([, names, from]) =>
      namesIn(names ?? "").map((name): [string, string] => [name, normalize(join(folder, from ?? ""))]),
    ),
  );
}

/** `a`, `type b` and `c as d` as others know them: for an import what it takes, for an export what it gives. */
function namesIn(list: string): string[] {
  return list
    .split(",")
    .map((name) =>
      name
        .trim()
        .replace(/^type /, "")
        .replace(/ as \w+$/, "")
        .replace(/:.*$/, ""),
    )
    .filter((name) => name !== "");
}
