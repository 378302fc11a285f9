import { join } from "node:path";
import { RuntimeError } from "../protocol/errors.ts";
import type { Workspace } from "./workspace.ts";

export type OtherRoot = {
  /** Real path. */
  readonly root: string;
  /** Nobody else's. */
  readonly overflowDirectory: string;
};

/** A workspace that can be opened at other roots of its machine, and takes them with it when it closes. */
export function withOtherRoots<Kind extends Workspace>(
  workspace: Omit<Kind, "at">,
  { overflowDirectory, open }: { overflowDirectory: string; open: (place: OtherRoot) => Promise<Workspace> },
): Omit<Kind, "at"> & Pick<Workspace, "at" | "close" | "stopped"> {
  const others: Workspace[] = [];
  let isClosed = false;
  return {
    ...workspace,
    async at(path) {
      const root = await workspace.resolve(path);
      if ((await workspace.stat(root))?.kind !== "directory") throw new RuntimeError("usage", `${root} is not a directory.`);
      if (isClosed) throw new RuntimeError("closed", "The workspace is closed: it opens no other root.");
      const other = await open({ root, overflowDirectory: join(overflowDirectory, "roots", String(others.length + 1)) });
      others.push(other);
      return other;
    },
    async close() {
      isClosed = true;
      await Promise.allSettled(others.map((other) => other.close()));
      await workspace.close();
    },
    stopped: () => [workspace, ...others].flatMap((one) => one.stopped?.() ?? []),
  };
}
