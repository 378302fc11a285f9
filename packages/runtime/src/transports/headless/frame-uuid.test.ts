import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { createIdSeries } from "../../util/unique-ids.ts";
import { frameUuid } from "./frame-uuid.ts";

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe("the name of a block's frame", () => {
  it("is a UUID that follows from the message and the place in it, and from nothing else", () => {
    const id = "52b26db3-e748-4fff-8fa9-5ebca9f823f0";
    assert.deepEqual(
      [frameUuid(id, 0), frameUuid(id, 1), frameUuid(id, 0)],
      ["52b26db3-e748-8fff-8fa9-5ebca9f823f0", "52b26db3-e748-8000-8fa9-5ebca9f823f0", "52b26db3-e748-8fff-8fa9-5ebca9f823f0"],
    );
    assert.match(frameUuid("msg_1", 3), uuid);
    assert.equal(frameUuid("msg_1", 3), frameUuid("msg_1", 3));
  });

  it("is another one for every block of every message of a session", () => {
    const next = createIdSeries("00000000-0000-4000-8000-00000000000a");
    const messages = Array.from({ length: 50 }, next);
    const names = [...messages, "m1", "m2"].flatMap((id) => Array.from({ length: 40 }, (_, index) => frameUuid(id, index)));
    assert.equal(new Set([...names, ...messages]).size, names.length + messages.length);
  });

  it("is a UUID whatever the message is called", () => {
    fc.assert(fc.property(fc.string(), fc.nat(4095), (id, index) => uuid.test(frameUuid(id, index))));
  });
});
