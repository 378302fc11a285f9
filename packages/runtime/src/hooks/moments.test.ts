import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { BackgroundTaskState } from "../protocol/background-task.ts";
import type { JsonObject } from "../protocol/content.ts";
import { createLocalWorkspace } from "../workspace/local.ts";
import { parseHooks } from "./config.ts";
import { toHooks } from "./moments.ts";
import { createHookRunner } from "./run.ts";

describe("what hooks hear when the model stops", () => {
  it("is what goes on beside it, programs and agents apart from schedules, without what has ended", async () => {
    const common = {
      mode: "background",
      parentSessionId: "s",
      depth: 1,
      cwd: "/p",
      updatedAt: "2026-11-19T00:00:00Z",
      status: "running",
      unread: false,
    } as const;
    const tasks: readonly BackgroundTaskState[] = [
      { ...common, id: "t1", kind: "process", label: "server", commandPreview: "npm start" },
      { ...common, id: "t2", kind: "agent", label: "look", agentType: "Explore" },
      { ...common, id: "t3", kind: "scheduled", label: "nightly", status: "sleeping", nextFireAt: "2026-11-20T00:00:00Z" },
      { ...common, id: "t4", kind: "process", label: "build", status: "completed", completedAt: "2026-11-19T00:00:01Z" },
    ];
    const heard: JsonObject[] = [];
    const { hooks } = parseHooks([
      { value: { Stop: [{ hooks: [(input: JsonObject) => void heard.push(input)] }] }, source: "test", trusted: true },
    ]);
    const workspace = createLocalWorkspace({ root: process.cwd(), env: {}, overflowDirectory: "/nowhere" });
    const none = async (): Promise<string> => "";
    const runner = createHookRunner(
      { hooks, ignored: [], warnings: [] },
      {
        ...{ workspace, askModel: none, callServer: none, runAgent: none, variables: {} },
        ...{ common: () => ({}), newId: () => "h", clock: () => 0 },
      },
    );
    const bound = { begin: () => {}, transcriptOf: () => "", tasks: () => tasks, title: () => undefined };
    const place = { signal: new AbortController().signal, emit: () => {} };
    await toHooks(runner, bound).ask("Stop", () => ({ text: "done", isAgain: false }), place);
    await workspace.close();
    assert.deepEqual(heard, [
      {
        hook_event_name: "Stop",
        stop_hook_active: false,
        last_assistant_message: "done",
        background_tasks: [
          { id: "t1", type: "shell", status: "running", description: "server", command: "npm start" },
          { id: "t2", type: "subagent", status: "running", description: "look", agent_type: "Explore" },
        ],
        session_crons: [{ id: "t3", status: "sleeping", description: "nightly", next_fire_at: "2026-11-20T00:00:00Z" }],
      },
    ]);
  });
});
