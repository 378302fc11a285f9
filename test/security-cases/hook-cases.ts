import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { createScriptedProvider, type ScriptedReply } from "../../packages/runtime/src/model/scripted.ts";
import type { AgentEvent } from "../../packages/runtime/src/protocol/events.ts";
import type { Outcome } from "../../packages/runtime/src/protocol/outcome.ts";
import type { SessionOptions } from "../../packages/runtime/src/session/session-options.ts";
import { InteractiveSession } from "../../packages/runtime/src/session/interactive-session.ts";
import { eventually } from "../e2e/command.ts";
import { type CaseTable, folderFor } from "./case-table.ts";

type Hooked = { outcome: Outcome; events: AgentEvent[]; requests: string; folder: string; session: InteractiveSession };

/** One prompt in a session with these hooks, in bypass mode unless told otherwise. */
async function runHooked(
  test: TestContext,
  options: { hooks: NonNullable<SessionOptions["hooks"]>; replies: readonly ScriptedReply[]; session?: Partial<SessionOptions> },
): Promise<Hooked> {
  const folder = folderFor(test);
  const provider = createScriptedProvider(options.replies);
  const session = new InteractiveSession({
    cwd: folder,
    provider,
    permissionMode: "bypassPermissions",
    hooks: options.hooks,
    env: { PATH: process.env["PATH"] ?? "/usr/bin:/bin", HOME: folder },
    overflowDirectory: join(folder, "overflow"),
    ...options.session,
  });
  test.after(() => session.shutdown());
  const events: AgentEvent[] = [];
  const reading = (async () => {
    for await (const event of session.events({ whenFull: "wait" })) events.push(event);
  })();
  const outcome = await session.submit("go");
  await session.shutdown({ reason: "other" });
  await reading;
  return { outcome, events, requests: JSON.stringify(provider.requests), folder, session };
}

const command = (line: string) => ({ type: "command" as const, command: line });
const bash = (line: string): ScriptedReply => ({ calls: [{ name: "Bash", input: { command: line } }] });
const done: ScriptedReply = { text: "done" };

export const hookCases: CaseTable = {
  async HK001(_one, test) {
    const { folder, requests, events } = await runHooked(test, {
      hooks: { PreToolUse: [{ hooks: [command("echo 'not on a Friday' >&2; exit 2")] }] },
      replies: [bash("touch pwned"), done],
    });
    assert.equal(existsSync(join(folder, "pwned")), false);
    assert.match(requests, /not on a Friday/);
    assert.ok(!events.some((event) => event.type === "tool.started"));
  },

  async HK006(_one, test) {
    const allow = JSON.stringify({ hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision: "allow" } });
    const { folder, events } = await runHooked(test, {
      hooks: { PreToolUse: [{ hooks: [command(`echo '${allow}'`)] }] },
      replies: [bash("touch pwned"), done],
      session: { disallowedTools: ["Bash(touch:*)"] },
    });
    assert.equal(existsSync(join(folder, "pwned")), false);
    assert.ok(
      events.some((event) => event.type === "hook.ended" && event.status === "ok"),
      "the hook was heard",
    );
  },

  async HK007(_one, test) {
    const answer = (behavior: string): string =>
      JSON.stringify({ hookSpecificOutput: { hookEventName: "PermissionRequest", decision: { behavior } } });
    for (const behavior of ["allow", "deny"]) {
      const { folder } = await runHooked(test, {
        hooks: { PermissionRequest: [{ hooks: [command(`touch asked; echo '${answer(behavior)}'`)] }] },
        replies: [bash("touch made"), done],
        session: { permissionMode: "default" },
      });
      assert.deepEqual(
        [existsSync(join(folder, "asked")), existsSync(join(folder, "made"))],
        [true, behavior === "allow"],
        behavior,
      );
    }
  },

  async HK009(_one, test) {
    const { outcome, folder, requests } = await runHooked(test, {
      hooks: { Stop: [{ hooks: [command("cat >> inputs; echo >> inputs; echo 'go on' >&2; exit 2")] }] },
      replies: Array.from({ length: 100 }, () => done),
    });
    const inputs = readFileSync(join(folder, "inputs"), "utf8")
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line));
    assert.ok(inputs.length >= 2 && inputs.length <= 10, `${inputs.length} times`);
    assert.deepEqual([inputs[0].stop_hook_active, inputs.at(-1).stop_hook_active], [false, true]);
    assert.match(requests, /go on/);
    assert.notEqual(outcome.type, "failed");
  },

  async HK010(_one, test) {
    const folder = folderFor(test);
    const provider = createScriptedProvider([{ text: "on my way", hang: true }]);
    const session = new InteractiveSession({
      cwd: folder,
      provider,
      hooks: { SessionEnd: [{ hooks: [command("cat > ended.json")] }] },
      env: { PATH: process.env["PATH"] ?? "/usr/bin:/bin", HOME: folder },
      overflowDirectory: join(folder, "overflow"),
    });
    test.after(() => session.shutdown());
    await session.open();
    const turn = session.submit("go");
    await eventually(() => provider.requests.length > 0, "the model is asked");
    session.abort("signal");
    await turn;
    await session.shutdown();
    assert.equal(JSON.parse(readFileSync(join(folder, "ended.json"), "utf8")).reason, "terminated");
  },

  async HK012(_one, test) {
    const { readMatcher } = await import("../../packages/runtime/src/hooks/matcher.ts");
    const matcher = readMatcher("Bash|Write");
    assert.ok(matcher.ok);
    assert.deepEqual(
      ["Bash", "Write", "NotBash", "BashNot", "Rewrite"].map((name) => matcher.ok && matcher.matches(name)),
      [true, true, false, false, false],
    );
    const { folder } = await runHooked(test, {
      hooks: { PreToolUse: [{ matcher: "ash|Writ", hooks: [command("touch fired; exit 2")] }] },
      replies: [bash("touch made"), done],
    });
    assert.deepEqual([existsSync(join(folder, "fired")), existsSync(join(folder, "made"))], [false, true]);
  },

  async HK013(_one, test) {
    const { folder } = await runHooked(test, {
      hooks: { PreToolUse: [{ hooks: [command("echo $TOOL_INPUT $tool_input $ARGUMENTS > seen; cat > stdin.json")] }] },
      replies: [bash("true '; touch pwned; $(touch pwned) `touch pwned`'"), done],
    });
    assert.equal(existsSync(join(folder, "pwned")), false);
    assert.match(JSON.parse(readFileSync(join(folder, "stdin.json"), "utf8")).tool_input.command, /touch pwned/);
    assert.equal(readFileSync(join(folder, "seen"), "utf8"), "\n");
  },

  async HK014(_one, test) {
    const { events, folder } = await runHooked(test, {
      hooks: { PreToolUse: [{ hooks: [command("head -c 10000000 /dev/zero | tr '\\0' a")] }] },
      replies: [bash("touch made"), done],
    });
    const ended = events.find((event) => event.type === "hook.ended");
    assert.ok(ended?.type === "hook.ended" && ended.stdout.length < 2_000_000, "capped");
    assert.ok(JSON.stringify(events).length < 3_000_000);
    assert.match(JSON.stringify(events), /wrote too much: \d+ bytes of its output were left out/, "and it is said");
    assert.equal(existsSync(join(folder, "made")), true, "the tool is not kept from running by noise");
  },
};
