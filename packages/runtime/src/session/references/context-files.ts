import { relative } from "node:path";
import type { CommandReferences } from "../../commands/command.ts";
import type { Policy } from "../../permissions/policy.ts";
import { toTextCheck } from "../../permissions/read-check.ts";
import { RuntimeError } from "../../protocol/errors.ts";
import type { Emit } from "../../protocol/events.ts";
import { isInside } from "../../util/is-inside.ts";
import { isOpenFile } from "./open-files.ts";
import { nearest } from "../../util/nearest.ts";
import type { Workspace } from "../../workspace/workspace.ts";
import type { SessionReferences } from "./session-references.ts";

const maxActive = 8;
const maxBytes = 256 * 1024;

export type ContextFilesGround = {
  readonly workspace: Workspace;
  readonly references: SessionReferences;
  readonly emit: Emit;
  readonly policy: () => Policy;
};

/** What `/context add`, `remove` and `clear` do. A file that rules forbid is refused; what else keeps it away is told with the prompt that would bring it. */
export function createContextFiles({ workspace, references, emit, policy }: ContextFilesGround): CommandReferences {
  const shown = (path: string): string => (isInside(workspace.root, path) ? relative(workspace.root, path) : path);
  const keep = (active: readonly string[]): void => {
    references.active = active;
    emit({ type: "context.referenced", active: [...active] });
  };
  return {
    list: () => [
      ...references.active.map((path) => ({ path: shown(path), status: "active" }) as const),
      ...references.observed
        .filter((path) => !references.active.includes(path))
        .map((path) => ({ path: shown(path), status: "observed" }) as const),
    ],
    async add(name) {
      if (references.isDiscreet && !(await isOpenFile(name, { workspace, policy })))
        throw new RuntimeError("usage", `${name} may not be read without permission, so no prompt can bring it along`);
      const path = await workspace.resolve(name);
      if (toTextCheck(policy())?.(path) === false) throw new RuntimeError("usage", `A rule forbids to read ${name}`);
      const stat = await workspace.stat(path);
      if (stat?.kind !== "file") throw new RuntimeError("not-found", `There is no file ${name}`);
      if (references.active.includes(path)) return shown(path);
      if (references.active.length >= maxActive)
        throw new RuntimeError("usage", `There are ${maxActive} files already; /context remove FILE makes room`);
      const sizes = await Promise.all(references.active.map(async (other) => (await workspace.stat(other))?.size ?? 0));
      if (sizes.reduce((sum, size) => sum + size, stat.size) > maxBytes)
        throw new RuntimeError("usage", `The files may have ${maxBytes / 1024} KiB together, and ${name} has ${stat.size} bytes`);
      keep([...references.active, path]);
      return shown(path);
    },
    async remove(name) {
      const path = await workspace.resolve(name).catch(() => name); // one that cannot be looked at is not among them either
      if (!references.active.includes(path)) {
        const guess = nearest(name, references.active.map(shown));
        throw new RuntimeError("not-found", `${name} is not among them.${guess === undefined ? "" : ` Did you mean ${guess}?`}`);
      }
      keep(references.active.filter((other) => other !== path));
    },
    clear: () => keep([]),
  };
}
