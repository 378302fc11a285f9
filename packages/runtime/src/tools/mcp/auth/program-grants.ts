import type { Fetch } from "../bounded-fetch.ts";
import type { OAuthConfig } from "./oauth-config.ts";

type Wanted = {
  readonly scope: string | undefined;
  /** The authorization server. */
  readonly issuer: string;
  /** The MCP server, as it calls itself. */
  readonly resource: string;
  readonly fetch: Fetch;
};

/** What to send for a token where no person is there. */
export async function programTokenRequest(
  { grant, identity }: OAuthConfig,
  { scope, issuer, resource, fetch }: Wanted,
): Promise<URLSearchParams> {
  const scoped = scope ? { scope } : {};
  if (grant !== "cross_app_access" || !identity) return new URLSearchParams({ grant_type: "client_credentials", ...scoped });
  const { requestJwtAuthorizationGrant } = await import("../official-client.ts");
  const { jwtAuthGrant } = await requestJwtAuthorizationGrant({
    ...{ ...identity, ...scoped, audience: issuer, resource, fetchFn: fetch },
  });
  return new URLSearchParams({ grant_type: grantTypes.cross_app_access, assertion: jwtAuthGrant, ...scoped });
}

/** As authorization servers call them. */
export const grantTypes = {
  client_credentials: "client_credentials",
  cross_app_access: "urn:ietf:params:oauth:grant-type:jwt-bearer",
} as const;
