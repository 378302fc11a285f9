import { homedir } from "node:os";
import { claudeHome, outriderHome } from "../settings/home.ts";

/** What a session finds around it. Taken once and passed on: sessions of one process may have different ones. */
export type Surroundings = {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The folder that holds the user's `.claude`. */
  readonly userHome: string;
  /** Claude Code's own folder, where it is another one (`CLAUDE_CONFIG_DIR`). */
  readonly claudeHome?: string | undefined;
  /** Where settings, journals, checkpoints and trust of the user are kept. */
  readonly outriderHome: string;
  /** Where paths start that are not absolute. */
  readonly cwd: string;
};

/** Those of this process; with `env`, as if it had these variables. */
export function surroundingsOf(env: Surroundings["env"] = process.env): Surroundings {
  const userHome = env["HOME"] || homedir();
  return { env, userHome, claudeHome: claudeHome(env, userHome), outriderHome: outriderHome(env), cwd: process.cwd() };
}
