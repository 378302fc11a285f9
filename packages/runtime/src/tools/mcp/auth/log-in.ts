import type { HttpConfig } from "../reach-options.ts";
import { openLogin, readChallenge } from "./authorized-fetch.ts";
import { LoginStore } from "./login-store.ts";
import type { AskPerson } from "./login-ways.ts";

/** A login by a person, kept for later runs. What was there before is replaced when it has worked. */
export async function logIn(
  config: HttpConfig,
  {
    loginFolder,
    person,
    scopes,
  }: { readonly loginFolder: string; readonly person: AskPerson; readonly scopes?: string | undefined },
): Promise<void> {
  const oauth = { ...config.oauth, ...(scopes !== undefined && { scopes }) };
  const login = await openLogin({ ...config, oauth }, { loginFolder, person });
  const { challenge } = await readChallenge(await knock(config));
  await login.renew(await login.token(), { challenge, isShort: true });
}

/** False when nobody was logged in. */
export async function logOut({ url }: HttpConfig, loginFolder: string): Promise<boolean> {
  return await new LoginStore(loginFolder).remove(url);
}

/** A server says only to those who come without a token where one is to be had. */
async function knock({ url, headers }: HttpConfig): Promise<Response> {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 0, method: "ping" });
  const accept = "application/json, text/event-stream";
  const response = await fetch(url, {
    method: "POST",
    headers: { ...headers, accept, "content-type": "application/json" },
    body,
    redirect: "manual",
    signal: AbortSignal.timeout(knockMs),
  });
  await response.body?.cancel();
  return response;
}

const knockMs = 30_000;
