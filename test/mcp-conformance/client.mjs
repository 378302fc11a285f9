// The client that the suite starts: the built library, with somebody in the place of the person who logs in and agrees to everything.
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const root = process.env.OUTRIDER_ROOT ?? process.cwd();
const { McpServers, parseMcpServers } = await import(pathToFileURL(join(root, "packages/runtime/dist/mcp.js")).href);
const url = process.argv.at(-1);
const scenario = process.env.MCP_CONFORMANCE_SCENARIO ?? "";
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? "{}");

/** What a user would write down for the server of the scenario. */
const oauths = {
  "auth/basic-cimd": { clientMetadataUrl: "https://conformance-test.local/client-metadata.json" },
  "auth/2025-03-26-oauth-metadata-backcompat": {
    authServerMetadataUrl: new URL("/.well-known/oauth-authorization-server", url).href,
  },
  "auth/client-credentials-basic": {
    grant: "client_credentials",
    clientId: context.client_id,
    clientSecret: context.client_secret,
  },
  "auth/client-credentials-jwt": {
    grant: "client_credentials",
    clientId: context.client_id,
    privateKey: context.private_key_pem,
    algorithm: context.signing_algorithm,
  },
  "auth/cross-app-access-complete-flow": {
    grant: "cross_app_access",
    clientId: context.client_id,
    clientSecret: context.client_secret,
    identity: { tokenEndpoint: context.idp_token_endpoint, clientId: context.idp_client_id, idToken: context.idp_id_token },
  },
  "auth/pre-registration": { clientId: context.client_id, clientSecret: context.client_secret },
};
const person = {
  redirectUrl: "http://localhost:3000/callback",
  async visit(address) {
    const response = await fetch(address, { redirect: "manual" });
    return new URL(response.headers.get("location"));
  },
};
const elicit = async () => ({ action: "accept", content: {} });
const mcp = new McpServers({ cwd: process.cwd(), env: {}, person, elicit });
const server = { url, ...(oauths[scenario] && { oauth: oauths[scenario] }) };
await mcp.connect(parseMcpServers({ s: server }, { source: "conformance", env: {} }));
const [state] = mcp.states;
process.stderr.write(`${state.status} ${state.error ?? ""}\n`);
const inputs = { add_numbers: { a: 5, b: 3 } };
for (const [index, { name }] of state.offers.entries())
  await mcp
    .call(state.tools[index], inputs[name] ?? {}, AbortSignal.timeout(20_000))
    .catch((error) => process.stderr.write(`${error.message}\n`));
await mcp.close();
process.exit(state.status === "connected" ? 0 : 1);
