/** Agents for clients of the Model Context Protocol: tools that run sessions, sessions as resources, commands as prompts. See docs/mcp-server.md. */
export { createMcpHost, type McpHost, type McpHostOptions, type McpWish } from "../transports/mcp-server/mcp-host.ts";
export {
  createMcpEndpoint,
  type McpEndpoint,
  type McpStdioOptions,
  serveMcpStdio,
} from "../transports/mcp-server/serve-mcp.ts";
