import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { describe, it } from "node:test";
import {
  planSelfHostingVerification,
  type SelfHostingLoopEvent,
  type SelfHostingLoopState,
  transitionSelfHostingLoop,
} from "./self-hosting.ts";

describe("planning the verification of one's own source", () => {
  const packageVerify = [
    { name: "test", template: "npm test --workspace {scope}" },
    { name: "build", template: "make -C {scope} build TARGET={scope}" },
  ];

  it("lists the steps in order, with the project's own commands", () => {
    const plan = planSelfHostingVerification({
      changedFiles: ["src/a.ts", "src/b.ts"],
      packageScopes: ["@x/core", "tools", "tools"],
      baseRef: "origin/main",
      commandTemplates: {
        packageVerify,
        repoVerify: { description: "the whole repository", template: "./check --base {baseRef}" },
      },
    });
    assert.deepEqual(
      [plan.changedFiles, plan.packageScopes, plan.baseRef],
      [["src/a.ts", "src/b.ts"], ["@x/core", "tools"], "origin/main"],
    );
    assert.deepEqual(
      plan.steps.map(({ id, kind, command }) => [id, kind, command]),
      [
        ["checkpoint", "checkpoint", undefined],
        ["atomic-edit", "edit", undefined],
        ["handoff", "handoff", undefined],
        ["package-test:@x/core", "verify", "npm test --workspace @x/core"],
        ["package-build:@x/core", "verify", "make -C @x/core build TARGET=@x/core"],
        ["package-test:tools", "verify", "npm test --workspace tools"],
        ["package-build:tools", "verify", "make -C tools build TARGET=tools"],
        ["repo-verify", "verify", "./check --base origin/main"],
        ["rollback-on-failure", "rollback", undefined],
      ],
    );
  });

  it("names what is to be checked where nobody has given commands, and guesses none", () => {
    const plan = planSelfHostingVerification({
      changedFiles: ["packages/agent-framework/src/index.ts"],
      packageScopes: ["@x/core"],
      baseRef: "origin/develop",
    });
    assert.deepEqual(
      plan.steps.map(({ id, command }) => [id, command]),
      [
        ["checkpoint", undefined],
        ["atomic-edit", undefined],
        ["handoff", undefined],
        ["package-test:@x/core", undefined],
        ["package-typecheck:@x/core", undefined],
        ["package-build:@x/core", undefined],
        ["repo-verify", undefined],
        ["rollback-on-failure", undefined],
      ],
    );
    const loop = ["checkpoint_created", "edits_started", "edits_applied", "verify_passed"] as const;
    assert.equal(loop.reduce<SelfHostingLoopState>(transitionSelfHostingLoop, "idle"), "passed");
  });

  it("leaves out the check of the whole repository where there is none", () => {
    const plan = planSelfHostingVerification({ changedFiles: ["a"], baseRef: "HEAD", commandTemplates: { packageVerify } });
    assert.deepEqual(
      plan.steps.map(({ id }) => id),
      ["checkpoint", "atomic-edit", "handoff", "rollback-on-failure"],
    );
  });

  it("makes one word of the shell of whatever a scope or ref is", () => {
    const plan = planSelfHostingVerification({
      changedFiles: ["a"],
      packageScopes: ["x'; touch $HOME & echo `y`"],
      baseRef: "-$&",
      commandTemplates: {
        packageVerify: [{ name: "show", template: "printf %s {scope}" }],
        repoVerify: { description: "", template: "printf %s {baseRef}" },
      },
    });
    const shown = plan.steps.flatMap(({ command }) =>
      command ? [execFileSync("sh", ["-c", command], { encoding: "utf8" })] : [],
    );
    assert.deepEqual(shown, ["x'; touch $HOME & echo `y`", "-$&"]);
  });

  it("refuses to plan for no change", () => {
    assert.throws(() => planSelfHostingVerification({ changedFiles: [], baseRef: "HEAD", commandTemplates: { packageVerify } }), {
      code: "usage",
      message: "Self-hosting verification requires at least one changed file.",
    });
  });
});

describe("the self-hosting loop", () => {
  it("takes exactly the transitions that are written down", () => {
    const states: SelfHostingLoopState[] = [
      "idle",
      "checkpointed",
      "editing",
      "verifying",
      "passed",
      "failed",
      "rolled_back",
      "cancelled",
    ];
    const events: SelfHostingLoopEvent[] = [
      "checkpoint_created",
      "edits_started",
      "edits_applied",
      "verify_passed",
      "verify_failed",
      "rollback_completed",
      "cancelled",
    ];
    const taken = states.flatMap((state) =>
      events.flatMap((event) => {
        try {
          return [`${state} + ${event} -> ${transitionSelfHostingLoop(state, event)}`];
        } catch (error) {
          assert.equal((error as Error).message, `Invalid self-hosting loop transition: ${state} -> ${event}`);
          return [];
        }
      }),
    );
    assert.deepEqual(taken, [
      "idle + checkpoint_created -> checkpointed",
      "idle + cancelled -> cancelled",
      "checkpointed + edits_started -> editing",
      "checkpointed + cancelled -> cancelled",
      "editing + edits_applied -> verifying",
      "editing + verify_failed -> failed",
      "editing + cancelled -> cancelled",
      "verifying + verify_passed -> passed",
      "verifying + verify_failed -> failed",
      "verifying + cancelled -> cancelled",
      "failed + rollback_completed -> rolled_back",
      "failed + cancelled -> cancelled",
    ]);
  });
});
