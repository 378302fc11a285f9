import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

export type PostgresServer = { readonly url: string; close(): Promise<void> };

/** Where Debian puts it; undefined where there is none. */
export function findPostgres(): string | undefined {
  const versions = "/usr/lib/postgresql";
  const found = existsSync(versions) ? readdirSync(versions).map((version) => join(versions, version, "bin")) : [];
  return found.find((folder) => existsSync(join(folder, "initdb")) && existsSync(join(folder, "postgres")));
}

/** A database of its own in a temporary folder. Postgres refuses to be root: then it runs as `nobody`. */
export async function startPostgres(programs: string): Promise<PostgresServer> {
  const folder = mkdtempSync(join(tmpdir(), "outrider-postgres-"));
  const data = join(folder, "data");
  mkdirSync(data);
  const user = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
  if ("uid" in user) {
    chmodSync(folder, 0o755);
    execFileSync("chown", ["65534:65534", data]);
  }
  const env = { PATH: process.env.PATH, LC_ALL: "C" };
  execFileSync(join(programs, "initdb"), ["-D", data, "-U", "outrider", "-A", "trust", "-N"], {
    ...user,
    env,
    stdio: "ignore",
    cwd: folder,
  });
  const port = await freePort();
  const settings = { port, listen_addresses: "127.0.0.1", unix_socket_directories: data, fsync: "off" };
  const words = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const server = spawn(join(programs, "postgres"), ["-D", data, ...words], { ...user, env, stdio: "ignore", cwd: folder });
  const ended = once(server, "exit");
  const ready = join(programs, "pg_isready");
  for (let round = 0; ; round++) {
    try {
      execFileSync(ready, ["-h", "127.0.0.1", "-p", String(port), "-U", "outrider"], { stdio: "ignore", env });
      break;
    } catch (error) {
      if (round === 300 || server.exitCode !== null) throw error;
      await delay(100);
    }
  }
  return {
    url: `postgres://outrider@127.0.0.1:${port}/postgres`,
    async close() {
      server.kill("SIGINT");
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
