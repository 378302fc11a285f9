import { createHash, randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

type Grant = { readonly scope: string; readonly challenge: string; readonly redirect: string };

/** An MCP server over HTTP and the authorization server it trusts, in one, on this machine. */
export type OAuthServer = {
  readonly url: string;
  /** What was asked of the authorization server, and by whom. */
  readonly asked: { readonly what: string; readonly scope?: string; readonly client?: string }[];
  /** From now on no token is good. */
  expireTokens(): void;
  /** From now on no token renews another. */
  revokeAll(): void;
  close(): void;
};

/** What a server that lies, refuses or breaks says in the place of what it should; nothing where it behaves. */
export type Lie =
  | { readonly status?: number; readonly body?: object | string; readonly headers?: Readonly<Record<string, string>> }
  | "hang"
  | undefined;

type Asked = { readonly origin: string; readonly query: URLSearchParams; readonly body: string };

/** By the path that was asked. */
export type Lies = Readonly<Record<string, (asked: Asked) => Lie>>;

/** How the authorization server describes itself. */
export function metadataOf(origin: string): object {
  return {
    issuer: origin,
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    registration_endpoint: `${origin}/register`,
    response_types_supported: ["code"],
    grant_types_supported: ["authorization_code", "refresh_token", "client_credentials"],
    code_challenge_methods_supported: ["S256"],
    token_endpoint_auth_methods_supported: ["none", "client_secret_basic"],
  };
}

const program = { id: "robot", secret: "robot-secret" };

export async function openOAuthServer({
  refreshes = true,
  lies = {},
}: {
  refreshes?: boolean;
  lies?: Lies;
} = {}): Promise<OAuthServer> {
  const asked: OAuthServer["asked"] = [];
  const codes = new Map<string, Grant>();
  const tokens = new Map<string, string>();
  const renewals = new Map<string, string>();
  let origin = "";

  const issue = (scope: string, isRenewable: boolean): object => {
    const token = randomUUID();
    tokens.set(token, scope);
    const renewal = randomUUID();
    if (isRenewable && refreshes) renewals.set(renewal, scope);
    return {
      access_token: token,
      token_type: "Bearer",
      scope,
      expires_in: 3600,
      ...(isRenewable && refreshes && { refresh_token: renewal }),
    };
  };

  const grant = (form: URLSearchParams, authorization: string | undefined): object | undefined => {
    const kind = form.get("grant_type") ?? "";
    const scope = form.get("scope") ?? "read";
    if (kind === "client_credentials") {
      const basic = Buffer.from(`${program.id}:${program.secret}`).toString("base64");
      asked.push({ what: kind, scope });
      return authorization === `Basic ${basic}` ? issue(scope, false) : undefined;
    }
    if (kind === "refresh_token") {
      const old = form.get("refresh_token") ?? "";
      const held = renewals.get(old);
      asked.push({ what: kind });
      renewals.delete(old);
      return held === undefined ? undefined : issue(held, true);
    }
    const code = codes.get(form.get("code") ?? "");
    codes.delete(form.get("code") ?? "");
    const verified = createHash("sha256")
      .update(form.get("code_verifier") ?? "")
      .digest("base64url");
    asked.push({ what: "authorization_code" });
    return code && code.challenge === verified && code.redirect === form.get("redirect_uri")
      ? issue(code.scope, true)
      : undefined;
  };

  const routes: Record<string, (request: IncomingMessage, response: ServerResponse, body: string) => void> = {
    "/.well-known/oauth-protected-resource/mcp": (_, response) =>
      json(response, 200, { resource: `${origin}/mcp`, authorization_servers: [origin] }),
    "/.well-known/oauth-authorization-server": (_, response) => json(response, 200, metadataOf(origin)),
    "/register": (_, response, body) => {
      asked.push({ what: "register" });
      json(response, 201, { ...JSON.parse(body), client_id: `client-${asked.length}`, token_endpoint_auth_method: "none" });
    },
    "/authorize": (request, response) => {
      const { searchParams } = new URL(request.url ?? "", origin);
      const [redirect, challenge, client, scope] = ["redirect_uri", "code_challenge", "client_id", "scope"].map(
        (name) => searchParams.get(name) ?? "",
      ) as [string, string, string, string];
      asked.push({ what: "authorize", scope, client });
      const code = randomUUID();
      codes.set(code, { scope, challenge, redirect });
      response.writeHead(302, { location: `${redirect}?code=${code}&state=${searchParams.get("state")}` }).end();
    },
    "/token": (request, response, body) => {
      const given = grant(new URLSearchParams(body), request.headers.authorization);
      json(response, given ? 200 : 400, given ?? { error: "invalid_grant" });
    },
    "/mcp": (request, response, body) => {
      const scope = tokens.get(request.headers.authorization?.replace("Bearer ", "") ?? "");
      const where = `resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp"`;
      if (scope === undefined) return void response.writeHead(401, { "www-authenticate": `Bearer scope="read", ${where}` }).end();
      if (request.method !== "POST") return void response.writeHead(405).end();
      const { id, method, params } = JSON.parse(body);
      if (id === undefined) return void response.writeHead(202).end();
      if (params?.name === "write" && !scope.split(" ").includes("write")) {
        const challenge = `Bearer error="insufficient_scope", scope="write", ${where}`;
        return void response.writeHead(403, { "www-authenticate": challenge }).end();
      }
      const tool = (name: string) => ({ name, inputSchema: { type: "object" } });
      const results: Record<string, unknown> = {
        initialize: { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "safe", version: "1" } },
        "tools/list": { tools: [tool("read"), tool("write")] },
        "tools/call": { content: [{ type: "text", text: `done with ${scope}` }] },
      };
      json(response, 200, { jsonrpc: "2.0", id, result: results[method] ?? {} });
    },
  };

  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    const { pathname, searchParams } = new URL(request.url ?? "", "http://x");
    const query = request.method === "POST" ? new URLSearchParams(body) : searchParams;
    const lie = lies[pathname]?.({ origin, query, body });
    const route = routes[pathname];
    if (lie === "hang") return;
    if (lie) tell(response, lie);
    else if (route) route(request, response, body);
    else response.writeHead(404).end();
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: `${origin}/mcp`,
    asked,
    expireTokens: () => tokens.clear(),
    revokeAll: () => renewals.clear(),
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

function json(response: ServerResponse, status: number, value: object): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
}

function tell(response: ServerResponse, { status = 200, body = "", headers = {} }: Exclude<Lie, "hang" | undefined>): void {
  const kind = typeof body === "object" ? "application/json" : "text/html";
  response.writeHead(status, { "content-type": kind, ...headers }).end(typeof body === "object" ? JSON.stringify(body) : body);
}
