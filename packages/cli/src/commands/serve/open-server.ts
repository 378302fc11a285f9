import { readFileSync, realpathSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { RuntimeError, SessionHost } from "@outrider/runtime";
import { modelKeys, outriderHome } from "@outrider/runtime/host";
import {
  announceServer,
  type HttpServer,
  type HttpServerOptions,
  type OpenAcp,
  openHttpServer,
  refuseSecond,
  serverFolder,
  SessionRecords,
  TokenStore,
} from "@outrider/runtime/server";
import { removeSession } from "../sessions/remove-session.ts";
import { parseArguments } from "../../flags/args.ts";
import type { FlagName, FlagValues } from "../../flags/flags.ts";
import { duration, positiveInteger } from "../../flags/numbers.ts";
import type { OwnWords } from "../../flags/words.ts";
import { surroundings } from "../../request/plan-run.ts";
import { toSessionRequest } from "../../request/session-request.ts";
import { withdrawKeys } from "../../request/withdraw-keys.ts";

declare const OUTRIDER_VERSION: string;

export const serveSwitches: readonly string[] = ["--behind-proxy", "--acp"];
export const serveValues: readonly string[] = [
  "--port",
  "--host",
  "--socket",
  "--root",
  "--permission-wait",
  "--drain",
  "--max-sessions",
  "--idle",
  "--tls-cert",
  "--tls-key",
  "--allow-host",
  "--allow-origin",
];

export type ServeFlags = Pick<
  HttpServerOptions,
  "listen" | "roots" | "allowedHosts" | "allowedOrigins" | "tls" | "isBehindProxy" | "permissionWaitMs"
> & {
  readonly drainMs: number;
  readonly maxSessions: number | undefined;
  readonly idleMs: number | undefined;
  /** Agents for ACP clients too. */
  readonly isAcp: boolean;
  readonly run: FlagValues;
};

/** Flags that are about one prompt, one session or another protocol. */
const elsewhere: readonly FlagName[] = [
  "print",
  "prompt",
  "input-format",
  "output-format",
  "flavor",
  "replay-user-messages",
  "include-partial-messages",
  "include-hook-events",
  "forward-subagent-text",
  "await-initialize",
  "json-schema",
  "cwd",
  "resume",
  "continue",
  "fork-session",
  "resume-session-at",
  "session-id",
  "name",
  "trajectory",
  "atif-version",
  "load-trajectory",
  "record",
  "permission-prompt-tool",
  "deadline",
  "worktree",
  "no-session-persistence",
];

export function parseServeFlags(words: OwnWords, usage: string): ServeFlags {
  const { flags: run, positionals } = parseArguments(words.rest);
  const misplaced = elsewhere.find((name) => Object.hasOwn(run, name));
  if (misplaced !== undefined)
    throw new RuntimeError(
      "usage",
      `--${misplaced} cannot be used with serve: it is about one session, and clients say that of each`,
    );
  const [word] = positionals;
  if (word !== undefined) throw new RuntimeError("usage", `serve does not take ${JSON.stringify(word)}\n${usage}`);
  const time = (flag: string): number | undefined => {
    const text = words.value(flag);
    return text === undefined ? undefined : text === "0" ? 0 : duration(flag, text);
  };
  const most = words.value("--max-sessions");
  const roots = words.values("--root");
  return {
    listen: placeOf(words),
    roots: (roots.length > 0 ? roots : ["."]).map(realFolder),
    allowedHosts: words.values("--allow-host"),
    allowedOrigins: words.values("--allow-origin").map(checkOrigin),
    tls: tlsOf(words),
    isBehindProxy: words.has("--behind-proxy"),
    isAcp: words.has("--acp"),
    permissionWaitMs: time("--permission-wait"),
    drainMs: time("--drain") ?? 10_000,
    maxSessions: most === undefined ? undefined : positiveInteger("--max-sessions", most),
    idleMs: time("--idle"),
    run,
  };
}

export type OpenedServer = HttpServer & {
  readonly tokenPath: string;
  /** Made just now. */
  readonly newToken: string | undefined;
  /** Nobody finds it any more. */
  forget(): void;
};

export async function openServer(flags: ServeFlags, warn: (line: string) => void): Promise<OpenedServer> {
  const around = surroundings();
  const exposed = withdrawKeys(modelKeys); // before anything is started
  if (exposed !== undefined) warn(exposed);
  const home = outriderHome(process.env);
  const folder = serverFolder(home);
  refuseSecond(folder);
  const [cwd] = flags.roots;
  const { session: _, ...request } = await toSessionRequest(flags.run, warn);
  const defaults = { ...request, ...(cwd !== undefined && { cwd }) };
  const { maxSessions, idleMs, drainMs: __, run, isAcp, ...rules } = flags;
  const { roots } = rules;
  const acp: OpenAcp = async (wire) =>
    await (await import("../../run/acp-connection.ts")).openAcpConnection(wire, { flags: run, roots, warn });
  const host = new SessionHost({ around, warn, defaults, maxSessions, idleMs });
  const tokens = new TokenStore(folder);
  const { token, isNew } = tokens.openOwner();
  const server = await openHttpServer({
    ...rules,
    ...{ host, tokens, defaults, warn },
    version: OUTRIDER_VERSION,
    records: new SessionRecords(join(folder, "sessions.jsonl")),
    ...(isAcp && { acp }),
    page: async () => (await import("./live-page.ts")).livePage(),
    async remove(id) {
      const problem = host.store && (await removeSession({ store: host.store, home }, id));
      if (problem) throw new RuntimeError(problem.isInUse ? "session-locked" : "storage-failed", problem.reason);
    },
  });
  const forget = announceServer(folder, server.url);
  return {
    url: server.url,
    close: (how) => server.close(how),
    tokenPath: tokens.tokenPath,
    newToken: isNew ? token : undefined,
    forget,
  };
}

function placeOf(words: OwnWords): HttpServerOptions["listen"] {
  const path = words.value("--socket");
  const port = words.value("--port");
  const address = words.value("--host");
  if (path !== undefined) {
    if (port !== undefined || address !== undefined) throw new RuntimeError("usage", "--socket goes without --port and --host");
    return { type: "socket", path: resolve(path) };
  }
  const number = port === undefined || port === "0" ? 0 : positiveInteger("--port", port);
  if (number > 65_535) throw new RuntimeError("usage", `--port ${port} is no port`);
  return { type: "tcp", address: address ?? "127.0.0.1", port: number };
}

function tlsOf(words: OwnWords): HttpServerOptions["tls"] {
  const [cert, key] = [words.value("--tls-cert"), words.value("--tls-key")];
  if (cert === undefined && key === undefined) return undefined;
  if (cert === undefined || key === undefined) throw new RuntimeError("usage", "--tls-cert and --tls-key go together");
  const read = (flag: string, path: string): string => {
    try {
      return readFileSync(path, "utf8");
    } catch (error) {
      throw new RuntimeError("config", `${flag} ${path} cannot be read`, { cause: error });
    }
  };
  return { cert: read("--tls-cert", cert), key: read("--tls-key", key) };
}

function realFolder(path: string): string {
  try {
    const real = realpathSync(path);
    if (statSync(real).isDirectory()) return real;
  } catch {
    // Said below.
  }
  throw new RuntimeError("usage", `--root ${path} is no folder`);
}

/** As browsers write it, so that it can be compared letter by letter. */
function checkOrigin(text: string): string {
  if (URL.canParse(text) && new URL(text).origin === text) return text;
  const meant = URL.canParse(text) && new URL(text).origin !== "null" ? `; do you mean ${new URL(text).origin}?` : "";
  throw new RuntimeError("usage", `--allow-origin ${text} is no origin such as https://example.com${meant}`);
}
