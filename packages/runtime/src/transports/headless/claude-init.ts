import { pricesAsOf } from "../../model/catalog-date.ts";
import type { CommandSummary } from "../../commands/command.ts";
import type { SessionFacts } from "../../protocol/events.ts";
import type { Frame } from "./claude-frame.ts";
import type { AnsweredPrompts } from "./output-format.ts";
import { defined } from "../../util/defined.ts";

/** What `init` tells beside the session's own facts; as it is now, since it is told at the start of every turn. */
export type InitFacts = {
  readonly mcpServers?: (() => readonly McpServerFacts[]) | undefined;
  /** Names of the slash commands that answer here. */
  readonly commands?: (() => readonly string[]) | undefined;
  /** The same with what they are, for when there are more of them. */
  readonly listCommands?: (() => readonly CommandSummary[]) | undefined;
  /** Names of the skills that people may type and that say something about themselves. */
  readonly skills?: (() => readonly string[]) | undefined;
  /** Where the provider's key comes from: the name of a variable, `settings` or `none`. */
  readonly keySource?: string | undefined;
  /** Beta features of the API that were asked for. */
  readonly betas?: readonly string[] | undefined;
  /** Folders that belong to the work beside the working directory. */
  readonly additionalDirectories?: readonly string[] | undefined;
  readonly prompts?: (() => AnsweredPrompts) | undefined;
};

type McpServerFacts = {
  readonly name: string;
  readonly status: string;
  readonly source?: string;
  readonly error?: string;
  /** Absent where nobody could say from what was written how it is reached. */
  readonly reach?: object;
};

/** What a host may rely on, in the words its SDK looks for: an interrupt is answered with what still waits, and may cancel that too. */
const capabilities = ["interrupt_receipt_v1", "interrupt_cancel_queued_v1", "msg_lifecycle_v1"];

export function toInitFields(facts: SessionFacts, options: InitFacts): Frame {
  const { mcpServers, commands, skills, keySource, betas = [], additionalDirectories, prompts } = options;
  const uuids = prompts?.().uuids ?? [];
  return {
    cwd: facts.cwd,
    original_cwd: facts.cwd,
    additional_directories: additionalDirectories ?? [],
    tools: facts.tools,
    mcp_servers: (mcpServers?.() ?? []).map(({ name, status, source, error }) => ({
      name,
      status,
      ...(source && { source }),
      ...defined({ error }),
    })),
    ...wrongServers(mcpServers?.() ?? []),
    model: facts.model.id,
    provider: facts.model.provider,
    permissionMode: facts.permissionMode,
    slash_commands: commands?.() ?? [],
    output_style: facts.outputStyle ?? "default",
    agents: facts.agents ?? [],
    skills: skills?.() ?? [],
    plugins: facts.plugins ?? [],
    ...(facts.pluginErrors && { plugin_errors: facts.pluginErrors }),
    apiKeySource: keySource ?? "none",
    ...(betas.length > 0 && { betas }),
    fast_mode_state: "off",
    analytics_disabled: true,
    product_feedback_disabled: true,
    setting_sources: facts.settingSources ?? [],
    ...defined({ project_trust: facts.projectTrust, sandbox: facts.sandbox, places: facts.places }),
    price_as_of: pricesAsOf,
    claude_code_version: facts.version,
    outrider_version: facts.version,
    schema_version: 1,
    capabilities,
    ...(uuids.length > 0 && { user_message_uuids: uuids }),
  };
}

/** Servers that are not written as they should be, beside their places in `mcp_servers`. */
function wrongServers(servers: readonly McpServerFacts[]): Frame {
  const wrong = servers.filter(({ status, source, reach }) => status === "failed" && source !== "sdk" && reach === undefined);
  if (wrong.length === 0) return {};
  return { mcp_server_errors: wrong.map(({ name, error = "" }) => ({ name, type: "invalid_config", message: error })) };
}
