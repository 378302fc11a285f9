import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { evaluateReversibleSafety, isBlockedByReversibility, type ReversibleCall } from "./reversible-execution.ts";

const isolations = ["none", "worktree", "provider-sandbox"] as const;

function judge(
  toolName: string,
  more: Partial<ReversibleCall["options"]> & Pick<Partial<ReversibleCall>, "checkpointed" | "input" | "facts"> = {},
): string {
  const { checkpointed = false, input, facts, ...rest } = more;
  const options = { mode: "local-first", ...rest } as const;
  const report = evaluateReversibleSafety({ toolName, checkpointed, input, facts, options });
  const blocked = isBlockedByReversibility(report, options) ? "blocked" : "runs";
  assert.equal(report.reversible, ["reversible", "read-only"].includes(report.status));
  return `${report.sideEffect} ${report.status} ${report.rollbackLayer} ${blocked}`;
}

describe("reversible execution, local first", () => {
  it("takes a tool's word for what it does, whatever it is called", () => {
    assert.equal(judge("Paint", { facts: { kind: "edit" } }), "file-mutation requires-checkpoint none blocked");
    assert.equal(judge("Paint", { facts: { kind: "run" } }), "shell-process requires-isolation none blocked");
    assert.equal(judge("Paint", { facts: { kind: "look" } }), "none read-only none runs");
    assert.equal(judge("Paint", { facts: { kind: "note", startsAgents: true } }), "subagent requires-isolation none blocked");
    assert.equal(judge("Paint"), "unknown unknown none runs");
  });

  it("judges each tool by its checkpoints and isolation", () => {
    const table = ["Write", "Edit", "Bash", "BackgroundProcess", "Read", "Glob", "WebFetch", "mcp__x__y"].map((tool) => [
      tool,
      ...[false, true].flatMap((checkpointed) => isolations.map((isolation) => judge(tool, { checkpointed, isolation }))),
    ]);
    const inBox = (effect: string) => [`${effect} reversible worktree runs`, `${effect} reversible provider-sandbox runs`];
    const mutation = [
      "file-mutation requires-checkpoint none blocked",
      ...inBox("file-mutation"),
      "file-mutation reversible edit-checkpoint runs",
      ...inBox("file-mutation"),
    ];
    const shell = ["shell-process requires-isolation none blocked", ...inBox("shell-process")];
    const reading = new Array(6).fill("none read-only none runs");
    assert.deepEqual(table, [
      ["Write", ...mutation],
      ["Edit", ...mutation],
      ["Bash", ...shell, ...shell],
      ["BackgroundProcess", ...shell, ...shell],
      ["Read", ...reading],
      ["Glob", ...reading],
      ["WebFetch", ...reading],
      ["mcp__x__y", ...new Array(6).fill("unknown unknown none runs")],
    ]);
  });

  it("lets agents run when every one of them has a worktree of its own", () => {
    const jobs = (...isolation: (string | undefined)[]) => ({ jobs: isolation.map((one) => ({ isolation: one })) });
    assert.deepEqual(
      [
        judge("Agent"),
        judge("Agent", { input: { isolation: "worktree" } }),
        judge("Agent", { input: jobs("worktree", "worktree") }),
        judge("Agent", { input: jobs("worktree", undefined) }),
        judge("Agent", { input: { jobs: [] } }),
        judge("Agent", { isolation: "provider-sandbox" }),
      ],
      [
        "subagent requires-isolation none blocked",
        "subagent reversible worktree runs",
        "subagent reversible worktree runs",
        "subagent requires-isolation none blocked",
        "subagent requires-isolation none blocked",
        "subagent reversible provider-sandbox runs",
      ],
    );
  });

  it("stops tools of unknown effect only when told to", () => {
    assert.deepEqual(
      [
        judge("mcp__x__y"),
        judge("mcp__x__y", { enforceUntrackedSideEffects: true }),
        judge("Read", { enforceUntrackedSideEffects: true }),
      ],
      ["unknown unknown none runs", "unknown unknown none blocked", "none read-only none runs"],
    );
  });
});
