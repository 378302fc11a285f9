import type { CatalogOverride } from "../../model/catalog-override.ts";
import type { WorkCeilings } from "../../session/tasks/finish-work.ts";
import type { JsonObject, JsonValue } from "../../protocol/content.ts";
import type { AgentEvent } from "../../protocol/events.ts";
import type { CancelCause } from "../../protocol/outcome.ts";
import type { InteractiveSession } from "../../session/interactive-session.ts";
import type { McpServers } from "../../tools/mcp/mcp-servers.ts";
import type { McpServerConfigs } from "../../tools/mcp/server-config.ts";
import type { LineOutput } from "../headless/line-output.ts";
import type { OutputFormat, ShownOutcome } from "../headless/output-format.ts";
import type { ControlTargets } from "./control-requests.ts";
import type { HostMcpTransport } from "./host-mcp-transport.ts";
import type { HostNoticesOptions, PromptsView } from "./host-notices.ts";
import type { LiveSetup } from "./initialize.ts";
import type { Tool } from "../../tools/tool.ts";
import type { Redactor } from "../../util/redact.ts";
import type { PermissionAnswerer } from "../../hosting/permission-answers.ts";

/** A session as the live driver needs it. */
export type LiveSession = {
  readonly session: InteractiveSession;
  readonly format: OutputFormat;
  readonly mcp: McpServers | undefined;
  /** Who answers permission questions: the host, somebody else, or nobody. */
  readonly permissions: "host" | PermissionAnswerer | undefined;
  /** Is told everything that happens, beside the output. Must not throw. */
  readonly alsoTo?: ((event: AgentEvent) => void) | undefined;
};

export type LiveOptions = {
  readonly input: AsyncIterable<Uint8Array>;
  readonly output: LineOutput;
  readonly sessionId: string;
  readonly newId: () => string;
  /** How long tasks are waited for when nothing more is asked. */
  readonly ceilings?: WorkCeilings | undefined;
  /** Encodes a result where there is no session that could say more. */
  readonly early: OutputFormat;
  /** Called once, for the first prompt or the first request that needs a session. */
  readonly open: (setup: LiveSetup, ways: LiveWays) => Promise<LiveSession>;
  /** What `initialize` is answered. */
  readonly describe: (setup: LiveSetup) => Promise<JsonObject>;
  readonly parseServers: (value: JsonValue | undefined) => McpServerConfigs;
  /** Another model of the provider, by its id or by a word for it. */
  readonly resolveModel?: (name: string) => Promise<string>;
  readonly settings: () => JsonObject | Promise<JsonObject>;
  /** Puts files back to where they were when a turn began. */
  readonly rewind: (turnId: string, dryRun: boolean, session: ControlTargets["session"]) => Promise<JsonObject>;
  readonly replayUserMessages: boolean;
  /** The host is told of the hooks of the session's end, and of those that end with it. */
  readonly finishesHooks?: boolean | undefined;
  /** Filled in by the driver; encoders look at it. */
  readonly prompts?: PromptsView;
  /** Which notices the host wants beside the conversation. */
  readonly notices?: Pick<HostNoticesOptions, "fates" | "states">;
  /** No prompt is begun before the host has sent `initialize`. */
  readonly awaitInitialize?: boolean;
  /** What the host shows beside the options of a question: `markdown` or `html`. */
  readonly previewFormat?: string | undefined;
  /** Prices beside the built-in ones. */
  readonly catalogOverride?: CatalogOverride | undefined;
  /** Caliban's rule: a line that cannot be used ends the input, and input without a prompt is an error. Otherwise lines are skipped with a warning. */
  readonly strict?: boolean;
  readonly warn: (message: string) => void;
  /** Hides secrets in what the driver itself has to say; what a session says was masked there. */
  readonly redactor?: Redactor | undefined;
};

/** What a session can reach in the host. */
export type LiveWays = {
  readonly hostTransport: (server: string) => HostMcpTransport;
  /** Tools that talk to the person behind the host; for sessions whose permission questions the host answers. */
  readonly hostTools: () => Tool[];
  /** Shows the host lines that were written to a file it keeps a copy of. */
  readonly mirror: (filePath: string, entries: JsonObject[]) => void;
  /** Only with a host that has introduced itself: another one would not know what to answer. */
  readonly elicit?: (server: string, request: JsonObject, signal: AbortSignal) => Promise<JsonObject>;
};

export interface LiveRun {
  /** Ends the running turn and drops what waits; the run then ends in its own way. */
  stop(cause: CancelCause): void;
  /** How the last prompt went. Never rejects. */
  readonly done: Promise<ShownOutcome>;
}
