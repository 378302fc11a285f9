import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { textOf } from "../../packages/runtime/src/protocol/content.ts";
import type { Workspace } from "../../packages/runtime/src/workspace/workspace.ts";
import { createLocalWorkspace } from "../../packages/runtime/src/workspace/local.ts";
import type { Tool, ToolContext, ToolOutput } from "../../packages/runtime/src/tools/tool.ts";
import { createToolMemory, ToolFailure } from "../../packages/runtime/src/tools/tool.ts";

/** For tests: one session's tools on a real folder of their own. */
export type ToolBench = {
  readonly root: string;
  readonly workspace: Workspace;
  readonly context: ToolContext;
  write(path: string, content: string | Uint8Array): string;
  call(tool: Tool, input: unknown): Promise<ToolOutput>;
  /** The words of a result, or of the failure. */
  say(tool: Tool, input: unknown): Promise<string>;
  close(): Promise<void>;
};

export function createToolBench(options: { signal?: AbortSignal; path?: string } = {}): ToolBench {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "outrider-tools-")));
  const root = join(folder, "project");
  mkdirSync(root);
  const env = { PATH: options.path ?? "/usr/local/bin:/usr/bin:/bin", HOME: join(folder, "home") };
  const workspace = createLocalWorkspace({ root, env, overflowDirectory: join(folder, "overflow") });
  const signal = options.signal ?? new AbortController().signal;
  const context: ToolContext = { callId: "call", workspace, signal, progress() {}, memory: createToolMemory() };
  return {
    root,
    workspace,
    context,
    write(path, content) {
      const file = join(root, path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, content);
      return file;
    },
    call: (tool, input) => tool.execute(input, context),
    async say(tool, input) {
      try {
        return textOf((await tool.execute(input, context)).content);
      } catch (error) {
        if (error instanceof ToolFailure) return error.message;
        throw error;
      }
    },
    async close() {
      await workspace.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
