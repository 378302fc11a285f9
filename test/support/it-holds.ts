import assert from "node:assert/strict";
import { it } from "node:test";

/** A fact that is tried on many cases. `check` answers what is wrong with one; all that is wrong is told together. */
export function itHolds<Case>(fact: string, cases: readonly Case[], check: (one: Case) => Promise<string | undefined>): void {
  it(fact, async () => {
    const wrong: string[] = [];
    for (const one of cases) {
      const found = await check(one);
      if (found !== undefined) wrong.push(found);
    }
    assert.ok(wrong.length === 0, wrong.join("\n"));
  });
}
