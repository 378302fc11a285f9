import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { BoxPlan } from "./box/box-plan.ts";
import { isBoxRunningOver } from "./running-boxes.ts";

describe("boxes that run", () => {
  const box: BoxPlan = {
    mounts: [
      { type: "writable", path: "/a/b" },
      { type: "read-only", path: "/c" },
    ],
    watched: [],
  };

  it("are over the folders that they can change, above and below too", () => {
    const over = ["/a/b", "/a", "/a/b/c", "/a/bc", "/c", "/d"].map((folder) => isBoxRunningOver([folder], [box]));
    assert.deepEqual(over, [true, true, true, false, false, false]);
    assert.deepEqual([isBoxRunningOver(["/d", "/a"], [box]), isBoxRunningOver(["/a"], [])], [true, false]);
  });
});
