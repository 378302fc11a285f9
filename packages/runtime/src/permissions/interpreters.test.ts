import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { programOf } from "../../../../test/support/shell-lines.ts";
import { isTold, runsProject } from "./interpreters.ts";

describe("programs that do what the project says", () => {
  const yes =
    "make; make x; pytest; npm run build; npm --silent test; yarn start; bun build; npm t; cargo build; go test ./...; cargo --quiet r";
  const no =
    "npm; npm install; npm -test; npm test-; cargo --version; cargo add build; go env; build; ls test; node run; npm ls run; cargo; test t";
  for (const [text, expected] of [
    [yes, true],
    [no, false],
  ] as const)
    for (const line of text.split("; "))
      it(`${expected ? "are" : "are not"}: ${line}`, () => assert.equal(runsProject(programOf(line)), expected));

  it("are told from those that are told by an option", () => {
    assert.deepEqual(
      [isTold("fd", "-x"), isTold("fd", "-e"), isTold("ls", "-x"), isTold("toString", "-x")],
      [true, false, false, false],
    );
  });
});
