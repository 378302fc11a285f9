import { isJsonObject, type JsonObject, type JsonValue } from "../protocol/content.ts";
import { claudeExecutors, claudeNames, isClaudeChoice, isClaudeKey } from "./claude-keys.ts";
import type { SettingsLayer } from "./layers.ts";
import { type Setting, settingsSchema } from "./schema.ts";

/** One thing in a project that would run something or loosen something. */
export type Executor = {
  readonly kind:
    | "hook"
    | "mcp-server"
    | "command"
    | "environment"
    | "allow-rule"
    | "mode"
    | "directory"
    | "provider"
    | "sandbox"
    | "plugin"
    | "skill"
    | "setting";
  /** In words for a person; not escaped. */
  readonly what: string;
  /** File and line. */
  readonly source: string;
};

const kinds: Readonly<Record<string, Executor["kind"]>> = {
  hooks: "hook",
  mcpServers: "mcp-server",
  env: "environment",
  "permissions.allow": "allow-rule",
  "permissions.defaultMode": "mode",
  "permissions.additionalDirectories": "directory",
  model: "provider",
  fallbackModel: "provider",
  effortLevel: "provider",
  provider: "provider",
  providers: "provider",
  currentProvider: "provider",
  sandbox: "sandbox",
  enabledPlugins: "plugin",
  extraKnownMarketplaces: "plugin",
};

/** What the project's own settings would run or loosen: all that the schema does not let an untrusted project say. Pure. */
export function executorsInSettings(layers: readonly SettingsLayer[]): Executor[] {
  return layers
    .filter(({ scope }) => scope === "project" || scope === "local")
    .flatMap(({ values, path, lineOf }) =>
      valuesIn(values).flatMap(({ keyPath, value }) =>
        executorsOf(keyPath, value, (below) => {
          const line = lineOf([...keyPath, ...below]);
          return line === undefined ? path : `${path}:${line}`;
        }),
      ),
    );
}

const markdownFolders = /^\.(?:outrider|claude|agents)\/(?:skills|commands|agents|plugins|output-styles)\/.*\.md$/i;

type Named = { readonly name: string; readonly path: string; readonly content: boolean };

/** What files beside the settings would run or loosen, and every text in which a script of the project may be named. */
export function readExecutors(
  files: readonly Named[],
  read: (path: string) => string,
): { readonly executors: readonly Executor[]; readonly commands: readonly string[] } {
  const executors: Executor[] = [];
  const commands: string[] = [];
  for (const { name, path, content } of files) {
    const isMarkdown = markdownFolders.test(name);
    if (!content || !(isMarkdown || name.endsWith(".json"))) continue;
    const text = read(path);
    if (name === ".mcp.json") executors.push(...executorsInMcpFile(text, name));
    if (isMarkdown) executors.push(...executorsInMarkdown(text, name));
    commands.push(...(isMarkdown ? commandsInMarkdown(text) : textsInJson(text)));
  }
  return { executors, commands };
}

/** One line per server of a `.mcp.json`; a text that is none is one as well, since nobody knows what a reader makes of it. */
function executorsInMcpFile(text: string, source: string): Executor[] {
  const value = parseJson(text);
  if (value === undefined) return [{ kind: "mcp-server", what: "a file that is no JSON", source }];
  const servers = isJsonObject(value) ? (value["mcpServers"] ?? value) : value;
  return Object.entries(isJsonObject(servers) ? servers : { "?": servers }).map(([name, server]) => ({
    kind: "mcp-server",
    what: `${name}: ${describeServer(server)}`,
    source,
  }));
}

