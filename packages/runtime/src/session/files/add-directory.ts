import { RuntimeError } from "../../protocol/errors.ts";
import { isInside } from "../../util/is-inside.ts";
import type { Workspace } from "../../workspace/workspace.ts";
import type { SessionPolicy } from "../session-policy.ts";

type DirectoryPorts = { readonly workspace: Workspace; readonly policy: SessionPolicy };

/** Lists a folder inside of the session's folders as one of them; answers its real path. Nothing becomes reachable that was not. */
export async function addDirectory({ workspace, policy }: DirectoryPorts, path: string): Promise<string> {
  const directory = await workspace.resolve(path);
  const roots = [workspace.root, ...(policy.current.directories ?? [])];
  if (roots.includes(directory)) throw new RuntimeError("usage", `${path} is already a folder of this session`);
  if (!roots.some((root) => isInside(root, directory)))
    throw new RuntimeError("usage", `${path} is not inside of the working directory or of a folder given with --add-dir`);
  if ((await workspace.stat(directory))?.kind !== "directory") throw new RuntimeError("not-found", `There is no folder ${path}`);
  await policy.apply({ type: "addDirectories", directories: [directory], destination: "session" });
  return directory;
}
