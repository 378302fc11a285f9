import { existsSync } from "node:fs";
import { basename, delimiter, resolve } from "node:path";
import { RuntimeError } from "@outrider/runtime";
import { nearest, surroundingsOf } from "@outrider/runtime/host";
import { createSecretHider, type WrittenServer } from "@outrider/runtime/admin";
import { exitCodes } from "../../exit-codes.ts";
import { print, visible } from "../../terminal/visible.ts";
import { type KnownServers, knownServers } from "./known-servers.ts";
import { readServerWords } from "./server-words.ts";

export async function listServers(args: readonly string[], usage: string): Promise<number> {
  const { positionals, json, cwd } = readServerWords(args, { usage, isOpen: false });
  if (positionals.length > 0) throw new RuntimeError("usage", `mcp list does not take ${positionals.join(" ")}\n${usage}`);
  const known = await knownServers(cwd);
  const rows = known.written.map((server) => describe(server, known));
  if (json) await print(`${JSON.stringify(rows, null, 2)}\n`);
  else if (rows.length === 0) await print("No MCP server is written down. Add one: outrider mcp add NAME COMMAND|URL\n");
  else await print(rows.map(toLine).join(""));
  return exitCodes.success;
}

export async function getServer(args: readonly string[], usage: string): Promise<number> {
  const { positionals, json, cwd } = readServerWords(args, { usage, isOpen: false });
  const [name, ...more] = positionals;
  if (name === undefined || more.length > 0) throw new RuntimeError("usage", `mcp get needs one name\n${usage}`);
  const known = await knownServers(cwd);
  const found = known.written.filter((server) => server.name === name).map((server) => describe(server, known));
  if (found.length === 0) {
    const guess = nearest(
      name,
      known.written.map((server) => server.name),
    );
    throw new RuntimeError("not-found", `There is no server ${JSON.stringify(name)}${guess ? `; did you mean ${guess}?` : ""}`, {
      hint: "See outrider mcp list",
    });
  }
  if (json) await print(`${JSON.stringify(found, null, 2)}\n`);
  else
    await print(
      found.map((row) => `${toLine(row)}${visible(JSON.stringify(row.server, null, 2)).replaceAll("\\u000a", "\n")}\n`).join(""),
    );
  return exitCodes.success;
}

type Row = Omit<WrittenServer, "scope"> & { readonly scope: string; readonly starts: boolean; readonly why?: string };

function describe({ name, file, scope, server }: WrittenServer, known: KnownServers): Row {
  const { plan, isTrusted, written } = known;
  const starts = plan.configs.has(name);
  const isOfProject = scope === "project" || scope === "local" || !isUsers(file);
  const isHidden = starts && written.findLast((other) => other.name === name)?.file !== file;
  const why = isHidden
    ? "another of this name counts"
    : starts
      ? whyNot(name, known)
      : !isTrusted && isOfProject
        ? "the project is not trusted"
        : "switched off in the settings";
  return {
    name,
    file,
    scope: scope ?? "claude",
    server: createSecretHider()([], server),
    starts: starts && why === undefined,
    ...(why !== undefined && { why }),
  };
}

/** What can be told without starting it. */
function whyNot(name: string, { plan, cwd, env }: KnownServers): string | undefined {
  const config = plan.configs.get(name);
  if (config?.disabled) return "switched off where it is written";
  if (config?.type === "broken") return config.problem;
  if (config?.type !== "stdio" || process.platform === "win32") return undefined; // names have endings there
  const { command } = config;
  const folders = command.includes("/") ? [resolve(cwd, config.cwd ?? ".")] : pathOf({ ...env, ...config.env });
  return folders.some((folder) => existsSync(resolve(folder, command))) ? undefined : `there is no program ${command}`;
}

function pathOf({ PATH = "" }: Readonly<Record<string, string>>): string[] {
  return PATH.split(delimiter).filter(Boolean);
}

function isUsers(file: string): boolean {
  return file.startsWith(`${surroundingsOf().claudeHome}/`) || basename(file) === ".claude.json";
}

function toLine({ name, scope, file, server, starts, why }: Row): string {
  return `${visible(name)}  ${scope}  ${starts ? "starts" : `does not start (${why})`}  ${visible(reachedBy(server))}  (${visible(file)})\n`;
}

function reachedBy(server: unknown): string {
  if (typeof server !== "object" || server === null) return "?";
  const { url, command, args } = server as { url?: unknown; command?: unknown; args?: unknown }; // each is looked at before it is used
  if (typeof url === "string") return url;
  const words = [command, ...(Array.isArray(args) ? args : [])].filter((word) => typeof word === "string");
  return words.map(quoted).join(" ") || "?";
}

/** As a shell would take it. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
