import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isJsonObject, type JsonObject, type JsonValue } from "../protocol/content.ts";
import { parseMcpServers } from "../tools/mcp/server-config.ts";
import { checkLayer } from "../settings/check-layer.ts";
import { claudeServerFile } from "../settings/home.ts";
import { claudeServers } from "./claude-servers.ts";
import { editSettings } from "../settings/edit-settings.ts";
import { readJsonFile } from "../settings/json-file.ts";
import type { ParsedJson } from "../settings/json-text.ts";
import type { SettingsLayer } from "../settings/layers.ts";

/** Who has a server: the user everywhere, everybody in this project, or the user in this project. */
export type ServerScope = "user" | "project" | "local";

type Place = { readonly outriderHome: string; readonly root: string };

/** Where servers of each scope are written down, the most particular last. */
export function serverFiles({ outriderHome, root }: Place): Readonly<Record<ServerScope, string>> {
  return {
    project: join(root, ".mcp.json"),
    user: join(outriderHome, "settings.json"),
    local: join(root, ".outrider", "settings.local.json"),
  };
}

/** A server as somebody has written it down. */
export type WrittenServer = {
  readonly name: string;
  readonly file: string;
  /** Undefined for files that are Claude Code's. */
  readonly scope: ServerScope | undefined;
  readonly server: JsonValue;
};

/** All of them, also those that do not count here and now. */
export function writtenServers(place: WholePlace): readonly WrittenServer[] {
  const scopes = new Map(Object.entries(serverFiles(place)).map(([scope, file]) => [file, scope as ServerScope])); // its own names
  const own = [...scopes.keys()].map((file) => ({ file, values: valuesIn(file) }));
  const others = place.layers.filter(({ path }) => !scopes.has(path)).map(({ path, values }) => ({ file: path, values }));
  const ours = [...own, ...others].flatMap(({ file, values }) =>
    Object.entries(serversIn(values)).map(([name, server]) => ({ name, file, scope: scopes.get(file), server })),
  );
  const around = { userHome: place.home, claudeHome: place.claudeHome };
  const file = claudeServerFile(around);
  const kept = claudeServers(around, [place.root, place.cwd]);
  return [...kept.map(({ name, server }) => ({ name, file, scope: undefined, server })), ...ours];
}

type WholePlace = Place & {
  readonly cwd: string;
  readonly home: string;
  readonly claudeHome?: string | undefined;
  readonly layers: readonly SettingsLayer[];
};

/** Adds or replaces a server, and answers the file. What it is made of is checked before anything is written. */
export async function saveServer(
  place: Place,
  {
    scope,
    name,
    server,
    env,
  }: { scope: ServerScope; name: string; server: JsonObject; env: Readonly<Record<string, string | undefined>> },
): Promise<string> {
  parseMcpServers({ [name]: server }, { source: "mcp add", env });
  return await change(place, scope, (servers) => ({ ...servers, [name]: server }));
}

/** Takes a server out of a file; undefined when it was not in it. */
export async function forgetServer(
  place: Place,
  { scope, name }: { scope: ServerScope; name: string },
): Promise<string | undefined> {
  const { values } = await readJsonFile(serverFiles(place)[scope]);
  if (!Object.hasOwn(serversIn(values), name)) return undefined;
  return await change(place, scope, ({ [name]: _, ...others }) => others);
}

async function change(place: Place, scope: ServerScope, edit: (servers: JsonObject) => JsonObject): Promise<string> {
  const path = serverFiles(place)[scope];
  const check = async (file: ParsedJson): Promise<void> => {
    if (scope !== "project") checkLayer({ ...file, scope, dialect: "outrider", path });
  };
  await editSettings(path, {
    check,
    change: (values) => ({ ...values, mcpServers: edit(serversIn(values)) }),
    mode: scope === "project" ? 0o666 : 0o600,
  });
  return path;
}

/** What cannot be read is told by the run that would need it. */
function valuesIn(file: string): JsonObject {
  try {
    const value: unknown = JSON.parse(readFileSync(file, "utf8"));
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}

function serversIn({ mcpServers }: JsonObject): JsonObject {
  return isJsonObject(mcpServers) ? mcpServers : {};
}
