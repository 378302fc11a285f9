import { setTimeout as delay } from "node:timers/promises";
import type { JsonObject, JsonValue } from "@outrider/runtime";

/** Where the engine is: its door for calls, and that for whoever operates it. */
export type RestateAddress = { readonly ingress: string; readonly admin: string };

/** The engine cannot be reached, or refuses. */
export class EngineFailed extends Error {
  readonly status: number | undefined;
  constructor(message: string, options?: ErrorOptions & { status?: number }) {
    super(message, options);
    this.name = "EngineFailed";
    this.status = options?.status;
  }
}

/** What a run asks is kept by the engine under this word and the name of the question, for whoever looks. */
export const asksPrefix = "asks:";

export type AskedRow = { readonly runId: string; readonly name: string; readonly asks: JsonValue };

/** A handler of an object. */
export type Target = { readonly service: string; readonly key: string; readonly handler: string };

type Asking = {
  readonly passed?: readonly number[];
  readonly method?: string;
  readonly signal?: AbortSignal | undefined;
};

export type InvocationRow = { readonly id: string; readonly key: string; readonly status: string; readonly attempts: number };

export type DeploymentRow = { readonly id: string; readonly endpoint: string; readonly runs: number };

/**
 * The engine's HTTP interface. An engine that does not answer is waited for: `patienceMs` in all, or, where somebody may end the waiting by a
 * signal, as long as it takes. `onAway` is told of long waiting.
 */
export class RestateApi {
  readonly #address: RestateAddress;
  readonly #patienceMs: number;
  readonly #onAway: (line: string) => void;
  #isAway = false;

  constructor({ ingress, admin }: RestateAddress, patienceMs = 60_000, onAway: (line: string) => void = () => {}) {
    this.#address = { ingress: ingress.replace(/\/+$/, ""), admin: admin.replace(/\/+$/, "") };
    this.#patienceMs = patienceMs;
    this.#onAway = onAway;
  }

  /** Lets the engine look at what a worker offers. One that is known at this address is looked at again. */
  async register(uri: string): Promise<string> {
    const { id } = await this.#json("admin", "/deployments", { uri, force: true });
    return String(id);
  }

  /** Starts a run, or finds that it was started. */
  async send(service: string, key: string, body: JsonValue, signal?: AbortSignal | undefined): Promise<void> {
    const path = `/${service}/${encodeURIComponent(key)}/run/send`;
    await this.#text("ingress", path, body, { passed: [409], method: "POST", signal });
  }

  async call(target: Target, body: JsonValue, signal?: AbortSignal | undefined): Promise<JsonValue> {
    const path = `/${target.service}/${encodeURIComponent(target.key)}/${target.handler}`;
    const text = await this.#text("ingress", path, body, { method: "POST", signal });
    return (text === "" ? {} : JSON.parse(text)) as JsonValue; // what the handler answers
  }

