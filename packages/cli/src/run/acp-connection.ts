import { realpathSync } from "node:fs";
import { sep } from "node:path";
import type { AnyMessage, Stream } from "@agentclientprotocol/sdk";
import { RuntimeError } from "@outrider/runtime";
import type { AcpHost } from "@outrider/runtime/acp";
import type { AcpPeer, AcpWire } from "@outrider/runtime/server";
import type { FlagValues } from "../flags/flags.ts";
import { createAcpHost } from "./acp-host.ts";
import { serveAcp } from "./serve-acp.ts";

type Options = { readonly flags: FlagValues; readonly roots: readonly string[]; readonly warn: (line: string) => void };

/** An agent of its own for a client that came over the network. */
export async function openAcpConnection(wire: AcpWire, { flags, roots, warn }: Options): Promise<AcpPeer> {
  const input = new TransformStream<AnyMessage, AnyMessage>(undefined, { highWaterMark: 256 });
  const writer = input.writable.getWriter();
  const openStream = (): Stream => ({
    readable: input.readable,
    writable: new WritableStream<AnyMessage>({ write: (message) => wire.send(JSON.stringify(message)) }),
  });
  const { connection, agent } = serveAcp({ host: within(roots, createAcpHost(flags, warn)), openStream });
  void connection.closed.then(() => wire.close());
  return {
    hear(message) {
      void writer.write(message as AnyMessage).catch(() => {}); // the package checks it; the connection is closed: nobody waits for an answer
    },
    async leave() {
      await agent.close();
      connection.close();
    },
  };
}

/** Sessions work below the folders of the server, wherever links lead. */
function within(roots: readonly string[], host: AcpHost): AcpHost {
  const check = (path: string): void => {
    const real = realPath(path);
    if (!roots.some((root) => real === root || real.startsWith(root.endsWith(sep) ? root : root + sep)))
      throw new RuntimeError("usage", `${path} is outside of the folders of this server`, {
        hint: "outrider serve --root DIR names more",
      });
  };
  return {
    ...host,
    async plan(wish) {
      for (const path of [wish.cwd, ...wish.additionalDirectories]) check(path);
      return await host.plan(wish);
    },
  };
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path; // what is not there is refused later
  }
}
