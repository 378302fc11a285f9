import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Target } from "./command-paths.ts";
import type { Seen } from "./forbidden-below.ts";
import { readConflict } from "./read-conflict.ts";
import { parseRule } from "./rules.ts";
import type { Shown } from "./shown-files.ts";

/** `*path` is a pattern, `?` cannot be told. */
async function conflict(
  type: Shown["type"],
  paths: string,
  { rules = "Read(src/secret/**)", wildGlobs = false } = {},
): Promise<string> {
  const shown: Shown = type === "unknown" ? { type, why: "it shows much" } : { type };
  const targets = paths
    .split(" ")
    .filter(Boolean)
    .map((path): Target => (path === "?" ? undefined : { path: path.replace("!", ""), pattern: path.startsWith("!") }));
  const parsed = rules
    .split(" ")
    .filter(Boolean)
    .map((rule) => parseRule(rule));
  const seen: Seen = {
    base: { root: "/p", home: undefined },
    settled: true,
    list: async (folder) => (folder === "/p/cfg" ? [{ name: ".env", kind: "file" }] : []),
    resolve: async (path) => path,
  };
  return (await readConflict({ shown, targets, wildGlobs }, parsed, seen)) ?? "-";
}

describe("files that are kept from being read", () => {
  const folders = "it reads whole folders, where the rule Read(src/secret/**) protects files";
  const some = "the rule Read(src/secret/**) protects what it may read";
  const rows: [type: Shown["type"], paths: string, expected: string][] = [
    ["nothing", "/p/src ?", "-"],
    ["unknown", "", "it shows much, and the rule Read(src/secret/**) protects some"],
    ["named", "?", "it reads files that are not written out, and the rule Read(src/secret/**) protects some"],
    ["named", "", "-"],
    ["named", "/p/src", "-"],
    ["named", "/p/src/secret/a", "-"], // a word that names it is judged by itself
    ["below", "/p/src", folders],
    ["below", "/p", folders],
    ["below", "/p/docs", "-"],
    ["below", "/p/docs /p/src", folders],
    ["named", "/p/src/**", some],
    ["below", "/p/src/**", folders],
    ["named", "/p/docs/**", "-"],
    ["named", "!/p/src/secret/*", some],
    ["named", "!/p/src/*", "-"],
    ["below", "!/p/src/*", folders],
    ["below", "!/p/*", folders],
    ["named", "!/p/docs/*", "-"],
    ["named", "!/p/.outrider/worktrees/*/src/secret/a", some],
    ["named", "!/p/.outrider/worktrees/*/src/a", "-"],
    ["below", "/p/.outrider", folders],
    ["below", "/p/.outrider/worktrees", folders],
    ["below", "!/p/.outrider/worktrees/*", folders],
    ["below", "/p/.outrider/worktrees/w/docs", "-"],
    ["below", "/p/.outrider/plans", "-"],
  ];
  for (const [type, paths, expected] of rows)
    it(`are told from others: ${type} ${paths}`, async () => {
      assert.equal(await conflict(type, paths), expected);
      assert.equal(await conflict(type, paths, { rules: "" }), "-");
    });

  it("are all, for a rule without a pattern, and hidden ones where patterns find those", async () => {
    assert.equal(
      await conflict("below", "/p/docs", { rules: "Read" }),
      "it reads whole folders, where the rule Read protects files",
    );
    assert.equal(await conflict("named", "!/p/*", { rules: "Read(./.env)" }), "-");
    assert.equal(
      await conflict("named", "!/p/*", { rules: "Read(./.env)", wildGlobs: true }),
      "the rule Read(./.env) protects what it may read",
    );
    assert.match(await conflict("below", "/p/src", { rules: "Read(docs/**) Read(src/**)" }), /rule Read\(src/);
  });

  it("are names that hold in every folder, where one has them; in the history, all may", async () => {
    const rules = "Read(.env)";
    assert.match(await conflict("below", "/p/cfg", { rules }), /rule Read\(\.env\)/);
    assert.match(await conflict("named", "/p/cfg/**", { rules }), /rule Read\(\.env\)/);
    assert.match(await conflict("below", "!/p/src/*", { rules }), /rule Read\(\.env\)/);
    assert.deepEqual([await conflict("below", "/p/src", { rules }), await conflict("named", "/p/src/**", { rules })], ["-", "-"]);
  });
});
