import type {
  AddClientAuthentication,
  OAuthClientInformationContext,
  OAuthClientMetadata,
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from "@modelcontextprotocol/client";
import { defined } from "../../../util/defined.ts";
import { randomUuid } from "../../../util/unique-ids.ts";
import { NeedsLogin } from "../connect-failure.ts";
import { AuthorizationRequests } from "./authorization-requests.ts";
import type { OAuthConfig } from "./oauth-config.ts";
import type { LoginStore } from "./login-store.ts";
import type { AskPerson } from "./login-ways.ts";
import { grantTypes, programTokenRequest } from "./program-grants.ts";

export type ServerLoginOptions = {
  readonly serverUrl: string;
  readonly oauth: OAuthConfig;
  /** Where logins are kept; without it only for as long as the connection lives. */
  readonly store?: LoginStore | undefined;
  /** Absent where nobody is there who could log in. */
  readonly person?: AskPerson | undefined;
};

/** What a server said when it did not let us in. */
export type Challenge = { readonly scope?: string | undefined; readonly resourceMetadataUrl?: URL | undefined };

/** The user's login at one server: what the official client's flow needs to know and to keep, and when that flow is run. */
export class ServerLogin implements OAuthClientProvider {
  readonly #options: ServerLoginOptions;
  /** Also of a login that is kept nowhere, such as one with the credentials of a program. */
  #tokens: StoredOAuthTokens | undefined;
  #client: StoredOAuthClientInformation | undefined;
  #discovery: OAuthDiscoveryState | undefined;
  #issuer = "";
  #resource: string;
  #verifier = "";
  #state = "";
  #address: URL | undefined;
  #scope: string | undefined;
  readonly #requests = new AuthorizationRequests();
  /** That the one which should renew the token was taken back, or came to nothing. */
  #isTakenBack = false;
  #renewing: Promise<void> | undefined;
  /** What was last read of the login: it is not read again for each request. */
  #known: Promise<StoredOAuthTokens | undefined> | undefined;
  /** The token that is being renewed. */
  #outworn: string | undefined;
  readonly addClientAuthentication?: AddClientAuthentication;
  readonly clientMetadataUrl?: string;
  readonly prepareTokenRequest?: NonNullable<OAuthClientProvider["prepareTokenRequest"]>;

  constructor(options: ServerLoginOptions, authentication?: AddClientAuthentication) {
    const { clientMetadataUrl, scopes } = options.oauth;
    this.#options = options;
    this.#resource = options.serverUrl;
    this.#scope = scopes;
    if (authentication) this.addClientAuthentication = authentication;
    if (clientMetadataUrl !== undefined) this.clientMetadataUrl = clientMetadataUrl;
    const { oauth } = options;
    const { fetch } = this.#requests;
    if (this.#isProgram)
      this.prepareTokenRequest = async (scope) =>
        await programTokenRequest(oauth, { scope, issuer: this.#issuer, resource: this.#resource, fetch });
  }

  async token(): Promise<string | undefined> {
    this.#known ??= this.tokens();
    return (await this.#known)?.access_token;
  }

  /**
   * Gets a token that may let us in where `used` did not: by the one that renews it, by the credentials of a program, or by a person.
   * `isShort`: the token is good, but for less than what is wanted.
   */
  async renew(used: string | undefined, { challenge, isShort }: { challenge: Challenge; isShort: boolean }): Promise<void> {
    this.#renewing ??= this.#renew(used, challenge, isShort).finally(() => {
      this.#renewing = undefined;
      this.#known = undefined;
    });
    await this.#renewing;
  }

  async #renew(used: string | undefined, challenge: Challenge, isShort: boolean): Promise<void> {
    const { person, oauth } = this.#options;
    const tokens = await this.tokens();
    if (tokens?.access_token !== used) return; // another process, or another call, was faster
    this.#isTakenBack = false;
    this.#outworn = tokens?.access_token;
    this.#scope = unite(
      this.#scope,
      isShort ? tokens?.scope : undefined,
      oauth.scopes === undefined || isShort ? challenge.scope : undefined,
    );
    if (!person && !this.#isProgram && (isShort || !tokens?.refresh_token))
      throw isShort ? needsMore(this.#scope) : tokens ? needsAnew("it came with nothing to renew it") : needsLogin();
    try {
      await this.#logIn(challenge, isShort);
    } catch (error) {
      throw this.#requests.explain(error);
    }
  }

  async #logIn(challenge: Challenge, isShort: boolean): Promise<void> {
    const { serverUrl } = this.#options;
    const { auth } = await import("../official-client.ts");
    await this.#useGivenMetadata();
    const flow = {
      serverUrl,
      ...defined({ scope: this.#scope, resourceMetadataUrl: challenge.resourceMetadataUrl }),
      fetchFn: this.#requests.fetch,
      forceReauthorization: isShort,
    };
    if ((await auth(this, flow)) === "AUTHORIZED") return;
    const { authorizationCode, iss } = await this.#comeBack();
    await auth(this, { ...flow, authorizationCode, ...defined({ iss }) });
  }

  async #comeBack(): Promise<{ authorizationCode: string; iss: string | undefined }> {
    if (!this.#options.person || !this.#address) throw needsLogin();
    const { searchParams } = await this.#options.person.visit(this.#address);
    const refusal = searchParams.get("error");
    if (refusal !== null) {
      const why = searchParams.get("error_description");
      throw new Error(`the authorization server refused the login: ${refusal}${why ? `, ${why}` : ""}`);
    }
    const code = searchParams.get("code");
    if (code === null || searchParams.get("state") !== this.#state)
      throw new Error("the address that came back does not belong to this login");
    return { authorizationCode: code, iss: searchParams.get("iss") ?? undefined };
  }

  get #isProgram(): boolean {
    return this.#options.oauth.grant !== undefined;
  }

  /** Somebody knows better than the server where its authorization server describes itself. */
  async #useGivenMetadata(): Promise<void> {
    const { oauth } = this.#options;
    if (oauth.authServerMetadataUrl === undefined || this.#discovery) return;
    const response = await this.#requests.fetch(oauth.authServerMetadataUrl);
    const metadata = (await response.json()) as NonNullable<OAuthDiscoveryState["authorizationServerMetadata"]>; // the client uses what fits
    this.#discovery = { authorizationServerUrl: metadata.issuer, authorizationServerMetadata: metadata };
  }

  // What the official client asks for.

  get redirectUrl(): string | undefined {
    return this.#isProgram ? undefined : (this.#options.person?.redirectUrl ?? "http://localhost/callback");
  }

  get clientMetadata(): OAuthClientMetadata {
    const { oauth } = this.#options;
    return {
      client_name: "Outrider",
      redirect_uris: this.redirectUrl === undefined ? [] : [this.redirectUrl],
      grant_types: oauth.grant ? [grantTypes[oauth.grant]] : ["authorization_code", "refresh_token"],
      response_types: this.#isProgram ? [] : ["code"],
      ...(oauth.scopes !== undefined && { scope: oauth.scopes }),
    };
  }

  state(): string {
    this.#state = randomUuid();
    return this.#state;
  }

  async clientInformation(context?: OAuthClientInformationContext): Promise<StoredOAuthClientInformation | undefined> {
    const { oauth, store, person } = this.#options;
    if (oauth.clientId !== undefined)
      return { client_id: oauth.clientId, ...(oauth.clientSecret !== undefined && { client_secret: oauth.clientSecret }) };
    const client = this.#client ?? (context && store ? (await store.load(context.issuer)).client : undefined);
    const { redirect_uris: places } = Object(client) as { redirect_uris?: readonly string[] };
    // We are sent back to another port each time, and not every server takes one that it was not told of.
    return person && places && !places.includes(person.redirectUrl) ? undefined : client;
  }

  async saveClientInformation(client: StoredOAuthClientInformation, context?: OAuthClientInformationContext): Promise<void> {
    const { oauth, store } = this.#options;
    if (oauth.clientId !== undefined) return;
    this.#client = client;
    if (context) await store?.saveClient(context.issuer, client);
  }

  async tokens(context?: OAuthClientInformationContext): Promise<StoredOAuthTokens | undefined> {
    const { store, serverUrl } = this.#options;
    const kept = this.#isProgram ? undefined : await store?.find(serverUrl);
    if (!kept) return this.#tokens;
    return context && context.issuer !== kept.issuer ? undefined : kept.tokens;
  }

  async saveTokens(tokens: StoredOAuthTokens, context?: OAuthClientInformationContext): Promise<void> {
    const { store, serverUrl } = this.#options;
    if (!/^[\x21-\x7e]+$/.test(tokens.access_token)) throw new Error("the authorization server gave a token that cannot be sent");
    const before = await this.tokens(context);
    // One that renews tokens stays good when the server gives no other.
    const kept = { ...(before?.refresh_token !== undefined && { refresh_token: before.refresh_token }), ...tokens };
    this.#tokens = kept;
    const issuer = context?.issuer ?? tokens.issuer;
    if (!this.#isProgram && issuer !== undefined) await store?.saveTokens(issuer, serverUrl, kept);
  }

  redirectToAuthorization(address: URL): void {
    if (!this.#options.person) throw this.#whyNot();
    if (!isPage(address)) throw new Error(`the page to log in at, ${address.href.split("?")[0]}, is none for a browser`);
    this.#address = address;
  }

  /** The client wants a person: what it had to renew the token was of no use. */
  #whyNot(): Error {
    const { trouble } = this.#requests;
    if (this.#isTakenBack) return needsAnew("the authorization server renews it no more");
    if (this.#outworn === undefined || trouble === undefined) return needsLogin();
    return new Error(`the login to it could not be renewed: ${trouble}`);
  }

  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier;
  }

  codeVerifier(): string {
    return this.#verifier;
  }

  saveAuthorizationServerUrl(url: string): void {
    this.#issuer = url;
  }

  saveResourceUrl(url: string): void {
    this.#resource = url;
  }

  saveDiscoveryState(state: OAuthDiscoveryState): void {
    this.#discovery = state;
  }

  discoveryState(): OAuthDiscoveryState | undefined {
    return this.#discovery;
  }

  async invalidateCredentials(what: "all" | "client" | "tokens" | "verifier" | "discovery"): Promise<void> {
    const { store, serverUrl } = this.#options;
    if (what === "all" || what === "client") this.#client = undefined;
    if (what === "all" || what === "discovery") this.#discovery = undefined;
    if (what !== "all" && what !== "tokens") return;
    this.#tokens = undefined;
    this.#isTakenBack = true;
    // Another process may have renewed them in the meantime: those are good.
    if ((await store?.find(serverUrl))?.tokens.access_token === this.#outworn) await store?.forget(serverUrl);
  }
}

function needsLogin(): NeedsLogin {
  return new NeedsLogin("HTTP 401: nobody has logged in to it; a token may also be given in a header");
}

function needsAnew(why: string): NeedsLogin {
  return new NeedsLogin(`HTTP 401: the login to it is not accepted, and ${why}: somebody has to log in anew`);
}

function needsMore(scope: string | undefined): NeedsLogin {
  return new NeedsLogin(`HTTP 403: the login is for less than it wants, which is the scope ${JSON.stringify(scope)}`, { scope });
}

/** A server must not make us open files or other programs. */
function isPage({ protocol, hostname }: URL): boolean {
  return protocol === "https:" || (protocol === "http:" && /^(?:127\.\d+\.\d+\.\d+|\[::1\]|(?:.*\.)?localhost)$/.test(hostname));
}

function unite(...scopes: readonly (string | undefined)[]): string | undefined {
  const words = new Set(scopes.flatMap((scope) => scope?.split(" ") ?? []).filter((word) => word !== ""));
  return words.size === 0 ? undefined : [...words].join(" ");
}
