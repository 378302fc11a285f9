import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { checkUrl } from "../plugins/plugin-source.ts";
import { stageBundle } from "../plugins/stage-bundle.ts";
import { removeAtExit } from "../util/temporary-folder.ts";
import type { Surroundings } from "./surroundings.ts";

/**
 * A bundle in an archive, of this machine or at an address (`https://…/x.zip`, `#sha256=…` behind it where it must be this one), unpacked for
 * as long as this process lives. Answers its folder.
 */
export async function stageArchive(location: string, { env }: Pick<Surroundings, "env">): Promise<string> {
  const folder = mkdtempSync(join(env["TMPDIR"] ?? "/tmp", "outrider-plugin-"));
  removeAtExit(folder);
  const [, address = location, sha256] = /^(.*?)#sha256=([0-9a-f]{64})$/i.exec(location) ?? [];
  const place = address.startsWith("/") ? address : checkUrl(address).href;
  const source = { type: "archive", location: place, sha256 } as const;
  return (await stageBundle(source, folder, { signal: new AbortController().signal, env })).path;
}
