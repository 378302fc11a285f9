import { parseHooks } from "../hooks/config.ts";
import { checkRuleTool, unofferedTool } from "../permissions/tool-names.ts";
import { RuntimeError } from "../protocol/errors.ts";
import { checkOptions } from "../protocol/kinds.ts";
import { toJsonSchema } from "../tools/library-schema.ts";
import { parseMcpServers } from "../tools/mcp/server-config.ts";
import { parseSchema } from "../tools/schema.ts";
import type { SchemaSource } from "../tools/standard-schema.ts";
import { isRecord } from "../util/is-record.ts";
import { messageOf } from "../util/message-of.ts";
import { nearest } from "../util/nearest.ts";
import { hostKinds, queryKinds, requestKinds, requestOptionKinds, sessionKinds } from "./option-kinds.ts";

/** What a program without types may get wrong is told in its own words, before anything else goes wrong because of it. */
export function checkSessionOptions(options: unknown): void {
  checkOptions("InteractiveSession", options, sessionKinds);
  checkTogether(options);
  checkServers(options);
  if (options["forkSession"] === true && options["resumeSessionId"] === undefined)
    throw wrong("forkSession copies a session that exists: name it with resumeSessionId");
  const { sessionId, resumeSessionId, forkSession, sessionStore } = options;
  if (resumeSessionId !== undefined && sessionStore === undefined)
    throw wrong("resumeSessionId names a stored session: say with sessionStore where it is stored");
  if (resumeSessionId !== undefined && sessionId !== undefined && sessionId !== resumeSessionId && forkSession !== true)
    throw wrong("sessionId names a new session: with resumeSessionId it needs forkSession, which copies the old one to it");
  if (options["resumeAt"] !== undefined && options["resumeSessionId"] === undefined)
    throw wrong("resumeAt is a place in a session that exists: name it with resumeSessionId");
}

export function checkQueryOptions(options: unknown): void {
  checkOptions("createQuery", options, queryKinds);
  const { onTextDelta: _, onCompact: __, ...own } = options;
  checkSessionOptions({ ...own, cwd: own["cwd"] ?? "." });
}

export function checkHostOptions(options: unknown): void {
  checkOptions("SessionHost", options, hostKinds);
  checkRequest(options["defaults"] ?? {});
}

/** The same for a request to a host, whose options are a part of it and are added to those of its defaults. */
export function checkRequest(request: unknown, defaults: object = {}): void {
  if (isRecord(request)) {
    const misplaced = Object.keys(request).find(
      (name) => !Object.hasOwn(requestKinds, name) && Object.hasOwn(sessionKinds, name),
    );
    if (misplaced === "outriderHome") throw wrong("outriderHome is an option of the host: all its sessions have the same one");
    if (misplaced !== undefined) throw wrong(`${misplaced} is an option of the session: give it as options.${misplaced}`);
  }
  checkOptions("A request", request, requestKinds);
  checkServers(request);
  const { options = {} } = request;
  if (isRecord(options)) {
    if (options["outriderHome"] !== undefined)
      throw wrong("outriderHome is an option of the host: all its sessions have the same one");
    const beside = Object.keys(options).find(
      (name) => !Object.hasOwn(requestOptionKinds, name) && Object.hasOwn(requestKinds, name),
    );
    if (beside !== undefined && options[beside] !== undefined)
      throw wrong(`${beside} is a part of the request: give it beside options`);
  }
  checkOptions("options", options, requestOptionKinds);
  checkTogether({ ...defaults, ...options });
}

/** What one option says about another, and what takes a parser to judge. */
function checkTogether(options: Record<string, unknown>): void {
  checkTools(options);
  checkSnapshot(options);
  checkSchema(options["outputSchema"]);
  checkHooks(options["hooks"]);
}

/** A misspelled name would take all tools away but those that are spelled right, and a rule for no tool would rule nothing. */
function checkTools({ builtinTools = [], tools = [], toolAliases = {}, ...rules }: Record<string, unknown>): void {
  const own = list(tools).map((tool) => String(Object(tool).name));
  const twice = own.find((name, place) => own.indexOf(name) !== place);
  if (twice !== undefined) throw wrong(`tools: there are two tools named ${twice}`);
  for (const name of list(builtinTools)) checkOffered("builtinTools", name, own);
  for (const name of Object.values(Object(toolAliases))) checkOffered("toolAliases", name, own);
  const more = [...own, ...Object.keys(Object(toolAliases))];
  for (const where of ["allowedTools", "disallowedTools"])
    for (const rule of list(rules[where])) checkRuleTool(String(rule), { where, code: "usage", more });
}

function checkOffered(option: string, name: unknown, own: readonly string[]): void {
  const problem = own.includes(String(name)) ? undefined : unofferedTool(String(name));
  if (problem !== undefined) throw wrong(`${option}: ${problem}`);
}

function checkSnapshot({ sandboxSnapshotId, sandboxClient }: Record<string, unknown>): void {
  if (sandboxSnapshotId === undefined) return;
  if (sandboxClient === undefined) throw wrong("sandboxSnapshotId is a state of another machine: it needs a sandboxClient");
  if (typeof Object(sandboxClient).restore !== "function")
    throw wrong("sandboxSnapshotId cannot be brought back: the sandboxClient has no restore()");
}

function checkSchema(schema: unknown): void {
  if (schema !== undefined) inWords("outputSchema", () => parseSchema(toJsonSchema(schema as SchemaSource))); // looked at for what it is
}

/** Where hooks may send to is known when the settings are. */
function checkHooks(value: unknown): void {
  const anywhere = { allowedHttpHookUrls: ["*", "http://*:*", "https://*:*"] };
  if (value !== undefined) inWords(undefined, () => parseHooks([{ value, source: "options", trusted: true }], anywhere));
}

const serverFields = ["type", "command", "args", "env", "url", "headers", "headersHelper", "timeout", "tools", "name"];

/** A server whose variables are not there fails when it is started; one that is wrongly written does so here. */
function checkServers({ mcpServers }: Record<string, unknown>): void {
  if (mcpServers === undefined || Array.isArray(mcpServers)) return;
  const named = Object(mcpServers) as Record<string, unknown>; // its kind was checked
  for (const [name, server] of Object.entries(isRecord(named["mcpServers"]) ? named["mcpServers"] : named)) {
    const misspelled = Object.keys(Object(server)).find((field) => !serverFields.includes(field) && nearest(field, serverFields));
    if (misspelled !== undefined)
      throw wrong(`mcpServers.${name} has no field ${misspelled}; did you mean ${nearest(misspelled, serverFields)}?`);
    if (JSON.stringify(server)?.includes("${")) continue;
    inWords(undefined, () => parseMcpServers({ [name]: server }, { source: "mcpServers", env: {} }));
  }
}

/** A mistake in an option is one in a call, whatever the parser is used for elsewhere. */
function inWords(option: string | undefined, parse: () => unknown): void {
  try {
    parse();
  } catch (error) {
    throw wrong(option === undefined ? messageOf(error) : `${option}: ${messageOf(error)}`, error);
  }
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function wrong(message: string, cause?: unknown): RuntimeError {
  return new RuntimeError("usage", message, cause === undefined ? {} : { cause });
}
