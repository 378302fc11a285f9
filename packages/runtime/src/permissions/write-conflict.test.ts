import assert from "node:assert/strict";
import { resolve } from "node:path";
import { describe, it } from "node:test";
import { programOf } from "../../../../test/support/shell-lines.ts";
import type { FolderEntry } from "./glob-words.ts";
import { parseRule } from "./rules.ts";
import { writeConflict } from "./write-conflict.ts";

const base = { root: "/p", home: undefined };
/** Everything but `/p/src/a.ts` is a folder, and `/p/cfg` has a file in it. */
const list = async (folder: string): Promise<FolderEntry[] | undefined> => {
  if (folder === "/p/src/a.ts") return undefined;
  return folder === "/p/cfg" ? [{ name: ".env", kind: "file" }] : [];
};

/** `uses`: `+path` is changed, `path` is looked at, `?` is not known. */
async function conflict(
  line: string,
  uses = "",
  rules: readonly string[] = ["Edit(src/keep/**)"],
  lists = true,
): Promise<string> {
  const touched = uses
    .split(" ")
    .filter(Boolean)
    .map((use) => ({
      kind: use.startsWith("+") ? ("edit" as const) : ("look" as const),
      target: use.endsWith("?") ? undefined : { path: use.replace("+", "") },
    }));
  return (
    (await writeConflict(programOf(line), touched, {
      rules: rules.map((rule) => parseRule(rule)),
      seen: { base, list: lists ? list : undefined, resolve: async (path) => path, settled: true },
      find: async ({ word }) => [word.kind === "open" ? undefined : { path: resolve("/p", word.text), pattern: false }],
    })) ?? "-"
  );
}

describe("files that are kept from being edited", () => {
  const unnamed = `patch -p1; git clean -f; git apply x; git am x; git stash; git stash pop; git reset --hard; git reset --merge; git reset --keep; git checkout .;
    git checkout ./; git restore :/; git rm $x; git mv "a$x" b; git checkout "$x"; git stash "list$x"; git clean list; git apply show; git restore -- '*'; git rm -qf '?';
    git checkout -- '[a]'; git checkout HEAD -- '\\*'; git checkout -f; git checkout -qf main; git switch --discard-changes main; git switch --force main; git sparse-checkout set x;
    git read-tree -u HEAD; git checkout-index -af`;
  const named = `git status; git stash list; git stash show; git stash drop; git stash clear; git reset; git reset --soft; git checkout main; git switch main; git restore a; git add '*'; git add .; ls; git; git log .; git $x`;
  for (const line of unnamed.split(";").map((one) => one.trim()))
    it(`may be changed without being named: ${line}`, async () => {
      assert.match(await conflict(line), /changes files without naming them, and the rule Edit\(src\/keep\/\*\*\) protects/);
      assert.equal(await conflict(line, "", []), "-");
    });
  for (const line of named.split(";").map((one) => one.trim()))
    it(`are not changed without being named: ${line}`, async () => assert.equal(await conflict(line), "-"));

  const rows: [line: string, uses: string, isHit: boolean][] = [
    ["mv src x", "/p/src", true],
    ["mv x src", "+/p/src", false],
    ["rm -r src", "+/p/src", true],
    ["rm -fr src", "+/p/src", true],
    ["rm --recursive src", "+/p/src", true],
    ["rm src", "+/p/src", false],
    ["rm $x src", "+/p/src", true],
    ["rm -r src", "/p/src", false],
    ["cp -a x src", "+/p/src", true],
    ["cp --archive x src", "+/p/src", true],
    ["cp x src", "+/p/src", false],
    ["chmod -R x src", "+/p/src", true],
    ["rsync a src", "+/p/src", true],
    ["rsync a src", "/p/src", false],
    ["tar xf a -C src", "+/p/src", true],
    ["prettier --write src", "/p/src", true],
    ["prettier --write src", "+/p/src", true],
    ["eslint --fix src", "/p/src", true],
    ["prettier -w src", "/p/src", true],
    ["prettier src", "/p/src", false],
    ["cat --write src", "/p/src", false],
    ["tee src", "+/p/src", false],
    ["tee src", "+/p/src/**", true],
    ["tee src", "/p/src/**", false],
    ["tee src", "+/p/docs/**", false],
    ["rm -r docs", "+/p/docs", false],
    ["rm -r docs src", "+/p/docs +/p/src", true],
    ["rm -r $x", "+?", false],
    ["rm -r $x src", "+? +/p/src", true],
    ["rm -r src/keep", "+/p/src/keep", true],
  ];
  for (const [line, uses, isHit] of rows)
    it(`${isHit ? "may lie" : "do not lie"} in what is changed: ${line} (${uses})`, async () =>
      assert.equal(
        await conflict(line, uses),
        isHit ? "it changes whole folders, where the rule Edit(src/keep/**) protects files" : "-",
      ));

  it("are found in folders, as far as it can be told what is one", async () => {
    assert.equal(await conflict("rm -r src/a.ts", "+/p/src/a.ts", ["Edit"]), "-");
    assert.match(await conflict("rm -r src/b", "+/p/src/b", ["Edit"]), /rule Edit protects/);
    assert.match(await conflict("rm -r src", "+/p/src", ["Edit(docs/**)", "Edit(src/**)"]), /rule Edit\(src/);
    assert.equal(await conflict("rm -r src", "+/p/src", ["Edit"], false), "-");
    assert.match(await conflict("rm -r src", "+/p/src/**", ["Edit"], false), /rule Edit protects/);
  });

  it("are names that hold in every folder, where one has them", async () => {
    for (const rule of ["Edit(.env)", "Edit(./.env)"]) {
      const found = [await conflict("rm -r cfg", "+/p/cfg", [rule]), await conflict("rm -r src", "+/p/src", [rule])];
      assert.deepEqual(found, [`it changes whole folders, where the rule ${rule} protects files`, "-"]);
    }
  });
});
