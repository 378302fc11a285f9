import type { SessionRequest } from "./session-request.ts";

/** MCP servers as a program gives them: by name, or as files somebody wrote. */
export type GivenServers = Readonly<Record<string, unknown>> | NonNullable<SessionRequest["mcpServers"]>;

export function toServerFiles(given: GivenServers | undefined): SessionRequest["mcpServers"] {
  if (given === undefined || isList(given)) return given;
  return [{ value: given, source: "mcpServers" }];
}

function isList(given: GivenServers): given is NonNullable<SessionRequest["mcpServers"]> {
  return Array.isArray(given);
}
