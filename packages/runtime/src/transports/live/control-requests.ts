import { isJsonObject, type JsonObject, type JsonValue } from "../../protocol/content.ts";
import { toRuntimeError } from "../../protocol/errors.ts";
import { parsePermissionUpdate } from "../../permissions/permission-update.ts";
import { toPermissionMode } from "../../protocol/permission.ts";
import type { SeenFile } from "../../session/files/host-files.ts";
import type { InteractiveSession } from "../../session/interactive-session.ts";
import type { SessionControls } from "../../session/session-controls.ts";
import { toContextUsage } from "./context-usage.ts";
import type { FlagSettings } from "./flag-settings.ts";
import { questions } from "./session-questions.ts";
import type { SessionSpending } from "./session-spending.ts";
import type { McpServerConfigs } from "../../tools/mcp/server-config.ts";
import type { McpServers } from "../../tools/mcp/mcp-servers.ts";

/** What a host may ask for besides prompts, bound to one live session. */
export type ControlTargets = {
  /** Opens the session if no prompt has done so yet. */
  readonly session: () => Promise<InteractiveSession>;
  readonly mcp: () => Promise<McpServers | undefined>;
  /** Takes back what waits, if that is wanted, and gets ready to end the running turn. */
  readonly interrupt: (cancelQueued: boolean) => Promise<Interrupted>;
  /** Takes back a message that still waits. */
  readonly cancel: (uuid: string) => Promise<boolean>;
  readonly parseServers: (value: JsonValue | undefined) => McpServerConfigs;
  readonly resolveModel: (name: string) => Promise<string>;
  readonly flagSettings: FlagSettings;
  /** A message from a server that lives in the host. */
  readonly hostServerSays: (server: string, message: JsonValue | undefined) => void;
  readonly settings: () => JsonObject | Promise<JsonObject>;
  readonly rewind: (target: string, dryRun: boolean) => Promise<JsonObject>;
  /** What `initialize` was answered, as it is now. */
  readonly describe: () => Promise<JsonObject>;
  readonly spending: SessionSpending;
  /** A frame that tells the host what changed. */
  readonly status: (fields: JsonObject) => void;
};

/** The ids of prompts that still wait, and of those that were taken out of the queue. */
/** `end` ends the turn: a host hears the answer before what that brings about. */
export type Interrupted = { readonly stillQueued: string[]; readonly cancelled: string[]; readonly end: () => void };

/** `beside` stands next to the response instead of in it; `after` is done when it is written. */
export type ControlReply =
  | { readonly response: JsonObject; readonly beside?: JsonObject; readonly after?: () => void }
  | { readonly error: string; readonly code?: string };

export type Handler = (request: JsonObject, targets: ControlTargets) => Promise<ControlReply>;

/** Answers one request of the host; never rejects. What is not known is said to be unsupported, nothing is silently ignored. */
export async function answerControlRequest(
  request: JsonObject & { subtype: string },
  targets: ControlTargets,
): Promise<ControlReply> {
  const handler = Object.hasOwn(handlers, request.subtype) ? handlers[request.subtype] : undefined;
  if (!handler) return { error: unsupported(request.subtype), code: "unsupported_request" };
  try {
    return await handler(request, targets);
  } catch (error) {
    const { message, hint } = toRuntimeError(error);
    return { error: hint ? `${message}. ${hint}` : message };
  }
}

function unsupported(subtype: string): string {
  return `Unsupported control request subtype: ${subtype}`;
}

const done: ControlReply = { response: {} };
const resourceMs = 60_000;

