import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { programOf } from "../../../../test/support/shell-lines.ts";
import { subcommandRisk } from "./subcommand-risks.ts";

const covered: [line: string, from: number][] = [
  ["npm test", 1],
  ["npm --silent test", 1],
  ["npm exec x", 2],
  ["npm", 1],
  ["npm --version", 1],
  ["docker ps", 1],
  ["docker run x", 2],
  ["docker run -v a:b x", 3],
  ["docker run -it x", 2],
  ["docker ps -v", 1],
  ["docker run $x", 2],
  ["ls exec", 1],
  ["toString exec", 1],
  ["kubectl get pods", 1],
];
const risky: [line: string, from: number, why: string][] = [
  ["npm exec x", 1, "npm exec runs or configures what it is told"],
  ["npm --silent exec x", 1, "npm exec runs or configures what it is told"],
  ["npm --silent exec x", 2, "npm exec runs or configures what it is told"],
  ["npm $x", 1, "what npm is to do is not written out"],
  ['npm "-$x" test', 1, "what npm is to do is not written out"],
  ["docker run x", 1, "docker run runs or configures what it is told"],
  ["docker run -v a:b x", 2, "docker -v reaches out of the container"],
  ["docker run -itv a:b x", 2, "docker -itv reaches out of the container"],
  ["docker run --volume=a:b x", 2, "docker --volume reaches out of the container"],
  ["podman run --privileged x", 2, "podman --privileged reaches out of the container"],
  ["gh api x", 1, "gh api runs or configures what it is told"],
];

describe("a rule for a program with subcommands", () => {
  for (const [line, from] of covered)
    it(`of ${from} words covers ${line}`, () =>
      assert.equal(subcommandRisk(programOf(line).name, programOf(line).words, from), undefined));
  for (const [line, from, why] of risky)
    it(`of ${from} words does not cover ${line}`, () =>
      assert.equal(subcommandRisk(programOf(line).name, programOf(line).words, from), why));
});
