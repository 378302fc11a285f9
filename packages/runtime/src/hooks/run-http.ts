import type { HookAction } from "./hook.ts";

export type HttpEnd =
  | { readonly ok: true; readonly body: string }
  | { readonly ok: false; readonly problem: string; readonly body: string };

const maxBody = 1024 * 1024;

/** Posts the input to the hook's address, which was checked when the settings were read. A redirect would lead elsewhere, so none is followed. */
export async function runHttpHook(
  action: HookAction & { type: "http" },
  request: {
    readonly input: string;
    readonly signal: AbortSignal;
    readonly variables: Readonly<Record<string, string | undefined>>;
  },
): Promise<HttpEnd> {
  const headers = Object.entries(action.headers).map(
    ([name, value]) => [name, fillIn(value, action, request.variables)] as const,
  );
  let response: Response;
  try {
    response = await fetch(action.url, {
      method: "POST",
      redirect: "manual",
      signal: request.signal,
      headers: { "content-type": "application/json", ...Object.fromEntries(headers) },
      body: request.input,
    });
  } catch (error) {
    request.signal.throwIfAborted();
    return { ok: false, problem: `${new URL(action.url).host} could not be reached: ${causeOf(error)}`, body: "" };
  }
  const body = await readBody(response);
  if (body === undefined) return { ok: false, problem: `its answer is longer than ${maxBody} bytes`, body: "" };
  if (response.status >= 300 && response.status < 400)
    return { ok: false, problem: `it answered with a redirect (${response.status}), which is not followed`, body };
  if (!response.ok) return { ok: false, problem: `it answered with status ${response.status}`, body };
  return { ok: true, body };
}

/** `$NAME` and `${NAME}` for the variables the hook lists; any other is empty, so that a header cannot give a secret away. */
function fillIn(
  text: string,
  action: HookAction & { type: "http" },
  variables: Readonly<Record<string, string | undefined>>,
): string {
  return text.replace(/\$(?:\{(\w+)\}|(\w+))/g, (_, braced: string | undefined, bare: string | undefined) => {
    const name = braced ?? bare ?? "";
    return action.variables.includes(name) ? (variables[name] ?? "") : "";
  });
}

async function readBody(response: Response): Promise<string | undefined> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body ?? []) {
    length += chunk.length;
    if (length > maxBody) return undefined; // leaving the loop cancels the rest
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message || error.message : error.message;
}
