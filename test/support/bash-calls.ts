// For tests of what happens to a call before and while it runs: a Bash that does what the test says, calls of it, and hooks that answer.
import { parseHooks } from "../../packages/runtime/src/hooks/config.ts";
import type { Hooks } from "../../packages/runtime/src/hooks/hook.ts";
import { toHooks } from "../../packages/runtime/src/hooks/moments.ts";
import { createHookRunner } from "../../packages/runtime/src/hooks/run.ts";
import type { LiveCall } from "../../packages/runtime/src/engine/live-call.ts";
import { defineTool, type Tool } from "../../packages/runtime/src/tools/tool.ts";
import type { Workspace } from "../../packages/runtime/src/workspace/workspace.ts";

/** A Bash that knows nothing of places. What it runs is only handed to the workspace. */
export const bash: Tool = defineTool<{ command: string }>({
  name: "Bash",
  description: "",
  inputSchema: { type: "object", properties: { command: { type: "string" } }, required: ["command"] },
  concurrent: false,
  takesGit: true,
  access: async ({ command }) => ({ kind: "run", resources: [command] }),
  async execute({ command }, { workspace, signal }) {
    await workspace.run({ file: "true", args: [command], timeoutMs: 1000, signal });
    return { content: [] };
  },
});

export function bashCall(command: string, input: object = { command }): LiveCall {
  return { type: "tool-call", callId: "c1", name: "Bash", input } as unknown as LiveCall; // as if a model had just made it
}

/** Hooks as a settings file would have them, with functions where it has commands. */
export function callbackHooks(value: unknown, workspace: Workspace): Hooks {
  const runner = createHookRunner(parseHooks([{ value, source: "test", trusted: true }]), {
    workspace,
    askModel: async () => "",
    runAgent: async () => "",
    callServer: async () => "",
    variables: {},
    common: () => ({}),
    newId: () => "h",
    clock: () => 0,
  });
  return toHooks(runner, { begin: () => {}, transcriptOf: () => "", tasks: () => [], title: () => undefined });
}
