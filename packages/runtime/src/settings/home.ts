import { userInfo } from "node:os";
import { join } from "node:path";

/** Where Outrider keeps what belongs to the user: `OUTRIDER_HOME`, else `~/.outrider`. An empty HOME is none, and never the current folder. */
export function outriderHome(env: Readonly<Record<string, string | undefined>>): string {
  return env["OUTRIDER_HOME"] || join(env["HOME"] || userInfo().homedir, ".outrider");
}