const handlers: Readonly<Record<string, Handler>> = {
  ...questions,
  async interrupt({ cancel_queued: cancelQueued }, { interrupt }) {
    const { stillQueued, cancelled, end } = await interrupt(cancelQueued === true);
    return { response: { still_queued: stillQueued, ...(cancelQueued === true && { cancelled }) }, after: end };
  },
  async cancel_async_message({ message_uuid: uuid }, { cancel }) {
    return { response: { cancelled: typeof uuid === "string" && (await cancel(uuid)) } };
  },
  async set_permission_mode({ mode: word }, { session, status }) {
    const mode = toPermissionMode(word);
    if (!mode) return { error: `There is no permission mode ${JSON.stringify(word)}`, code: "invalid_mode" };
    const controls = await (await session()).controls();
    try {
      controls.setPermissionMode(mode);
    } catch (error) {
      return { error: toRuntimeError(error).message, code: "bypass_not_launched" };
    }
    return { response: { mode }, after: () => status({ permissionMode: mode }) };
  },
  async set_model({ model }, { session, resolveModel }) {
    const wanted = typeof model === "string" && model !== "default" ? await resolveModel(model) : undefined;
    return { response: { model: (await (await session()).controls()).setModel(wanted) } };
  },
  async set_max_thinking_tokens({ max_thinking_tokens: tokens, thinking_display: display }, { session }) {
    if (tokens !== undefined && tokens !== null && !(typeof tokens === "number" && Number.isInteger(tokens) && tokens >= 0))
      return { error: "max_thinking_tokens must be a whole number" };
    const controls = await (await session()).controls();
    if (tokens !== undefined) controls.setThinkingTokens(typeof tokens === "number" && tokens > 0 ? tokens : undefined);
    if (display === undefined) return done;
    if (display !== null && display !== "summarized" && display !== "omitted")
      return { error: `thinking_display cannot be ${JSON.stringify(display)} here; it is summarized or omitted` };
    if (controls.facts.model.provider !== "anthropic")
      return { error: "thinking_display is for Anthropic's API: what the model thinks is shown as this provider sends it" };
    const { thinking, ...options } = controls.providerOptions;
    const { display: _, ...kept } = isJsonObject(thinking) ? thinking : {};
    controls.providerOptions = { ...options, thinking: { ...kept, ...(display !== null && { display }) } };
    return done;
  },
  async apply_flag_settings({ settings }, { session, flagSettings, resolveModel }) {
    if (!isJsonObject(settings)) return { error: "settings must be an object" };
    await flagSettings.apply(settings, { controls: await (await session()).controls(), resolveModel });
    return done;
  },
  async rename_session({ title, session_id: id }, { session }) {
    if (typeof title !== "string" || title.trim() === "") return { error: "title must be a text that says something" };
    const open = await session();
    if (id !== undefined && id !== open.id) return { error: `This is the session ${open.id}, not ${String(id)}` };
    await open.setName(title.trim());
    return done;
  },
  async read_file({ path, max_bytes: maxBytes, encoding }, { session }) {
    if (typeof path !== "string") return { error: "path must be a string" };
    const limit = typeof maxBytes === "number" && maxBytes > 0 ? Math.floor(maxBytes) : 1024 * 1024;
    const file = await (await (await session()).controls()).readFile({ path, maxBytes: limit });
    return { response: { ...toFileResponse(file, encoding === "base64"), requested_path: path } };
  },
  async seed_read_state({ path, mtime }, { session }) {
    if (typeof path !== "string" || typeof mtime !== "number") return { error: "path must be a string, and mtime a number" };
    await (await (await session()).controls()).noteRead({ path, mtimeMs: mtime });
    return done;
  },
  mcp_status: async (_, { mcp }) => ({ response: { mcpServers: ((await mcp())?.states ?? []).map(toServerStatus) } }),
  async mcp_set_servers({ servers }, { mcp, session, parseServers }) {
    const connections = await mcp();
    if (!connections) return { error: "This session takes no MCP servers" };
    const controls = await (await session()).controls();
    const before = connections.rules;
    const changed = await connections.replace(parseServers(servers));
    await updateServerRules(controls, before, connections.rules);
    controls.replaceTools(connections.tools);
    return { response: { added: changed.added, removed: changed.removed, errors: changed.errors } };
  },
  async mcp_toggle({ serverName, enabled }, { mcp, session }) {
    const connections = await mcp();
    const found = typeof serverName === "string" && (await connections?.toggle(serverName, enabled !== false));
    if (!connections || !found) return { error: `Server not found: ${String(serverName)}` };
    (await (await session()).controls()).replaceTools(connections.tools);
    return done;
  },
  async mcp_reconnect({ serverName }, { mcp, session }) {
    const connections = await mcp();
    const found = typeof serverName === "string" && (await connections?.reconnect(serverName));
    if (!connections || !found) return { error: `Server not found: ${String(serverName)}` };
    (await (await session()).controls()).replaceTools(connections.tools);
    return done;
  },
  async mcp_read_resource({ serverName, uri }, { mcp }) {
    const server = String(serverName);
    if (typeof uri !== "string" || !uri.startsWith("ui://")) return { error: "uri must be one of the scheme ui://" };
    const connections = await mcp();
    if (!connections?.states.some(({ name }) => name === server)) return { error: `Server not found: ${server}` };
    return { response: { contents: await connections.readResource(server, uri, AbortSignal.timeout(resourceMs)) } };
  },
  async mcp_call({ tool, arguments: input = {}, timeout_ms: timeoutMs, check_permissions: isJudged }, { mcp, session }) {
    const name = String(tool);
    if (!isJsonObject(input)) return { error: "arguments must be an object" };
    if (isJudged === true) return { error: "check_permissions has no effect here: the host's own calls are the host's to judge" };
    const { facts } = await (await session()).controls();
    const connections = await mcp();
    if (!connections || !facts.tools.includes(name)) return { error: `There is no tool of a server named ${name}` };
    const limit = typeof timeoutMs === "number" && timeoutMs > 0 ? timeoutMs : resourceMs;
    const { text, ...more } = await connections.answer(name, input, AbortSignal.timeout(limit));
    return { response: { content: text, ...more } };
  },
  async mcp_message({ server_name: server, message }, { hostServerSays }) {
    hostServerSays(String(server), message);
    return done;
  },
  async get_context_usage(_, { session }) {
    const open = await session();
    const { facts } = await open.controls();
    return { response: toContextUsage(await open.getContextUse(), facts) };
  },
  set_has_subscribers: async () => done, // everything is told in any case
  async get_settings(_, { settings, session }) {
    const { facts, effort } = await (await session()).controls();
    return { response: { ...(await settings()), applied: { model: facts.model.id, effort: effort ?? null } } };
  },
  async rewind_files({ user_message_id: target, dry_run: dryRun }, { rewind }) {
    if (typeof target !== "string") return { error: "user_message_id must be a string" };
    const answer = await rewind(target, dryRun === true);
    const isRefused = dryRun !== true && answer["canRewind"] === false; // a host that only awaits it must not believe that it was done
    return isRefused ? { error: String(answer["error"] ?? "The files cannot be put back") } : { response: answer };
  },
  /** Claude Code's program for a person moves what runs there; of what is not moved nobody must believe that it was. */
  async background_tasks(_, { session }) {
    if (!(await session()).isExecuting()) return done;
    return { error: `${unsupported("background_tasks")}. What runs is not moved: start it with run_in_background` };
  },
  async update_settings() {
    const instead = "Settings files are the user's: apply_flag_settings changes the session";
    return { error: `${unsupported("update_settings")}. ${instead}`, code: "unsupported_request" };
  },
  /** Instructions of a subfolder need no request: they are read when the first file there is. */
  async register_repo_root({ directory, reload_skills: skills, reload_plugins: plugins }, { session }) {
    if (typeof directory !== "string") return { error: "directory must be a string" };
    const open = await session();
    const added = await (await open.controls()).addDirectory(directory);
    if (skills === true) await open.reloadSkills();
    if (plugins === true) await open.reloadPlugins([], false);
    return { response: { directory: added } };
  },
  async stop_task({ task_id: task }, { session }) {
    if (typeof task !== "string") return { error: "task_id must be a string" };
    await (await session()).stopTask(task); // one that has ended, or never was, does not run either
    return done;
  },
};

