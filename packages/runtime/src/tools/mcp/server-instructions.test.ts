import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { describeServers } from "./server-instructions.ts";

const state = (name: string, instructions?: string) => ({
  ...{ name, status: "connected" as const, tools: [], offers: [] },
  ...(instructions !== undefined && { instructions }),
});

describe("what servers say about their tools", () => {
  it("is named by server, and nothing where none says anything", () => {
    assert.equal(describeServers([state("a"), state("b", "  ")]), undefined);
    assert.match(
      describeServers([state("a", "Use add."), state("b"), state("c", "Ask first.")]) ?? "",
      /\n\n## a\nUse add\.\n\n## c\nAsk first\.$/,
    );
  });

  it("a server that is not there is named, with the first line of the reason", () => {
    const failed = { ...state("a"), status: "failed" as const, error: "it ended with exit code 3\nmore" };
    assert.match(
      describeServers([failed, { ...state("b"), status: "needs-auth" as const }, state("c")]) ?? "",
      /not connected.*:\n- a: it ended with exit code 3\n- b: somebody has to log in to it first$/,
    );
  });

  it("is bounded for each and for all, and says what is missing", () => {
    const all = describeServers(["a", "b", "c", "d", "e"].map((name) => state(name, "x".repeat(5_000)))) ?? "";
    assert.ok(all.length < 17_000, String(all.length));
    assert.equal(all.split("[1000 more characters were left out]").length, 5);
    assert.doesNotMatch(all, /## e/);
  });
});
