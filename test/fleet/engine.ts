import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type RestateServer, startRestateServer } from "@outrider/fleet/restate";

export type Engine = RestateServer & { readonly folder: string; close(): Promise<void> };

/** The real server, on loop-back, with a folder of its own. */
export async function startEngine(
  folder: string = mkdtempSync(join(tmpdir(), "outrider-engine-")),
  ports?: RestateServer["ports"],
): Promise<Engine> {
  const from = [join(process.env.OUTRIDER_ROOT ?? "", "test/fleet")];
  const server = await startRestateServer({ folder, from, ports, env: { PATH: process.env.PATH } });
  return {
    ...server,
    folder,
    async close() {
      await server.stop("SIGKILL");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
