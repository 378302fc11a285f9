import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { checkSessionId } from "./store-place.ts";

describe("the id of a session", () => {
  it("is a name that every file system takes", () => {
    for (const id of ["a", "0-_Z", "a".repeat(128)]) assert.equal(checkSessionId(id), id);
  });

  it("is refused with what was given, of which at most 200 letters are shown", () => {
    const cases: [string, string][] = [
      ["a b", '"a b"'],
      ["../x", '"../x"'],
      ["", '""'],
      ["-a", '"-a"'],
      ["a".repeat(129), `"${"a".repeat(129)}"`],
      [".".repeat(200), `"${".".repeat(200)}"`],
      [".".repeat(201), `"${".".repeat(200)}…"`],
    ];
    for (const [id, shown] of cases)
      assert.throws(() => checkSessionId(id), {
        code: "usage",
        message: `A session id is letters, digits, "-" and "_", at most 128 of them, not ${shown}`,
      });
  });
});
