import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { PlaceFacts } from "../../workspace/workspace.ts";
import { placeNotes } from "./place-notes.ts";

const boxed: PlaceFacts = { place: "box", network: "none", withheld: [], mayLeave: true };
const where = "(It ran in the sandbox.)";
const wayOut = "A rule of the user's for this command, or a yes to dangerouslyDisableSandbox, lets it run outside.";

describe("what a model is told of the place where a command failed", () => {
  it("in the sandbox: that it was there, and nothing else where nothing points to it", () => {
    assert.deepEqual(placeNotes(boxed, "2 tests failed"), { where });
    assert.deepEqual(placeNotes({ ...boxed, withheld: ["API_KEY"] }, "2 tests failed"), { where });
  });

  it("in the sandbox: a variable that is not there, by its name alone", () => {
    const { reason = "" } = placeNotes({ ...boxed, withheld: ["DEPLOY_TO", "OTHER"] }, "bash: DEPLOY_TO: unbound variable");
    assert.match(reason, /DEPLOY_TO/);
    assert.doesNotMatch(reason, /OTHER/);
  });

  it("in the sandbox: what looks like the reason, and what would change it", () => {
    const reason = (output: string, more: Partial<PlaceFacts> = {}): string | undefined =>
      placeNotes({ ...boxed, ...more }, output).reason;
    const network = "curl: (6) Could not resolve host: example.com";
    assert.equal(reason(network), `There is no network there. ${wayOut}`);
    assert.equal(
      reason(network, { network: "domains" }),
      `Only the domains in the setting sandbox.network.domains can be reached from there. ${wayOut}`,
    );
    assert.equal(reason(network, { network: "open" }), undefined);
    assert.equal(
      reason("touch: Read-only file system", { mayLeave: false }),
      "Only the project and /tmp are writable there, and home is empty. Everything runs there, as --sandbox require wants it.",
    );
  });

  it("outside: only what was not passed on, where it is missed", () => {
    const outside: PlaceFacts = { ...boxed, place: "outside", withheld: ["GH_TOKEN", "NPM_TOKEN"] };
    assert.deepEqual(placeNotes(outside, "fine"), {});
    assert.deepEqual(placeNotes({ ...outside, withheld: [] }, "HTTP 401"), {});
    assert.deepEqual(placeNotes(outside, "set GH_TOKEN first"), {
      reason: "Not passed on to it: GH_TOKEN; --pass-env NAME does that.",
    });
    assert.deepEqual(placeNotes(outside, "HTTP 401"), {
      reason: "Not passed on to it: GH_TOKEN, NPM_TOKEN; --pass-env NAME does that.",
    });
  });

  it("names eight variables, and counts the others", () => {
    const names = (count: number): string[] => Array.from({ length: count }, (_, index) => `V${index}`);
    const said = (count: number): string | undefined =>
      placeNotes({ ...boxed, place: "outside", withheld: names(count) }, "401").reason;
    assert.equal(said(8), `Not passed on to it: ${names(8).join(", ")}; --pass-env NAME does that.`);
    assert.equal(said(10), `Not passed on to it: ${names(8).join(", ")} and 2 more; --pass-env NAME does that.`);
  });
});
