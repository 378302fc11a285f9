import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { switchesToolchain } from "./go-toolchain.ts";

describe("the toolchain that a module of Go names", () => {
  const own = "go1.22.3\ntime 2024-05-01T19:49:47Z\n";
  const rows: [text: string, own: string | undefined, switches: boolean][] = [
    ["module x\n", undefined, false],
    ["module x\n\ngo 1.22\n", own, false],
    ["module x\n\ngo 1.22.3\n", own, false],
    ["module x\n\ngo 1.22.4\n", own, true],
    ["module x\n\ngo 1.23rc1\n", own, true],
    ["module x\n\n\tgo  2\n", own, true],
    ["go 1.9\n", own, false],
    ["go 1.22\n", undefined, true],
    ["go 1.22\n", "devel", true],
    ["go 1.20\ntoolchain go1.22.3\n", own, false],
    ["go 1.20\ntoolchain go1.22.10\n", own, true],
    ["toolchain go1.20-mine\n", own, true],
    ["toolchain ./x\n", own, true],
    ["go 1.22\n", "go1.22", false],
    ["go 1.22.1\n", "go1.22", true],
    ["go 1.22.3.1\n", own, false], // there are three numbers
    ["go 2.0.1\n", "go3.0.0", false],
    ["go 1.21.9\n", own, false],
    ["toolchain default\n", own, false],
    ["toolchain local\n", own, false],
    ["require example.org/toolchain v1.0.0\n", own, false],
  ];
  for (const [text, version, switches] of rows)
    it(`${switches ? "starts another go" : "starts none"}: ${JSON.stringify(text)} in ${version?.slice(0, 8)}`, () =>
      assert.equal(switchesToolchain(text, version), switches));
});
