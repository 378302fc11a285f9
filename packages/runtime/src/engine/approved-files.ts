import { RuntimeError } from "../protocol/errors.ts";
import type { Workspace } from "../workspace/workspace.ts";

/** The workspace for a call that may change exactly `paths`: a link that was swapped since permission was given leads nowhere. */
export function forApprovedFiles(workspace: Workspace, paths: readonly string[]): Workspace {
  const writeFile: Workspace["writeFile"] = async (path, content) => {
    const real = await workspace.resolve(path);
    if (!paths.includes(real))
      throw new RuntimeError("usage", `${path} leads to ${real}, which is not the file permission was given for.`);
    await workspace.writeFile(real, content);
  };
  return new Proxy(workspace, {
    get(target, name) {
      if (name === "writeFile") return writeFile;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}
