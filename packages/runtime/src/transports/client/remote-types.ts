import type { Message } from "../../protocol/content.ts";
import type { AgentEvent } from "../../protocol/events.ts";
import type { PermissionMode } from "../../protocol/permission.ts";
import type { ErrorData } from "../../protocol/errors.ts";

/** A session in a list of the server. */
export type RemoteSummary = {
  readonly id: string;
  readonly name?: string;
  readonly cwd: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly prompt?: string;
  readonly turns?: number;
  readonly state: "working" | "open" | "stored";
};

/** A session of the server as it is now. */
export type RemoteSession = Partial<RemoteSummary> & {
  readonly id: string;
  readonly cwd: string;
  readonly state: "working" | "open" | "stored";
  /** The last stored event: `watch(id, { after })` goes on from here. */
  readonly storedSeq: number;
  readonly model?: string;
  readonly permissionMode?: PermissionMode;
  readonly waiting: readonly { readonly id: string; readonly mode: string; readonly isHeld: boolean }[];
  readonly questions: readonly AgentEvent<"permission.requested" | "interaction.requested">[];
};

/** What a stream tells: events of the session, and what the server itself says. */
export type ServerFrame =
  | AgentEvent
  /** The position was not known, or too old: this is what is so now. */
  | {
      readonly type: "resync";
      readonly sessionId: string;
      readonly session: RemoteSession;
      readonly messages: readonly Message[];
    }
  | { readonly type: "stream.ended"; readonly error: Pick<ErrorData, "code" | "message" | "retryable"> };
