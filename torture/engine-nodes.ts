import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, openSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

export type EngineNode = {
  readonly ingress: string;
  readonly admin: string;
  kill(): void;
};

/** The engine's binary from the suite's packages, which are installed where they are missing. */
export function findEngine(project: string): string {
  const suite = join(project, "test/fleet");
  const binary = join(suite, `node_modules/@restatedev/restate-server-${process.platform}-${process.arch}/bin/restate-server`);
  if (!existsSync(binary))
    spawnSync("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], { cwd: suite, stdio: ["ignore", 2, 2] });
  if (!existsSync(binary)) throw new Error("The engine's package could not be installed");
  return binary;
}

type Ports = { readonly node: number; readonly ingress: number; readonly admin: number };

export type EnginePlan = {
  readonly folder: string;
  readonly count: number;
  /** Where they listen, and how a program is started there; on loop-back when absent. */
  readonly host?: string;
  readonly launch?: typeof spawn;
  readonly settings?: Readonly<Record<string, string>>;
};

/** So many nodes of one cluster; each step is kept by two of them, where there are two. Resolves when all are healthy. */
export async function startEngineNodes(
  program: string,
  { folder, count, host = "127.0.0.1", launch = spawn, settings = {} }: EnginePlan,
): Promise<EngineNode[]> {
  const ports: Ports[] = [];
  for (let at = 0; at < count; at++) ports.push({ node: await freePort(), ingress: await freePort(), admin: await freePort() });
  const shared = {
    host,
    launch,
    settings,
    addresses: JSON.stringify(ports.map(({ node }) => `http://${host}:${node}`)),
    replication: Math.min(2, count),
  };
  const nodes = ports.map((own, at) =>
    startNode(program, { folder: join(folder, `node-${at + 1}`), own, isFirst: at === 0, ...shared }),
  );
  const urls = nodes.flatMap(({ ingress, admin }) => [`${ingress}/restate/health`, `${admin}/health`]);
  for (let tries = 0; !(await Promise.all(urls.map(answers))).every(Boolean); tries++) {
    if (tries > 300) throw new Error("The engine's nodes did not become healthy");
    await delay(200);
  }
  return nodes;
}

type NodePlan = Required<Pick<EnginePlan, "folder" | "host" | "launch" | "settings">> & {
  readonly own: Ports;
  readonly addresses: string;
  readonly replication: number;
  readonly isFirst: boolean;
};

function startNode(
  program: string,
  { folder, own, host, launch, settings, addresses, replication, isFirst }: NodePlan,
): EngineNode {
  mkdirSync(folder, { recursive: true });
  const log = openSync(join(folder, "server.log"), "a");
  const node: ChildProcess = launch(program, ["--no-logo"], {
    stdio: ["ignore", log, log],
    env: {
      PATH: process.env["PATH"],
      RESTATE_BASE_DIR: join(folder, "data"),
      RESTATE_NODE_NAME: `node-${own.node}`,
      RESTATE_CLUSTER_NAME: "outrider-torture",
      RESTATE_DISABLE_TELEMETRY: "true",
      RESTATE_LISTEN_MODE: "tcp",
      RESTATE_BIND_IP: host,
      RESTATE_BIND_PORT: String(own.node),
      RESTATE_ADVERTISED_HOST: host,
      RESTATE_INGRESS__BIND_ADDRESS: `${host}:${own.ingress}`,
      RESTATE_ADMIN__BIND_ADDRESS: `${host}:${own.admin}`,
      RESTATE_DEFAULT_NUM_PARTITIONS: "4",
      RESTATE_DEFAULT_REPLICATION: String(replication),
      RESTATE_AUTO_PROVISION: String(isFirst),
      RESTATE_METADATA_CLIENT__TYPE: "replicated",
      RESTATE_METADATA_CLIENT__ADDRESSES: addresses,
      RESTATE_ROCKSDB_TOTAL_MEMORY_SIZE: "256 MiB",
      RESTATE_WORKER__INVOKER__HTTP2_STREAMS_PER_CONNECTION_LIMIT: "1",
      ...settings,
    },
  });
  return {
    ingress: `http://${host}:${own.ingress}`,
    admin: `http://${host}:${own.admin}`,
    kill: () => void node.kill("SIGKILL"),
  };
}

async function answers(url: string): Promise<boolean> {
  return await fetch(url, { signal: AbortSignal.timeout(2_000) }).then(
    ({ ok }) => ok,
    () => false,
  );
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
