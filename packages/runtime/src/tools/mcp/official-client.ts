// The official client is loaded through this file; what is not named here is in no build.
export {
  auth,
  Client,
  createPrivateKeyJwtAuth,
  extractWWWAuthenticateParams,
  requestJwtAuthorizationGrant,
  SSEClientTransport,
  StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";
