import { isJsonObject, type JsonObject, type JsonValue } from "../../protocol/content.ts";
import { RuntimeError } from "../../protocol/errors.ts";
import { type OAuthConfig, parseOAuth } from "./auth/oauth-config.ts";
import { type ElicitationPolicy, parseElicitation } from "./elicitation.ts";
import { defined } from "../../util/defined.ts";
import { isSecretName } from "../../util/secret-names.ts";

/** How a server is reached: started as a program, over HTTP (`sse` is its older form), or inside the host that drives us. */
export type McpServerConfig = McpServerLimits &
  (
    | {
        readonly type: "stdio";
        readonly command: string;
        readonly args: readonly string[];
        readonly env: Readonly<Record<string, string>>;
        /** Where it starts; the session's folder when absent. */
        readonly cwd?: string;
        /** Where it was written down: `dynamic` (a flag or a request), `user`, `project`, `local`. */
        readonly source?: string;
      }
    | {
        readonly type: "http" | "sse";
        readonly url: string;
        readonly headers: Readonly<Record<string, string>>;
        /** A command for a shell that prints more headers as JSON, asked whenever a connection is made. */
        readonly headersHelper?: string;
        readonly oauth?: OAuthConfig;
        readonly source?: string;
      }
    | { readonly type: "sdk"; readonly name: string; readonly source?: string }
    /** Not written as it should be: it fails like one that does not answer, and costs the others nothing. */
    | { readonly type: "broken"; readonly problem: string; readonly source?: string }
  );

export type CallLimits = { readonly callTimeoutMs?: number; readonly outputLimit?: number };

/** What the author of the configuration wants of the calls of a server. */
export type McpServerLimits = {
  /** What its questions are answered; the host is asked when absent. */
  readonly elicitation?: ElicitationPolicy;
  /** Its tools are shown to the model from the beginning, however many there are. */
  readonly alwaysLoad?: boolean;
  /** Written down, and not to be started. */
  readonly disabled?: boolean;
  /** How long a call may take in all. */
  readonly callTimeoutMs?: number;
  /** Characters of a result that the model is shown; the rest is kept in a file. */
  readonly outputLimit?: number;
  /** The same two for single tools, by the names the server has for them. */
  readonly toolLimits?: Readonly<Record<string, CallLimits>>;
  /** Tools that are asked about, or refused, whatever else allows them; by the names the server has for them. */
  readonly policies?: readonly { readonly tool: string; readonly effect: "ask" | "deny" }[];
};

export type McpServerConfigs = ReadonlyMap<string, McpServerConfig>;

type ServerReading = {
  readonly source: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Variables that whoever wrote this may not have. */
  readonly isWithheld?: (name: string) => boolean;
  readonly keepsBroken?: boolean;
};

/**
 * Reads `{ "mcpServers": { … } }`, or the inner object alone. `${NAME}` and `${NAME:-value}` stand for variables of `env`. A server that is
 * not written as it should be is an error, or with `keepsBroken` one of its own.
 */
export function parseMcpServers(value: unknown, { source, env, isWithheld, keepsBroken }: ServerReading): McpServerConfigs {
  const fail = (problem: string): RuntimeError => new RuntimeError("config", `${source}: ${problem}`);
  if (!isJsonObject(value)) throw fail("expected an object with mcpServers");
  const servers = serversIn(value);
  if (!isJsonObject(servers)) throw fail("mcpServers must be an object");
  const found = new Map<string, McpServerConfig>();
  for (const [name, entry] of Object.entries(servers)) {
    const problem = (text: string): RuntimeError => fail(`server ${JSON.stringify(name)}: ${text}`);
    if (toServerName(name) === "") throw problem("its name has no letter or digit");
    try {
      const server = expand(entry, { env, isWithheld, problem });
      const asked = isJsonObject(server) ? server["elicitation"] : undefined;
      const elicitation = asked === undefined ? undefined : parseElicitation(asked, problem);
      found.set(name, { ...parseServer(server, problem), ...parseServerLimits(entry), ...defined({ elicitation }) });
    } catch (error) {
      if (!keepsBroken || !(error instanceof RuntimeError)) throw error;
      found.set(name, { type: "broken", problem: error.message });
    }
  }
  return found;
}

/** The servers of a configuration: under `mcpServers`, under `servers` as VS Code writes it, or the object itself. */
export function serversIn(value: JsonObject): JsonValue {
  const { mcpServers, servers } = value;
  if (mcpServers !== undefined) return mcpServers;
  const isList = isJsonObject(servers) && Object.values(servers).every(isJsonObject);
  return isList ? servers : value;
}

/** Longer results would fill the window of most models. */
export const maxOutputLimit = 500_000;

