/** What the server refused, or that it cannot be reached (`status` 0). */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

export type Frame = { readonly type: string; readonly [key: string]: unknown };
type Method = "GET" | "POST" | "PATCH" | "DELETE";

const keyName = "outrider-page-key";
const unreachable = "The server cannot be reached";

/**
 * Asks the server that this page came from. The cookie goes along by itself; the key, which other sites and other ports cannot read, says
 * that it was this page that asked.
 */
export class Api {
  #key: string | undefined = readKey();
  /** Called when the server lets the page in no more. */
  onSignedOut: () => void = () => {};

  get isSignedIn(): boolean {
    return this.#key !== undefined;
  }

  /** `isShared`: of this tab alone, beside whoever is signed in in the others. */
  async signIn(token: string, { isShared = false }: { isShared?: boolean } = {}): Promise<void> {
    const { key } = await this.#ask<{ key: string }>("POST", "/v1/page/login", { headers: { authorization: `Bearer ${token}` } });
    this.#key = key;
    keep(isShared ? "session" : "local", key);
  }

  async signOut(): Promise<void> {
    await this.send("DELETE", "/v1/page/login").catch(() => undefined); // it is forgotten here in any case
    this.#forget();
  }

  async get<T>(path: string, signal?: AbortSignal): Promise<T> {
    return await this.#ask<T>("GET", path, { signal });
  }

  async send<T>(method: Exclude<Method, "GET">, path: string, body?: unknown, key?: string): Promise<T> {
    const headers = key === undefined ? {} : { "idempotency-key": key };
    return await this.#ask<T>(method, path, { body, headers });
  }

  /** Events until the stream ends, one way or the other. Rejects when there is none. Only what is stored has an id. */
  async watch(path: string, onFrame: (frame: Frame, isStored: boolean) => void, signal: AbortSignal): Promise<void> {
    const response = await this.#fetch("GET", path, { signal, headers: { accept: "text/event-stream" } });
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    if (!reader) return;
    let rest = "";
    for (;;) {
      const { done, value = "" } = await reader.read().catch(() => ({ done: true, value: "" }));
      if (done) return;
      const blocks = (rest + value).split("\n\n");
      rest = blocks.pop() ?? "";
      for (const block of blocks) {
        const lines = block.split("\n");
        const data = lines.find((line) => line.startsWith("data: "));
        if (data)
          onFrame(
            JSON.parse(data.slice(6)) as Frame,
            lines.some((line) => line.startsWith("id: ")),
          );
      }
    }
  }

  async #ask<T>(method: Method, path: string, options: Asking): Promise<T> {
    const response = await this.#fetch(method, path, options);
    return (response.status === 204 ? undefined : await response.json().catch(() => undefined)) as T;
  }

  async #fetch(method: Method, path: string, { body, headers = {}, signal }: Asking): Promise<Response> {
    const response = await fetch(path, {
      ...{ method, credentials: "same-origin", cache: "no-cache", redirect: "error" },
      headers: {
        ...(this.#key !== undefined && headers["authorization"] === undefined && { "outrider-page": this.#key }),
        ...(body !== undefined && { "content-type": "application/json" }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
    }).catch(() => undefined);
    if (!response) throw new ApiError(0, "unreachable", unreachable);
    if (response.ok) return response;
    const problem = (await response.json().catch(() => ({}))) as { code?: string; detail?: string };
    if (response.status === 401 && headers["authorization"] === undefined) this.#forget();
    throw new ApiError(response.status, problem.code ?? "internal", problem.detail ?? `The server answers ${response.status}`);
  }

  #forget(): void {
    this.#key = undefined;
    for (const storage of [sessionStorage, localStorage]) storage.removeItem(keyName);
    this.onSignedOut();
  }
}

type Asking = { readonly body?: unknown; readonly headers?: Record<string, string>; readonly signal?: AbortSignal | undefined };

function readKey(): string | undefined {
  return sessionStorage.getItem(keyName) ?? localStorage.getItem(keyName) ?? undefined;
}

function keep(where: "session" | "local", key: string): void {
  (where === "session" ? sessionStorage : localStorage).setItem(keyName, key);
}
