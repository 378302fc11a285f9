import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { proved } from "./stage.ts";
import "./seed-messages.ts";
import "./additions.ts";

type Requirement = { readonly id: string; readonly from: string; readonly text: string };
const root = process.env["OUTRIDER_ROOT"] ?? process.cwd();
const requirements = JSON.parse(readFileSync(join(root, "test/ws/requirements.json"), "utf8")) as Requirement[];

describe("the list of requirements", () => {
  it("has the 17 and 21 messages of the seed, and no line that is not shown here", () => {
    const count = (kind: string): number => requirements.filter(({ id }) => id.startsWith(`${kind}/`)).length;
    assert.deepEqual([count("client"), count("server")], [17, 21]);
    assert.deepEqual(
      requirements.filter(({ id }) => !proved.has(id)).map(({ id }) => id),
      [],
    );
    const known = new Set(requirements.map(({ id }) => id));
    assert.deepEqual(
      [...proved].filter((id) => !known.has(id)),
      [],
    );
  });
});
