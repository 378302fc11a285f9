import type { AgentEvents, Emit } from "../protocol/events.ts";
import type { Workspace } from "../workspace/workspace.ts";

/** Keeps files as they were before a turn changes them. */
export interface ChangeKeeper {
  /** Keeps what is there, then writes, or removes the file where there is no content; when it cannot be kept, it rejects and nothing is written. */
  protect<T>(path: string, content: Uint8Array | string | undefined, write: (kept: Kept) => Promise<T>): Promise<T>;
  /** A command is about to run; what it changes is not kept. */
  noteUncovered(callId: string, command: string): Promise<void>;
}

export type Kept = {
  readonly covered: boolean;
  readonly checkpointId: string;
  readonly reason?: AgentEvents["checkpoint.skipped"]["reason"];
};

/** The same workspace, whose files are kept before they are changed. */
export function keepingChanges(workspace: Workspace, { keeper, emit }: { keeper: ChangeKeeper; emit: Emit }): Workspace {
  const change = async (path: string, content: Uint8Array | string | undefined, make: () => Promise<void>): Promise<void> => {
    const real = await workspace.resolve(path);
    await keeper.protect(real, content, async ({ covered, checkpointId, reason = "unreadable" }) => {
      if (!covered) emit({ type: "checkpoint.skipped", checkpointId, path: real, reason });
      await make();
    });
  };
  const writeFile: Workspace["writeFile"] = (path, content, options) =>
    change(path, content, () => workspace.writeFile(path, content, options));
  const removeFile: Workspace["removeFile"] = (path, options) =>
    change(path, undefined, () => workspace.removeFile(path, options));
  return new Proxy(workspace, {
    get(target, name) {
      if (name === "writeFile") return writeFile;
      if (name === "removeFile") return removeFile;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}