type ServerRules = McpServers["rules"];

/** Rules that came with servers go with them; the new ones hold before their tools are offered. */
async function updateServerRules(controls: SessionControls, before: ServerRules, now: ServerRules): Promise<void> {
  for (const behavior of ["ask", "deny"] as const)
    for (const [type, rules] of [
      ["removeRules", before[behavior]],
      ["addRules", now[behavior]],
    ] as const) {
      const named = rules.map((toolName) => ({ toolName }));
      if (named.length > 0) await controls.updatePermissions(parsePermissionUpdate({ type, behavior, rules: named }));
    }
}

function toFileResponse({ path, bytes, isWhole }: SeenFile, isBase64: boolean): JsonObject {
  const more = isWhole ? {} : { truncated: true };
  if (isBase64) return { contents: Buffer.from(bytes).toString("base64"), absPath: path, encoding: "base64", ...more };
  const contents = new TextDecoder().decode(bytes);
  return { contents, absPath: path, lossy: !Buffer.from(contents).equals(bytes), ...more };
}

function toServerStatus({ name, status, error, serverInfo, source, offers, reach }: McpServers["states"][number]): JsonObject {
  return {
    name,
    status,
    ...(error !== undefined && { error }),
    ...(serverInfo && { serverInfo: { ...serverInfo } }),
    ...(reach && { config: { ...reach }, transport: reach.type }),
    ...(source !== undefined && { source, scope: source === "sdk" ? "dynamic" : source }),
    tools: offers.map((tool) => ({ ...tool })),
  };
}
