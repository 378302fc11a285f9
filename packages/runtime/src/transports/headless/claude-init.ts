import { pricesAsOf } from "../../model/catalog-date.ts";
import type { SessionFacts } from "../../protocol/events.ts";
import type { Frame } from "./claude-frame.ts";

/** What `init` tells beside the session's own facts; as it is now, since it is told at the start of every turn. */
export type InitFacts = {
  readonly mcpServers?: () => readonly { readonly name: string; readonly status: string; readonly source?: string }[];
  /** Names of the slash commands that answer here. */
  readonly commands?: () => readonly string[];
  /** Where the provider's key comes from: the name of a variable, `settings` or `none`. */
  readonly keySource?: string;
};

export function toInitFields(facts: SessionFacts, { mcpServers, commands, keySource }: InitFacts): Frame {
  return {
    cwd: facts.cwd,
    tools: facts.tools,
    mcp_servers: (mcpServers?.() ?? []).map(({ name, status, source }) => ({ name, status, ...(source && { source }) })),
    model: facts.model.id,
    provider: facts.model.provider,
    permissionMode: facts.permissionMode,
    slash_commands: commands?.() ?? [],
    output_style: "default",
    agents: facts.agents ?? [],
    skills: [],
    plugins: [],
    apiKeySource: keySource ?? "none",
    fast_mode_state: "off",
    analytics_disabled: true,
    product_feedback_disabled: true,
    setting_sources: facts.settingSources ?? [],
    ...(facts.sandbox !== undefined && { sandbox: facts.sandbox }),
    price_as_of: pricesAsOf,
    claude_code_version: facts.version,
    outrider_version: facts.version,
    schema_version: 1,
  };
}