  /** What a run ended with, once it has. */
  async attach(service: string, key: string, signal?: AbortSignal | undefined): Promise<JsonValue> {
    while (true) {
      const waiting = AbortSignal.any([AbortSignal.timeout(120_000), ...(signal ? [signal] : [])]);
      try {
        const path = `/restate/workflow/${service}/${encodeURIComponent(key)}/attach`;
        return JSON.parse(await this.#text("ingress", path, undefined, { signal: waiting }));
      } catch (error) {
        signal?.throwIfAborted();
        if (!waiting.aborted) throw error; // it only takes longer than one request may
      }
    }
  }

  async cancel(service: string, key: string): Promise<boolean> {
    const rows = await this.runs(service, `target_service_key = ${quoted(key)} and status <> 'completed'`);
    for (const { id } of rows) await this.#ask("admin", `/invocations/${id}/cancel`, undefined, [404], "PATCH");
    return rows.length > 0;
  }

  /** Runs as the engine sees them. `where` is SQL over its table of invocations. */
  async runs(service: string, where = "true"): Promise<InvocationRow[]> {
    const query = `select id, target_service_key as key, status, retry_count as attempts from sys_invocation where target_service_name = ${quoted(service)} and target_handler_name = 'run' and (${where}) order by created_at`;
    return (await this.query(query)) as unknown as InvocationRow[]; // the columns of the query
  }

  /** What runs ask now. */
  async questions(service: string): Promise<AskedRow[]> {
    const rows = await this.query(
      `select service_key, key, value_utf8 from state where service_name = ${quoted(service)} and key like '${asksPrefix}%'`,
    );
    return rows.map(({ service_key, key, value_utf8 }) => {
      return { runId: String(service_key), name: String(key).slice(asksPrefix.length), asks: JSON.parse(String(value_utf8)) };
    });
  }

  /** Workers as the engine knows them, with the runs that began there and have not ended: those stay with them. */
  async deployments(): Promise<DeploymentRow[]> {
    const known = await this.query("select id, endpoint, created_at from sys_deployment order by created_at");
    const busy = await this.query(
      "select pinned_deployment_id as id, count(*) as runs from sys_invocation where status <> 'completed' and pinned_deployment_id is not null group by pinned_deployment_id",
    );
    const runs = new Map(busy.map((row) => [row["id"], Number(row["runs"])]));
    return known.map(({ id, endpoint }) => ({ id: String(id), endpoint: String(endpoint), runs: runs.get(id ?? null) ?? 0 }));
  }

  /** The engine forgets workers that are gone for good. */
  async forget(deploymentId: string): Promise<void> {
    await this.#ask("admin", `/deployments/${deploymentId}?force=true`, undefined, [404], "DELETE");
  }

  /** Whether a run has come to its end, or is not known any more. */
  async hasEnded(service: string, key: string): Promise<boolean> {
    return (await this.runs(service, `target_service_key = ${quoted(key)} and status <> 'completed'`)).length === 0;
  }

  /** Whether workers that offer it were ever made known. */
  async knowsService(service: string): Promise<boolean> {
    return (await this.query(`select name from sys_service where name = ${quoted(service)}`)).length > 0;
  }

  async query(query: string): Promise<JsonObject[]> {
    const { rows } = (await this.#json("admin", "/query", { query })) as { rows: JsonObject[] };
    return rows;
  }

  async isHealthy(): Promise<boolean> {
    return (await this.troubles()).length === 0;
  }

  /** What is wrong with its doors, in words; empty when both are open. */
  async troubles(): Promise<string[]> {
    const doors = [
      ["ingress", "/restate/health"],
      ["admin", "/health"],
    ] as const;
    const found = await Promise.all(doors.map(async ([door, path]) => await troubleOf(door, this.#address[door], path)));
    return found.flatMap((trouble) => trouble ?? []);
  }

  async #json(door: keyof RestateAddress, path: string, body: JsonValue): Promise<JsonObject> {
    const text = await this.#ask(door, path, body);
    return (text === "" ? {} : JSON.parse(text)) as JsonObject; // of the engine's own interface
  }

  async #ask(
    door: keyof RestateAddress,
    path: string,
    body?: JsonValue,
    passed: readonly number[] = [],
    method = "POST",
  ): Promise<string> {
    return await this.#text(door, path, body === undefined ? null : body, { passed, method });
  }

  async #text(
    door: keyof RestateAddress,
    path: string,
    body: JsonValue | undefined,
    { passed = [], method = "GET", signal }: Asking = {},
  ): Promise<string> {
    const begunAt = Date.now();
    const isOver = (): boolean => Date.now() - begunAt > this.#patienceMs;
    for (let attempt = 1; ; attempt++) {
      try {
        const response = await fetch(`${this.#address[door]}${path}`, {
          method,
          headers: { accept: "application/json", ...(method === "POST" && { "content-type": "application/json" }) },
          ...(method === "POST" && { body: JSON.stringify(body) }),
          ...(signal && { signal }),
        });
        const text = await response.text();
        const { status } = response;
        if (status < 500 && status !== 429) this.#isAway = false;
        if (response.ok || passed.includes(status)) return text;
        const shown = `The engine answered ${response.status} to ${method} ${path.split("?")[0]}: ${text.slice(0, 300)}`;
        const isLater = [429, 502, 503, 504].includes(status);
        if ((status < 500 && !isLater) || (isOver() && !(signal && isLater))) throw new EngineFailed(shown, { status });
      } catch (error) {
        if (error instanceof EngineFailed || signal?.aborted) throw error;
        if (isOver() && !signal) throw new EngineFailed(`The engine at ${this.#address[door]} does not answer`, { cause: error });
      }
      if (Date.now() - begunAt > longMs) this.#away(door);
      await delay(Math.min(1_000, 50 * 2 ** attempt), undefined, { signal });
    }
  }

  #away(door: keyof RestateAddress): void {
    if (this.#isAway) return;
    this.#isAway = true;
    this.#onAway(`The engine at ${this.#address[door]} does not answer; it is waited for`);
  }
}

/** Waiting for so long is worth a word. */
const longMs = 10_000;

async function troubleOf(door: keyof RestateAddress, address: string, path: string): Promise<string | undefined> {
  try {
    const { ok, status } = await fetch(`${address}${path}`, { signal: AbortSignal.timeout(2_000) });
    return ok ? undefined : `The ${door} of the engine at ${address} answers ${status} to ${path}`;
  } catch {
    return `The ${door} of the engine at ${address} does not answer`;
  }
}

/** A text in the engine's SQL. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
