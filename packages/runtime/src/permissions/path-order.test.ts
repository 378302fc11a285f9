import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Change, changesBefore, disturbance, namesDisturbed } from "./path-order.ts";

const moment = (at: number, until = at + 1, again = false) => ({ at, until, again });
const change = (type: Change["type"], at: number, paths: string[] = []): Change => ({ moment: moment(at), type, paths });

describe("the order of a line", () => {
  it("counts what may happen before, and what a loop repeats", () => {
    const own: Change = { moment: moment(3), type: "plain", paths: [] };
    const repeated: Change = { moment: moment(3, 9, true), type: "plain", paths: [] };
    const [early, late] = [change("plain", 1), change("plain", 5)];
    assert.deepEqual(changesBefore(own.moment, [early, own, late]), [early]);
    assert.deepEqual(changesBefore(repeated.moment, [early, repeated, late]), [early, repeated, late]);
    assert.deepEqual(changesBefore(moment(3, 6), [early, late]), [early, late]);
    assert.deepEqual(changesBefore(moment(3, 5), [early, late]), [early]);
  });

  it("tells whether a path may lead elsewhere", () => {
    const now = moment(5);
    assert.equal(disturbance("/p/a", undefined, [change("unknown", 1)]), undefined);
    assert.equal(disturbance("/p/a", now, [change("plain", 1, ["/p/a"])]), undefined);
    assert.equal(disturbance("/p/a/b", now, [change("moves", 1, ["/q", "/p/a"])]), "moves");
    assert.equal(disturbance("/p/b", now, [change("moves", 1, ["/p/a"])]), undefined);
    assert.equal(disturbance("/p/b", now, [change("unknown", 1)]), "unknown");
    assert.equal(disturbance("/p/b", now, [change("unknown", 6)]), undefined);
    assert.equal(disturbance("/p/b", now, [change("runs", 1)]), "runs");
    assert.equal(disturbance("/p/b", now, [change("plain", 1), change("unknown", 2), change("runs", 3)]), "unknown");
    assert.equal(disturbance("/p/a", now, [change("unknown", 1), change("moves", 2, ["/p"])]), "moves");
  });

  it("tells whether names in a folder may have become others", () => {
    const disturbed = (folder: string, ...changes: Change[]): boolean => namesDisturbed(folder, moment(5), changes);
    assert.equal(disturbed("/p", change("plain", 1, ["/p/a", "/p/b.txt"])), false);
    for (const path of ["/p/-f", "/p/a/-f", "/p/-f/a", "/p/x y", "/p/x y/a", "/p/a*"])
      assert.equal(disturbed("/p", change("plain", 1, ["/p/a", path])), true, path);
    assert.equal(disturbed("/p/a", change("plain", 1, ["/p/-f"])), false, "elsewhere");
    assert.equal(disturbed("/p -/a", change("plain", 1, ["/p -/a/b"])), false, "the name of the folder itself");
    assert.equal(disturbed("/p", change("plain", 1, ["/p/a/**"])), false, "what is there already");
    assert.equal(disturbed("/p", change("plain", 6, ["/p/-f"])), false, "later");
    for (const type of ["moves", "runs", "unknown"] as const) {
      assert.equal(disturbed("/p", change(type, 1, ["/p/a"])), true);
      assert.equal(disturbed("/p/a", change(type, 1, ["/p/b"])), false);
      assert.equal(disturbed("/p", change(type, 1)), false);
    }
    assert.equal(namesDisturbed("/p", undefined, [change("plain", 1, ["/p/-f"])]), false);
  });
});
