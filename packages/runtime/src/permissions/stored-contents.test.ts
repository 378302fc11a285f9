import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { decide } from "./decide.ts";
import { leadsToObjects } from "./object-folders.ts";
import type { Policy } from "./policy.ts";
import { toReadCheck } from "./read-check.ts";
import { parseRule } from "./rules.ts";
import { isForObjects, withGitObjects } from "./stored-contents.ts";

const objects = [
  "/p/.git/objects/b4/0b80",
  "/p/.git/objects/pack/pack-1.pack",
  "/p/.git/lfs/objects/aa/bb/cc",
  "/p/.git/annex/objects/a/b/c",
  "/p/.git/modules/sub/objects/aa/bb",
  "/p/sub/.git/objects/aa/bb",
  "/elsewhere/.git/objects/aa/bb",
  "/p/.GIT/Objects/aa/bb",
];
const others = ["/p/.git/HEAD", "/p/.git/config", "/p/src/objects/a.ts", "/p/objects/a.ts", "/p/.github/objects/a"];

function policy(given: Partial<Policy>): Policy {
  return { mode: "bypassPermissions", allow: [], ask: [], deny: [], base: { root: "/p", home: "/h" }, readable: [], ...given };
}

describe("what git keeps of files", () => {
  for (const tool of ["Read", "Grep", "Glob"])
    it(`is protected from ${tool} where a rule protects files`, async () => {
      const read = async (resource: string, given: Partial<Policy>) =>
        (await decide(policy(given), [{ tool, kind: "look", resource }])).effect;
      const rules = [parseRule("Read(.env)")];
      for (const path of objects) {
        assert.equal(await read(path, { deny: rules }), "deny", path);
        assert.equal(await read(path, { ask: rules }), "ask", path);
        assert.equal(await read(path, { deny: [parseRule("Edit(.env)"), parseRule("Bash(rm:*)")] }), "allow", path);
      }
      for (const path of others) assert.equal(await read(path, { deny: rules }), "allow", path);
    });

  it("is left out of searches", () => {
    const check = toReadCheck(policy({ deny: [parseRule("Read(.env)")] }), { tool: "Grep", approved: ["/p"] });
    assert.deepEqual(
      objects.filter((path) => check?.(path)),
      [],
    );
    assert.deepEqual(
      others.filter((path) => !check?.(path)),
      [],
    );
  });

  it("may be read where somebody was asked about it", () => {
    const check = toReadCheck(policy({ ask: [parseRule("Read(.env)")] }), { tool: "Grep", approved: ["/p/.git/objects"] });
    assert.equal(check?.("/p/.git/objects/b4/0b80"), true);
    assert.equal(check?.("/p/.env"), false);
  });

  it("needs no rule of its own where everything or nothing is protected, or one is there", () => {
    for (const given of [policy({}), policy({ deny: [parseRule("Read")] }), policy({ ask: [parseRule("Edit(a)")] })])
      assert.equal(withGitObjects(given), given);
    const once = withGitObjects(policy({ deny: [parseRule("Read(.env)")] }));
    assert.equal(once.deny.filter(isForObjects).length, 1);
    assert.equal(withGitObjects(once), once);
  });

  it("is met by whoever goes through a folder of git's that holds it", () => {
    const leads = (path: string, pattern = false): boolean => leadsToObjects({ path, pattern }, false);
    for (const path of ["/p/.git", "/p/.git/**", "/p/.git/objects", "/p/.git/lfs", "/p/.git/modules/a", "/p/s/.git/annex/**"])
      assert.ok(leads(path), path);
    for (const path of ["/p", "/p/**", "/p/.git/hooks", "/p/.git/objects2", "/p/.github", "/p/src/objects"])
      assert.ok(!leads(path), path);
    assert.ok(leads("/p/.g*/o*/*", true));
    assert.ok(!leads("/p/src/*", true));
  });
});
