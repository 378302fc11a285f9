import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { messageOf } from "./message-of.ts";

describe("the words of what was thrown", () => {
  it("are the message of an error, and else the text of the thing", () => {
    assert.deepEqual([messageOf(new TypeError("no")), messageOf("why"), messageOf(undefined)], ["no", "why", "undefined"]);
  });
});
