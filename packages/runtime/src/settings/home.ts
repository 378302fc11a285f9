import { userInfo } from "node:os";
import { dirname, join, resolve } from "node:path";

/** Where Outrider keeps what belongs to the user: `OUTRIDER_HOME`, else `~/.outrider`. An empty HOME is none, and never the current folder. */
export function outriderHome(env: Readonly<Record<string, string | undefined>>): string {
  return env["OUTRIDER_HOME"] || join(env["HOME"] || userInfo().homedir, ".outrider");
}

/** Where Claude Code keeps what is the user's: `CLAUDE_CONFIG_DIR`, else `.claude` in the home folder. */
export function claudeHome(env: Readonly<Record<string, string | undefined>>, userHome: string): string {
  return env["CLAUDE_CONFIG_DIR"] ? resolve(env["CLAUDE_CONFIG_DIR"]) : join(userHome, ".claude");
}

/** Where it keeps the servers that somebody has added to it: beside its own folder, or in it where that was moved. */
export function claudeServerFile(place: { readonly userHome: string; readonly claudeHome?: string | undefined }): string {
  const usual = join(place.userHome, ".claude");
  const { claudeHome = usual } = place;
  return join(claudeHome === usual ? dirname(usual) : claudeHome, ".claude.json");
}