/** Times below a second, and policies that loosen something, are left alone. What is neither known nor loose is asked about. */
export function parseServerLimits(value: unknown): McpServerLimits {
  if (!isJsonObject(value)) return {};
  const { tools } = value;
  const named = (Array.isArray(tools) ? tools : []).flatMap((entry) => {
    const limits = parseCallLimits(entry);
    return isJsonObject(entry) && typeof entry["name"] === "string" && Object.keys(limits).length > 0
      ? [[entry["name"], limits] as const]
      : [];
  });
  const policies = (Array.isArray(tools) ? tools : []).flatMap((entry): NonNullable<McpServerLimits["policies"]> => {
    if (!isJsonObject(entry) || typeof entry["name"] !== "string" || entry["permission_policy"] === "always_allow") return [];
    if (entry["permission_policy"] === undefined) return [];
    return [{ tool: entry["name"], effect: entry["permission_policy"] === "always_deny" ? "deny" : "ask" }];
  });
  return {
    ...(value["alwaysLoad"] === true && { alwaysLoad: true }),
    ...(value["disabled"] === true && { disabled: true }),
    ...parseCallLimits(value),
    ...(named.length > 0 && { toolLimits: Object.fromEntries(named) }),
    ...(policies.length > 0 && { policies }),
  };
}

function parseCallLimits(value: unknown): CallLimits {
  if (!isJsonObject(value)) return {};
  const { timeout, maxResultSizeChars: size } = value;
  return {
    ...(typeof timeout === "number" && timeout >= 1_000 && { callTimeoutMs: timeout }),
    ...(typeof size === "number" && size >= 1_000 && { outputLimit: Math.min(size, maxOutputLimit) }),
  };
}

/** The name of a server inside tool names: one `__` must stay the border between server and tool. */
export function toServerName(name: string): string {
  return name
    .replace(/[^A-Za-z0-9_-]/g, "_")
    .replace(/_{2,}/g, "_")
    .replace(/^_+|_+$/g, "");
}

function parseServer(value: unknown, problem: (text: string) => RuntimeError): McpServerConfig {
  if (!isJsonObject(value)) throw problem("expected an object");
  const type = value["type"] ?? (typeof value["url"] === "string" ? "http" : "stdio");
  switch (type) {
    case "stdio": {
      const { command, args = [] } = value;
      if (typeof command !== "string" || command === "") throw problem("command must be the name of a program");
      if (!Array.isArray(args) || !args.every((word) => typeof word === "string"))
        throw problem("args must be a list of strings");
      const { cwd } = value;
      if (cwd !== undefined && typeof cwd !== "string") throw problem("cwd must be a folder");
      return { type: "stdio", command, args, env: stringsOf(value["env"], "env", problem), ...defined({ cwd }) };
    }
    case "http":
    case "streamable-http":
    case "sse": {
      const { url } = value;
      if (typeof url !== "string" || !URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
        throw problem("url must be an http or https address");
      const oauth = value["oauth"] === undefined ? undefined : parseOAuth(value["oauth"], problem);
      const headers = stringsOf(value["headers"], "headers", problem);
      const { headersHelper } = value;
      if (headersHelper !== undefined && (typeof headersHelper !== "string" || headersHelper.trim() === ""))
        throw problem("headersHelper must be a command that prints headers as JSON");
      return { type: type === "sse" ? "sse" : "http", url, headers, ...defined({ headersHelper, oauth }) };
    }
    case "sdk":
      return { type: "sdk", name: typeof value["name"] === "string" ? value["name"] : "" };
    default:
      throw problem(`the type ${JSON.stringify(type)} is not known; expected stdio, http or sse`);
  }
}

function stringsOf(value: unknown, key: string, problem: (text: string) => RuntimeError): Record<string, string> {
  if (value === undefined) return {};
  if (!isJsonObject(value)) throw problem(`${key} must be an object`);
  return Object.fromEntries(
    Object.entries(value).map(([name, text]) => {
      if (typeof text !== "string") throw problem(`${key}.${name} must be a string`);
      return [name, text];
    }),
  );
}

type Expansion = Pick<ServerReading, "env"> & {
  readonly isWithheld: ServerReading["isWithheld"];
  readonly problem: (text: string) => RuntimeError;
  /** In a place that the list of processes shows. */
  readonly visible?: boolean;
  /** In a line for a shell, which finds variables by itself: only what cannot become a part of the line is written into it. */
  readonly inLine?: boolean;
};

function expand(value: unknown, by: Expansion): unknown {
  if (typeof value === "string")
    return value.replace(/\$\{([A-Za-z_]\w*)(?::-([^}]*))?\}/g, (whole, name: string, otherwise: string | undefined) => {
      if (by.visible && isSecretName(name))
        throw by.problem(`${name} would be seen by every user of the machine: put it into env`);
      if (by.isWithheld?.(name))
        throw by.problem(`${name} holds a key for models, which it is not given (passEnv would name it)`);
      const text = by.env[name] ?? otherwise;
      if (by.inLine && !/^[\w./+@:-]+$/.test(text ?? "")) return whole;
      if (text === undefined) throw by.problem(`the variable ${name} is not set`);
      return text;
    });
  if (Array.isArray(value)) return value.map((item) => expand(item, by));
  if (isJsonObject(value))
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => {
        const inLine = key === "headersHelper";
        return [key, expand(item, { ...by, inLine, visible: inLine || key === "args" || key === "command" })];
      }),
    );
  return value;
}
