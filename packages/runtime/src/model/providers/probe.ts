import { type ErrorData, RuntimeError, toRuntimeError } from "../../protocol/errors.ts";
import { userText } from "../../protocol/content.ts";
import { createHttpClient, readText, type Timeouts } from "../http.ts";
import { excerpt } from "../http-error.ts";
import { openProvider, resolveSettings } from "./create-provider.ts";
import type { Connection, ProviderDefinition, ProviderSettings } from "./definition.ts";

export type LocalServer = { readonly baseURL: string; readonly models: readonly string[] };

/** The server of this kind that answers on this machine, if one does at once. */
export async function probeLocal(
  { local }: ProviderDefinition,
  { signal, timeoutMs = 300 }: { signal: AbortSignal; timeoutMs?: number },
): Promise<LocalServer | undefined> {
  if (!local) return undefined;
  const http = createHttpClient(); // without the environment: what is on this machine is behind no proxy
  try {
    const root = `http://127.0.0.1:${local.port}`;
    const { status, body } = await http.openStream({
      url: `${root}${local.path}`,
      method: "GET",
      headers: { accept: "application/json" },
      signal,
      timeouts: { connectMs: timeoutMs, totalMs: timeoutMs },
    });
    const models = modelsIn(await readText(body, maxBytes));
    return status === 200 && models ? { baseURL: `${root}${local.path.replace(/\/models$/, "")}`, models } : undefined;
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (error instanceof RuntimeError) return undefined;
    throw error;
  } finally {
    http.close();
  }
}

/** `models` is empty where the API does not list them. */
export type ProviderCheck =
  | { readonly type: "ok"; readonly models: readonly string[] }
  | { readonly type: "failed"; readonly error: ErrorData };

/** Whether key and endpoint are good, by one cheap request: the list of models, or a message of a few tokens. Rejects only when aborted. */
export async function checkProvider(
  definition: ProviderDefinition,
  settings: ProviderSettings,
  { signal }: { signal: AbortSignal },
): Promise<ProviderCheck> {
  try {
    const resolved = resolveSettings(definition, settings);
    const connection = await definition.connect(resolved);
    try {
      const models = connection.check && (await askForModels(connection, settings, signal));
      if (models) return { type: "ok", models };
      await askForMessage(connection, { definition, settings, model: resolved.model, signal });
      return { type: "ok", models: [] };
    } finally {
      connection.close?.();
    }
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    return { type: "failed", error: toRuntimeError(error).toJSON() };
  }
}

const maxBytes = 16 * 1024 * 1024;
const checkTimeouts: Partial<Timeouts> = { headersMs: 30_000, firstByteMs: 30_000, idleMs: 30_000, totalMs: 60_000 };

/** Undefined: this server has no such list, which says nothing about the key. */
async function askForModels(
  connection: Connection,
  settings: ProviderSettings,
  signal: AbortSignal,
): Promise<readonly string[] | undefined> {
  const body = await fetchModelList(connection, settings, signal);
  return body === undefined ? undefined : (modelsIn(body) ?? []);
}

/** The list of models as the server sends it, bounded in size and time; undefined where it has none. */
export async function fetchModelList(
  { check, toError }: Pick<Connection, "check" | "toError">,
  settings: ProviderSettings,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (!check) return undefined;
  const http = createHttpClient({ env: settings.env, ...(settings.ca && { ca: settings.ca }) });
  try {
    const headers = { accept: "application/json", "user-agent": "outrider", ...check.headers };
    const timeouts = { ...checkTimeouts, ...settings.timeouts };
    const response = await http.openStream({ url: check.url, method: "GET", headers, signal, timeouts });
    const body = await readText(response.body, maxBytes);
    if (response.status === 404 || response.status === 405) return undefined;
    const secrets = Object.values(check.headers).map((value) => value.replace(/^Bearer /, ""));
    if (response.status !== 200)
      throw toError({ status: response.status, headers: response.headers, body, now: Date.now(), secrets });
    if (isJson(body)) return body;
    throw new RuntimeError("provider-protocol", `Expected a list of models, got: ${excerpt(body, secrets) || "(empty)"}`, {
      hint: "Check the base URL: something else than the model's API answered",
    });
  } finally {
    http.close();
  }
}

type MessageCheck = {
  definition: ProviderDefinition;
  settings: ProviderSettings;
  model: string | undefined;
  signal: AbortSignal;
};

async function askForMessage(connection: Connection, { definition, settings, model, signal }: MessageCheck): Promise<void> {
  if (!model) throw new RuntimeError("config", `${definition.title} has no default model: name the one to ask`);
  const timeouts = { ...checkTimeouts, ...settings.timeouts };
  const provider = openProvider(
    { ...connection, close() {} },
    { definition, settings: { ...settings, timeouts, retry: { maxRetries: 0 } }, model },
  );
  try {
    // Not 1 token: some APIs refuse fewer than 16.
    const request = { model, system: "", messages: [userText("Say hello.")], tools: [], maxOutputTokens: 16 };
    const options = settings.options ? { options: settings.options } : {};
    for await (const _ of provider.stream({ ...request, ...options }, { signal }));
  } finally {
    provider.close();
  }
}

/** `{ data: [{ id }] }` as nearly everybody has it, or Gemini's `{ models: [{ name }] }`. */
function modelsIn(body: string): string[] | undefined {
  const { data, models } = parseObject(body) ?? {};
  const list: unknown = Array.isArray(data) ? data : models;
  if (!Array.isArray(list)) return undefined;
  return list.flatMap((entry: unknown): string[] => {
    const fields = typeof entry === "object" && entry !== null ? new Map(Object.entries(entry)) : new Map<string, unknown>();
    const id: unknown = fields.get("id") ?? fields.get("name");
    return typeof id === "string" ? [id.replace(/^models\//, "")] : [];
  });
}

function isJson(body: string): boolean {
  return parseObject(body) !== undefined;
}

function parseObject(text: string): { data?: unknown; models?: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
