import type { Fetch } from "../bounded-fetch.ts";
import { NeedsLogin } from "../connect-failure.ts";

const patienceMs = 30_000;
const maxBytes = 1_048_576;

/** What is asked of authorization servers, whose addresses a server of tools has named: bounded in time and length, and failures in words. */
export class AuthorizationRequests {
  readonly #patience: number;
  #last = "the authorization server";
  #trouble: string | undefined;

  constructor({ patience = patienceMs }: { readonly patience?: number } = {}) {
    this.#patience = patience;
  }

  /** Why the last request brought nothing, when it did not. */
  get trouble(): string | undefined {
    return this.#trouble;
  }

  readonly fetch: Fetch = async (input, init) => {
    const { origin, pathname } = new URL(input);
    this.#last = `${origin}${pathname}`;
    this.#trouble = undefined;
    const late = AbortSignal.timeout(this.#patience);
    const signal = init?.signal ? AbortSignal.any([init.signal, late]) : late;
    try {
      const response = await fetch(input, { ...init, signal });
      const body = await readBody(response);
      this.#trouble = response.ok
        ? `${this.#last} gave an answer that cannot be used`
        : `${this.#last} answered HTTP ${response.status}`;
      return new Response(body, response);
    } catch (error) {
      this.#trouble = late.aborted ? `${this.#last} did not answer within ${this.#patience} ms` : this.#failure(error);
      throw new TypeError(this.#trouble, { cause: error }); // what `fetch` throws: the client goes by that
    }
  };

  /** What went wrong, for people: the client's own errors are of its schemas, and quote whole answers. They are not its cause, which is shown too. */
  explain(error: unknown): unknown {
    if (!(error instanceof Error) || error instanceof NeedsLogin) return error;
    return new Error(clip(this.#explanation(error)));
  }

  #explanation(error: Error): string {
    const { code, issues } = error as { code?: unknown; issues?: unknown };
    if (error instanceof SyntaxError) return `${this.#last} answered with something that is no JSON`;
    if (Array.isArray(issues)) return `${this.#last} gave an answer that cannot be used: ${issues.map(toProblem).join("; ")}`;
    // The client has no other code for an answer that it could not read.
    if (code === "server_error" && this.#trouble !== undefined) return this.#trouble;
    if ("submittedMetadata" in error) return `${this.#last} does not register us: ${refusalIn(error)}`;
    if (typeof code === "string" && error.name === "OAuthError")
      return `${this.#last} refused: ${[...new Set([code, error.message])].filter((part) => part !== "").join(", ")}`;
    return error.message;
  }

  #failure(error: unknown): string {
    const { message, cause } = Object(error) as { message?: unknown; cause?: unknown };
    const why = cause instanceof Error && cause.message !== "" ? cause.message : message;
    return `${this.#last} cannot be asked: ${String(why)}`;
  }
}

async function readBody(response: Response): Promise<Buffer | null> {
  if (!response.body) return null;
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body) {
    length += chunk.length;
    if (length > maxBytes) throw new Error(`it answered with more than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function toProblem(issue: unknown): string {
  const { path, message } = Object(issue) as { path?: unknown; message?: unknown };
  const where = Array.isArray(path) ? path.map(String).join(".") : "";
  return `${where === "" ? "" : `${where}: `}${String(message)}`;
}

/** The refusal of a registration as the protocol has it, else no more than its status. */
function refusalIn(error: Error): string {
  const { status, body } = error as { status?: unknown; body?: unknown };
  try {
    const { error: code, error_description: why } = JSON.parse(String(body)) as { error?: unknown; error_description?: unknown };
    if (typeof code === "string") return typeof why === "string" ? `${code}, ${why}` : code;
  } catch {
    // a page for people
  }
  return `HTTP ${String(status)}`;
}

function clip(text: string): string {
  return text.length > 1_000 ? `${text.slice(0, 1_000)}…` : text;
}
