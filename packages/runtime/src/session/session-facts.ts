import type { ModelRef } from "../protocol/content.ts";
import type { SessionFacts } from "../protocol/events.ts";
import type { PermissionMode } from "../protocol/permission.ts";
import { defined } from "../util/defined.ts";
import type { CommandPlaces } from "../workspace/open-workspace.ts";
import { placeFacts } from "./files/command-places.ts";
import type { SessionOptions, SessionPlugins } from "./session-options.ts";

declare const OUTRIDER_VERSION: string;

export type FactSources = {
  readonly root: string;
  readonly model: ModelRef;
  readonly tools: string[];
  readonly mode: PermissionMode;
  readonly places: CommandPlaces;
  /** The names of those that the model may start; absent where it may start none. */
  readonly agents: string[] | undefined;
  readonly commit: string | undefined;
};

/** What everybody who watches a session is told when it starts. */
export function toSessionFacts(options: SessionOptions, sources: FactSources): SessionFacts {
  const { root, model, tools, mode, places, agents, commit } = sources;
  return {
    cwd: root,
    model,
    tools,
    permissionMode: mode,
    version: OUTRIDER_VERSION,
    ...(options.settingSources && { settingSources: [...options.settingSources] }),
    ...placeFacts(places, mode),
    ...defined({
      transcriptPath: options.transcriptPath,
      projectTrust: options.projectTrust,
      outputStyle: options.outputStyle?.name,
    }),
    ...instructionFacts(options),
    ...defined({ agents, commit }),
    ...pluginFacts(options.loadedPlugins),
  };
}

function instructionFacts({ instructions }: SessionOptions): Pick<SessionFacts, "instructionFiles"> {
  if (!instructions || instructions.files.length === 0) return {};
  return { instructionFiles: instructions.files.map(({ path, bytes }) => ({ path, bytes })) };
}

function pluginFacts({ loaded = [], problems = [] }: SessionPlugins = {}): Pick<SessionFacts, "plugins" | "pluginErrors"> {
  return {
    ...(loaded.length > 0 && { plugins: [...loaded] }),
    ...(problems.length > 0 && { pluginErrors: [...problems] }),
  };
}
