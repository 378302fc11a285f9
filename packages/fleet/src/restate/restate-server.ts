import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, openSync, realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { makeFolder } from "@outrider/runtime/host";
import { freePort } from "../util/free-port.ts";
import { EngineFailed, RestateApi, type RestateAddress } from "./restate-api.ts";

export type RestateServerOptions = {
  /** Everything the engine knows is kept here. */
  readonly folder: string;
  /** Any free ones when absent. */
  readonly ports?: { readonly ingress: number; readonly admin: number; readonly node: number } | undefined;
  /** The program; that of the package `@restatedev/restate-server` when absent, looked for from these folders. */
  readonly program?: string | undefined;
  readonly from?: readonly string[] | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
};

export type RestateServer = RestateAddress & {
  readonly ports: { readonly ingress: number; readonly admin: number; readonly node: number };
  readonly process: ChildProcess;
  stop(signal?: NodeJS.Signals): Promise<void>;
};

/** One engine on this machine, for itself. Resolves when it is healthy. */
export async function startRestateServer(options: RestateServerOptions): Promise<RestateServer> {
  const { folder, env, ports = { ingress: await freePort(), admin: await freePort(), node: await freePort() } } = options;
  const address = { ingress: `http://127.0.0.1:${ports.ingress}`, admin: `http://127.0.0.1:${ports.admin}` };
  const api = new RestateApi(address);
  if ((await api.troubles()).length < 2)
    throw new EngineFailed(`Another engine answers at ${address.ingress} or ${address.admin}`);
  const program = options.program ?? findServer(options.from ?? [process.cwd()]);
  makeFolder(folder);
  const log = openSync(join(folder, "server.log"), "a", 0o600);
  const server = spawn(program, ["--no-logo"], {
    stdio: ["ignore", log, log],
    env: {
      ...env,
      RESTATE_BASE_DIR: join(folder, "data"),
      RESTATE_NODE_NAME: "outrider",
      RESTATE_CLUSTER_NAME: "outrider",
      RESTATE_DISABLE_TELEMETRY: "true",
      RESTATE_LISTEN_MODE: "tcp",
      RESTATE_BIND_IP: "127.0.0.1",
      RESTATE_BIND_PORT: String(ports.node),
      RESTATE_ADVERTISED_HOST: "127.0.0.1",
      RESTATE_INGRESS__BIND_ADDRESS: `127.0.0.1:${ports.ingress}`,
      RESTATE_ADMIN__BIND_ADDRESS: `127.0.0.1:${ports.admin}`,
      RESTATE_LOG_DISABLE_ANSI_CODES: "true",
      RESTATE_DEFAULT_NUM_PARTITIONS: env.RESTATE_DEFAULT_NUM_PARTITIONS ?? "4",
      RESTATE_ROCKSDB_TOTAL_MEMORY_SIZE: env.RESTATE_ROCKSDB_TOTAL_MEMORY_SIZE ?? "512 MiB",
      // One run per connection: whoever shares out connections (a cluster of processes, a Kubernetes service) shares out runs.
      RESTATE_WORKER__INVOKER__HTTP2_STREAMS_PER_CONNECTION_LIMIT: "1",
    },
  });
  const ended = once(server, "exit");
  const until = Date.now() + 60_000;
  while (!(await api.isHealthy())) {
    if (server.exitCode !== null || server.signalCode !== null || Date.now() > until) {
      server.kill("SIGKILL");
      throw new EngineFailed(`The engine did not start; see ${join(folder, "server.log")}`);
    }
    await delay(50);
  }
  return {
    ...address,
    ports,
    process: server,
    async stop(signal = "SIGTERM") {
      server.kill(signal);
      await ended;
    },
  };
}

/**
 * The binary itself: the package's script would stand between us and it. It is in a package for this system, which is beside the one that is
 * named in commands, or within it, as npm puts packages that are installed for all.
 */
export function findServer(from: readonly string[]): string {
  const name = `@restatedev/restate-server-${process.platform}-${process.arch}`;
  for (const folder of from)
    for (const top of [folder, ...packageFolders("@restatedev/restate-server", folder)])
      for (const place of packageFolders(name, top)) {
        const found = join(place, "bin", "restate-server");
        if (existsSync(found)) return found;
      }
  throw new EngineFailed("The engine's server is not installed: npm install -g @restatedev/restate-server@1.7.12");
}

/** Where Node would look for a package from a folder, and finds it. A package manager may have put links there. */
function packageFolders(name: string, folder: string): string[] {
  const places = createRequire(join(folder, "x.js")).resolve.paths(name) ?? [];
  return places.flatMap((place) => (existsSync(join(place, name)) ? [realpathSync(join(place, name))] : []));
}
