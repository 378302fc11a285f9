import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Moments } from "./moments.ts";

describe("the moments of a line", () => {
  it("come one after the other, mixed from one on, or at any time", () => {
    const moments = new Moments();
    const [first, second, third] = [moments.next(), moments.next(), moments.next()];
    assert.equal(moments.count(), 3);
    moments.mix(1, false);
    assert.deepEqual(
      [first, second, third],
      [
        { at: 0, until: 0, again: false },
        { at: 1, until: 3, again: false },
        { at: 2, until: 3, again: false },
      ],
    );
    moments.mix(2, true);
    moments.mix(2, false);
    assert.deepEqual([second.again, third.again], [false, true], "what may come again still may");
    moments.detach(2);
    moments.mix(1, false);
    assert.deepEqual([first.until, second.until, third.until], [0, 3, Number.POSITIVE_INFINITY]);
  });
});
