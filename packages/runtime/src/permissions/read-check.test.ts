import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Policy } from "./policy.ts";
import { toReadCheck } from "./read-check.ts";
import { parseRule } from "./rules.ts";

const root = "/repo/proj";
type Given = { deny?: string[]; ask?: string[]; allow?: string[]; mode?: Policy["mode"]; approved?: string[]; tool?: string };

function mayRead({ deny = [], ask = [], allow = [], mode = "default", approved = [root], tool = "Grep" }: Given) {
  const toRules = (texts: string[]) => texts.map((text) => parseRule(text));
  const base = { root, home: "/home/me" };
  const policy: Policy = { mode, deny: toRules(deny), ask: toRules(ask), allow: toRules(allow), base, readable: [] };
  return toReadCheck(policy, { tool, approved });
}

const readable = (given: Given, ...paths: string[]): boolean[] => paths.map((path) => mayRead(given)?.(path) ?? true);

describe("permission for a folder", () => {
  it("needs no check where nothing speaks against a file in it", () => {
    assert.equal(mayRead({}), undefined);
    assert.equal(mayRead({ deny: ["Edit(./a)", "Bash(rm:*)"] }), undefined);
    assert.notEqual(mayRead({ deny: ["Read(./a)"] }), undefined);
    assert.notEqual(mayRead({ approved: ["/srv"] }), undefined);
    assert.notEqual(mayRead({ approved: [root, "/srv"] }), undefined);
    assert.notEqual(mayRead({ approved: ["/proc"] }), undefined);
  });

  it("is none for files and folders that a rule forbids", () => {
    const paths = ["/repo/proj/a", "/repo/proj/secrets/deep/x", "/repo/proj/secrets", "/repo/proj/.ENV", "/repo/proj/b"];
    assert.deepEqual(readable({ deny: ["Read(./secrets)", "Read(./.env)", "Read(./a)"] }, ...paths), [
      false,
      false,
      false,
      false,
      true,
    ]);
    const copies = ["a", "secrets/deep/x", "src/a/secrets"].map((path) => `/repo/proj/.outrider/worktrees/w/${path}`);
    assert.deepEqual(readable({ deny: ["Read(secrets/**)", "Read(/a)"] }, ...copies), [false, false, true]);
    assert.deepEqual(readable({ ask: ["Read(secrets/**)"] }, ...copies), [true, false, true]);
    assert.deepEqual(readable({ deny: ["Grep(./a)"] }, ...paths), [false, true, true, true, true]);
    assert.deepEqual(readable({ deny: ["Read(//repo/proj/*/deep/**)"] }, ...paths), [true, false, true, true, true]);
  });

  it("holds for what an ask rule speaks of only where the answer was about all of it", () => {
    const paths = ["/repo/proj/secrets/x", "/repo/proj/b"];
    const ask = ["Read(./secrets/**)"];
    assert.deepEqual(readable({ ask }, ...paths), [false, true]);
    assert.equal(mayRead({ ask, approved: ["/repo/proj/secrets"] }), undefined);
    assert.deepEqual(readable({ ask, approved: ["/repo/proj/secrets", "/repo/proj/docs"] }, ...paths), [false, true]);
    assert.equal(mayRead({ ask: ["Read"] }), undefined);
  });

  it("is none for credentials outside the project, unless it was given for them", () => {
    const [key, note, inside] = ["/home/me/.ssh/id_rsa", "/home/me/notes", "/repo/proj/.ssh/id_rsa"];
    const approved = ["/home/me"];
    assert.deepEqual(readable({ approved }, key, note, inside), [false, true, true]);
    assert.deepEqual(readable({ approved, mode: "bypassPermissions" }, key, note), [true, true]);
    assert.deepEqual(readable({ approved: ["/home/me/.ssh"] }, key), [true]);
    assert.deepEqual(readable({ approved: ["/home/me", "/home/me/.ssh"] }, key), [true]);
    assert.deepEqual(readable({ approved, allow: ["Read(~/.ssh/**)"] }, key), [true]);
    assert.deepEqual(readable({ approved, allow: ["Read(//home/**)"] }, key), [false]);
    assert.deepEqual(readable({ approved, allow: ["Edit(~/.ssh/**)"] }, key), [false]);
  });

  it("is never one for the secrets of processes, unless a rule names them", () => {
    const paths = ["/proc/12/environ", "/proc/12/status"];
    const given: Given = { approved: ["/proc/12"], mode: "bypassPermissions" };
    assert.deepEqual(readable(given, ...paths), [false, true]);
    assert.deepEqual(readable({ ...given, allow: ["Read(//proc/12/environ)"] }, ...paths), [true, true]);
  });
});
