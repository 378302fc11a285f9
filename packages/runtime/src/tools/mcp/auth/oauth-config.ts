import { isJsonObject, type JsonObject } from "../../../protocol/content.ts";

/** How to log in to a server, where it cannot say so itself or should not be asked. */
export type OAuthConfig = {
  /** What we are called there, where somebody has registered us; else we register ourselves. */
  readonly clientId?: string;
  readonly clientSecret?: string;
  /** An https address where we are described, for servers that take that as a name. */
  readonly clientMetadataUrl?: string;
  /** Without a person, for CI: by the secret or the key of a program. */
  readonly grant?: "client_credentials" | "cross_app_access";
  /** `cross_app_access`: the token by which an identity provider knows the user, and where it is exchanged. */
  readonly identity?: {
    readonly tokenEndpoint: string;
    readonly clientId: string;
    readonly idToken: string;
    readonly clientSecret?: string;
  };
  /** PEM; signs who we are in the place of a secret. */
  readonly privateKey?: string;
  /** Of the signature; ES256 when absent. */
  readonly algorithm?: string;
  /** Words with spaces between them, in the place of those that the server names. */
  readonly scopes?: string;
  /** The port of this machine that a browser is sent back to; any free one when absent. */
  readonly callbackPort?: number;
  /** Where the authorization server describes itself. */
  readonly authServerMetadataUrl?: string;
};

const texts = [
  "clientId",
  "clientSecret",
  "clientMetadataUrl",
  "privateKey",
  "algorithm",
  "scopes",
  "authServerMetadataUrl",
] as const;
const known: readonly string[] = [...texts, "grant", "identity", "callbackPort"];

export function parseOAuth(value: unknown, problem: (text: string) => Error): OAuthConfig {
  if (!isJsonObject(value)) throw problem("oauth must be an object");
  const odd = Object.keys(value).find((key) => !known.includes(key));
  if (odd !== undefined) throw problem(`oauth.${odd} is not known; expected ${known.join(", ")}`);
  for (const key of texts)
    if (value[key] !== undefined && typeof value[key] !== "string") throw problem(`oauth.${key} must be a text`);
  const { grant, callbackPort, clientId, clientSecret, privateKey } = value;
  if (grant !== undefined && grant !== "client_credentials" && grant !== "cross_app_access")
    throw problem('oauth.grant can only be "client_credentials" or "cross_app_access"');
  if (grant !== undefined && (clientId === undefined || (clientSecret === undefined && privateKey === undefined)))
    throw problem("oauth.grant needs clientId and clientSecret or privateKey");
  const identity = isJsonObject(value["identity"]) ? value["identity"] : {};
  const isKnown = ["tokenEndpoint", "clientId", "idToken"].every((key) => typeof identity[key] === "string");
  if (grant === "cross_app_access" && !isKnown) throw problem("oauth.identity needs tokenEndpoint, clientId and idToken");
  const isPort = Number.isInteger(callbackPort) && Number(callbackPort) > 0 && Number(callbackPort) < 65_536;
  if (callbackPort !== undefined && !isPort) throw problem("oauth.callbackPort must be a port");
  return value as JsonObject & OAuthConfig; // each key was looked at
}
