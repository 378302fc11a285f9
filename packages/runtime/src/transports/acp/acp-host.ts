import type { CommandSummary } from "../../commands/command.ts";
import type { SessionStore } from "../../journal/store.ts";
import type { Effort } from "../../model/model.ts";
import type { AgentEvent } from "../../protocol/events.ts";
import type { PermissionMode } from "../../protocol/permission.ts";
import type { InteractiveSession } from "../../session/interactive-session.ts";
import type { SessionOptions } from "../../session/session-options.ts";
import type { McpServer, PermissionQuestion, SessionUpdate } from "./wire.ts";

/** What a client asks for when it wants a session, new or stored. */
export type SessionWish = {
  readonly cwd: string;
  readonly additionalDirectories: readonly string[];
  readonly mcpServers: readonly McpServer[];
  /** The stored session to go on with. */
  readonly resume?: string;
};

/** A session that could be started: what is wrong with it has been found, and nothing is stored or running yet. */
export interface PlannedSession {
  readonly sessionId: string;
  readonly cwd: string;
  /** Real paths of all folders that the client has opened; `cwd` when absent. */
  readonly folders?: readonly string[];
  /** Variables that no program of the session gets. */
  readonly withheld?: readonly string[];
  readonly provider: string;
  readonly model: string;
  /** The one that the client has named; absent where it has named none. */
  readonly chosenModel?: string | undefined;
  readonly models: readonly { readonly id: string; readonly description?: string }[];
  readonly permissionMode: PermissionMode;
  readonly mayBypass: boolean;
  /** How hard the model is to think; as it likes when absent. */
  readonly effort?: Effort | undefined;
  /** The client is asked; without it, what would be asked is denied. */
  readonly answersPermissions: boolean;
  /** What a prompt may begin with. */
  readonly commands: readonly CommandSummary[];
  price(call: AgentEvent<"message.ended" | "side-call.ended">): number | null;
  /** The same with another model, perhaps another provider's. */
  withModel(model: string): Promise<PlannedSession>;
  /** Called with the first prompt; opened by the caller, who listens from before that. */
  start(mode: PermissionMode, editor?: SessionOptions["editor"]): Promise<StartedSession>;
  /** Lets go of what was begun for it, whether it was started or not. */
  close(): Promise<void>;
}

export type StartedSession = Pick<
  InteractiveSession,
  | "open"
  | "submit"
  | "hasTurn"
  | "shown"
  | "abort"
  | "events"
  | "lastSeq"
  | "controls"
  | "openPermission"
  | "signalBeside"
  | "answerPermission"
  | "listCommands"
  | "shutdown"
>;

/** What a program brings along so that its sessions can be driven by clients. */
export interface AcpHost {
  readonly version: string;
  /** Undefined when nothing is stored: then there is nothing to list, load or delete. */
  readonly store: SessionStore | undefined;
  plan(wish: SessionWish): Promise<PlannedSession>;
  /** Rejects with `provider-auth` while there is no provider that could be asked. */
  checkKey(): Promise<void>;
  removeSession(sessionId: string): Promise<void>;
  /** Lets go of what sessions share, once all of them have ended. */
  close?(): Promise<void>;
  warn(line: string): void;
}

/** The other end of the connection. */
export interface AcpClient {
  /** Resolves when more may be sent; rejects when nobody is there any more. */
  update(sessionId: string, update: SessionUpdate): Promise<void>;
  /** Rejects at once when the signal aborts. */
  askPermission(question: PermissionQuestion, signal: AbortSignal): Promise<unknown>;
  /** Any other request; rejects where the client refuses it, and when nobody is there any more. Without it, the client's files and terminals are not used. */
  request?(method: string, params: object): Promise<unknown>;
}
