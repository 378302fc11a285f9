/** MCP servers for sessions: connected once, offered as tools. The official client is loaded with it. */
export { type McpOptions, McpServers, type McpServerState } from "../tools/mcp/mcp-servers.ts";
export { type McpServerConfig, type McpServerConfigs, parseMcpServers } from "../tools/mcp/server-config.ts";
