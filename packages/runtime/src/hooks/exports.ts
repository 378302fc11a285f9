import type { JsonObject } from "../protocol/content.ts";
import type { Emit, HookEventName } from "../protocol/events.ts";
import type { Workspace } from "../workspace/workspace.ts";

/** The moments at which a command may set variables for the commands that come after it, in the file that CLAUDE_ENV_FILE names. */
type ExportingEvent = "Setup" | "SessionStart" | "CwdChanged";

export interface HookExports {
  /** The file that a hook of this moment writes to; undefined where it has none. */
  fileFor(event: HookEventName, input: JsonObject): Promise<string | undefined>;
  /** A hook that had a file has ended: what the files say counts from now on. */
  take(emit: Emit, signal: AbortSignal): Promise<void>;
}

type Ground = {
  readonly workspace: Workspace;
  /** Gives the variables to commands. */
  readonly replace: (variables: Readonly<Record<string, string>>) => void;
};

/** One file each for the setting up and the start of the session, and one for the working directory of now: what was set for another one has gone with it. */
export function createHookExports({ workspace, replace }: Ground): HookExports {
  const files = new Map<ExportingEvent, { readonly moment: string; readonly file: Promise<string | undefined> }>();
  const told = new Set<string>();
  let taken: Promise<void> = Promise.resolve();

  const take = async (emit: Emit, signal: AbortSignal): Promise<void> => {
    const { readExports } = await import("./read-exports.ts");
    const written = await Promise.all([...files.values()].map(({ file }) => file));
    const { variables, problems } = await readExports(workspace, written.filter(isThere), signal);
    if (variables) replace(variables);
    for (const problem of problems.filter((one) => !told.has(one))) {
      told.add(problem);
      emit({ type: "warning.raised", message: `Of what hooks wrote to CLAUDE_ENV_FILE not all counts: ${problem}` });
    }
  };

  return {
    fileFor(event, { source, trigger, new_cwd: folder }) {
      if (event !== "Setup" && event !== "SessionStart" && event !== "CwdChanged") return noFile;
      const moment = String(source ?? trigger ?? folder);
      const known = files.get(event);
      if (known?.moment === moment) return known.file;
      const file = workspace.saveOverflow("hook-environment.sh", "").catch(() => undefined); // a full disk: the hook runs without one
      files.set(event, { moment, file });
      return file;
    },
    take(emit, signal) {
      taken = taken.then(() => take(emit, signal)).catch(() => undefined); // it was cut off, with the turn
      return taken;
    },
  };
}

const noFile = Promise.resolve(undefined);

function isThere(file: string | undefined): file is string {
  return file !== undefined;
}
