import type { Fetch } from "../bounded-fetch.ts";
import type { HttpConfig } from "../reach-options.ts";
import { LoginStore } from "./login-store.ts";
import type { LoginWays } from "./login-ways.ts";
import { type Challenge, ServerLogin } from "./server-login.ts";

/** How often one request may ask for more rights than the login has: a server that is never content must not ask a person for ever. */
const maxWider = 2;

/** Requests of a server with the user's login, which is renewed or widened when the server says so. */
export async function authorizedFetch(fetch: Fetch, config: HttpConfig, ways: LoginWays): Promise<Fetch> {
  if (Object.keys(config.headers).some((name) => name.toLowerCase() === "authorization")) return fetch; // somebody has given a token
  const login = await openLogin(config, ways);
  return async (input, init) => {
    let wider = 0;
    let isRenewed = false;
    for (;;) {
      const token = await login.token();
      const headers = new Headers(init?.headers);
      if (token !== undefined) headers.set("authorization", `Bearer ${token}`);
      const response = await fetch(input, { ...init, headers });
      const { isShort, challenge } = await readChallenge(response);
      const isLost = isShort ? wider++ >= maxWider : response.status !== 401 || isRenewed;
      if (isLost) return response;
      await response.body?.cancel();
      await login.renew(token, { challenge, isShort });
      if (!isShort) isRenewed = true;
    }
  };
}

/** The login that is kept for a server, or the beginning of one. */
export async function openLogin(config: HttpConfig, { loginFolder, person }: LoginWays): Promise<ServerLogin> {
  const { oauth = {}, url: serverUrl } = config;
  const store = loginFolder === undefined ? undefined : new LoginStore(loginFolder);
  const options = { serverUrl, oauth, store, person };
  const { clientId = "", privateKey, algorithm = "ES256" } = oauth;
  if (privateKey === undefined) return new ServerLogin(options);
  const { createPrivateKeyJwtAuth } = await import("../official-client.ts");
  const authentication = createPrivateKeyJwtAuth({ issuer: clientId, subject: clientId, privateKey, alg: algorithm });
  return new ServerLogin(options, authentication);
}

/** What a refusal says about the token that would do. `isShort`: there is one, and it is for too little. */
export async function readChallenge(response: Response): Promise<{ readonly isShort: boolean; readonly challenge: Challenge }> {
  if (response.status !== 401 && response.status !== 403) return { isShort: false, challenge: {} };
  const { extractWWWAuthenticateParams } = await import("../official-client.ts");
  const { scope, resourceMetadataUrl, error } = extractWWWAuthenticateParams(response);
  return { isShort: response.status === 403 && error === "insufficient_scope", challenge: { scope, resourceMetadataUrl } };
}
