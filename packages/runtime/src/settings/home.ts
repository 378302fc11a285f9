import { homedir } from "node:os";
import { join } from "node:path";

/** Where Outrider keeps what belongs to the user: `OUTRIDER_HOME`, else `~/.outrider`. */
export function outriderHome(env: Readonly<Record<string, string | undefined>>): string {
  return env["OUTRIDER_HOME"] || join(env["HOME"] || homedir(), ".outrider");
}