/** Skills, commands and agents written in Markdown: commands in their text, and what their head asks for. */
function executorsInMarkdown(text: string, source: string): Executor[] {
  const { head, commands } = readMarkdown(text);
  const asked = [...head.matchAll(/^["']?(allowed-?tools|hooks|mcpServers|permission-?mode)["']?[ \t]*:(.*)$/gim)];
  return [
    ...commands.map((command): Executor => ({ kind: "skill", what: `runs ${command.trim()}`, source })),
    ...asked.map(([, key = "", value = ""]): Executor => ({ kind: "skill", what: `${key}: ${value.trim() || "…"}`, source })),
  ];
}

function commandsInMarkdown(text: string): string[] {
  const { head, commands } = readMarkdown(text);
  return [...head.split("\n"), ...commands];
}

function textsInJson(text: string): string[] {
  const value = parseJson(text);
  return value === undefined ? [text] : textsIn(value);
}

function parseJson(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text.replace(/^\ufeff/, "")) as JsonValue; // JSON.parse gives nothing else
  } catch {
    return undefined;
  }
}

function readMarkdown(text: string): { readonly head: string; readonly commands: readonly string[] } {
  const [, head = "", body = text] = /^\ufeff?---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n([\s\S]*))?$/.exec(text) ?? [];
  const found = [...body.matchAll(/!`([^`]+)`/g), ...body.matchAll(/^```!\s*\n([\s\S]*?)^```/gm)];
  return { head, commands: found.map(([, command = ""]) => command) };
}

type Value = { readonly keyPath: readonly string[]; readonly value: JsonValue };

/** The values as deep as the schema knows keys; what it does not know is one value. */
function valuesIn(values: JsonObject, above: readonly string[] = []): Value[] {
  return Object.entries(values).flatMap(([name, value]): Value[] => {
    const keyPath = [...above, name];
    const isGroup = settingsSchema.some(({ key }) => isAbove(keyPath, key.split(".")));
    return isJsonObject(value) && isGroup && !isKnown(keyPath) ? valuesIn(value, keyPath) : [{ keyPath, value }];
  });
}

function isAbove(keyPath: readonly string[], key: readonly string[]): boolean {
  return key.length > keyPath.length && keyPath.every((name, at) => key[at] === "*" || key[at] === name);
}

function isKnown(keyPath: readonly string[]): boolean {
  return settingOf(keyPath) !== undefined || isClaudeKey(keyPath.join("."));
}

function settingOf(keyPath: readonly string[]): Setting | undefined {
  const written = claudeNames.get(keyPath.join("."))?.split(".") ?? keyPath;
  return settingsSchema.find(({ key }) => key.split(".").length === written.length && isAbove(written, [...key.split("."), ""]));
}

type Place = (below: readonly (string | number)[]) => string;

function executorsOf(keyPath: readonly string[], value: JsonValue, placeOf: Place): Executor[] {
  const key = keyPath.join(".");
  const setting = settingOf(keyPath);
  if (
    isEmpty(value) ||
    (setting ? countsUntrusted(setting, value) : isClaudeKey(key) && !claudeExecutors.has(key) && !isClaudeChoice(key))
  )
    return [];
  const [top = ""] = keyPath;
  const kind = kinds[key] ?? kinds[top] ?? (claudeExecutors.has(key) ? "command" : "setting");
  const one = (what: string, below: readonly (string | number)[] = []): Executor => ({ kind, what, source: placeOf(below) });
  const name = keyPath.slice(1).join(".");
  switch (kind) {
    case "hook":
      return Object.entries(isJsonObject(value) ? value : { "?": value }).flatMap(([event, list]) =>
        hooksIn(list).map((hook) => one(`${event}: ${describeHook(hook)}`, [event])),
      );
    case "mcp-server":
      return [one(`${name}: ${describeServer(value)}`)];
    case "environment":
      return [one(`${name}=${isSecret(name) ? "…" : describe(value)}`)];
    case "allow-rule":
    case "directory":
      return (Array.isArray(value) ? value : [value]).map((rule, at) => one(describe(rule), [at]));
    default:
      return [one(`${key}: ${isSecret(key) ? "…" : describe(value)}`)];
  }
}

/** It counts whether the project is trusted or not, because it cannot loosen anything. */
function countsUntrusted({ untrusted, isStricter, default: usual }: Setting, value: JsonValue): boolean {
  return untrusted === "counts" || (untrusted === "stricter" && isStricter?.(value, usual) === true);
}

function isSecret(name: string): boolean {
  return /key|token|secret|passw|credential/i.test(name);
}

function isEmpty(value: JsonValue): boolean {
  if (Array.isArray(value)) return value.length === 0;
  return value === null || (isJsonObject(value) && Object.keys(value).length === 0);
}

/** `[{ matcher, hooks: [{ type, command }] }]`, or the inner list at once. */
function hooksIn(list: JsonValue): JsonValue[] {
  return (Array.isArray(list) ? list : [list]).flatMap((entry) => {
    const inner = isJsonObject(entry) ? entry["hooks"] : undefined;
    if (!isJsonObject(entry) || !Array.isArray(inner)) return [entry];
    const { matcher } = entry;
    return inner.map((hook) => (isJsonObject(hook) && matcher !== undefined ? { matcher, ...hook } : hook));
  });
}

function describeHook(hook: JsonValue): string {
  if (!isJsonObject(hook)) return describe(hook);
  const does = hook["command"] ?? hook["url"] ?? hook["prompt"] ?? hook["agent"];
  const matcher = typeof hook["matcher"] === "string" && hook["matcher"] !== "" ? `(${hook["matcher"]}) ` : "";
  return `${matcher}${does === undefined ? JSON.stringify(hook) : describe(does)}`;
}

function describeServer(server: JsonValue): string {
  if (!isJsonObject(server)) return describe(server);
  const { command, args, url } = server;
  if (typeof url === "string") return url;
  if (typeof command !== "string") return describe(server);
  return [command, ...(Array.isArray(args) ? args.map(describe) : [])].join(" ");
}

function describe(value: JsonValue): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function textsIn(value: JsonValue): string[] {
  if (typeof value === "string") return [value];
  if (Array.isArray(value)) return value.flatMap(textsIn);
  return isJsonObject(value) ? Object.values(value).flatMap(textsIn) : [];
}
