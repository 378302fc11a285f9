import type { FlagValues } from "./flags.ts";

/** In this flavor what means nothing here is passed over with a warning, as programs written for Claude Code expect; the others are strict. */
export function isClaude({ flavor = "claude" }: FlagValues): boolean {
  return flavor === "claude";
}
