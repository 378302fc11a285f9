import type { UserMessage } from "../../protocol/content.ts";
import { RuntimeError } from "../../protocol/errors.ts";
import type { Outcome } from "../../protocol/outcome.ts";
import { isRecord } from "../../util/is-record.ts";
import type { Piece } from "./turn-pieces.ts";

/** What a client of A2A 1.0 asks for, over JSON-RPC. A context is a session, and a task is one of its turns. */
export type A2aRequest = { readonly id: string | number | null } & (
  | { readonly method: "SendMessage" | "SendStreamingMessage"; readonly contextId?: string; readonly message: UserMessage }
  | { readonly method: "GetTask" | "CancelTask"; readonly taskId: string }
  | ({ readonly method: "ListTasks" } & A2aListing)
  | { readonly method: "unknown" }
);

/** Which tasks, and which page of them. */
export type A2aListing = {
  readonly contextId?: string;
  readonly status?: string;
  readonly pageSize: number;
  /** Where the page begins. */
  readonly start: number;
  readonly includeArtifacts: boolean;
};

const state = {
  working: "TASK_STATE_WORKING",
  completed: "TASK_STATE_COMPLETED",
  failed: "TASK_STATE_FAILED",
  cancelled: "TASK_STATE_CANCELED",
} as const;

export type A2aTask = {
  readonly id: string;
  readonly contextId: string;
  readonly status: { readonly state: string; readonly message?: object; readonly timestamp: string };
  readonly artifacts: readonly object[];
};

export function decodeA2aRequest(body: unknown): A2aRequest {
  const { jsonrpc, id, method, params } = isRecord(body) ? body : {};
  if (jsonrpc !== "2.0" || typeof method !== "string") throw new RuntimeError("usage", "This is no JSON-RPC request");
  const requestId = typeof id === "string" || typeof id === "number" ? id : null;
  const given = isRecord(params) ? params : {};
  switch (method) {
    case "SendMessage":
    case "SendStreamingMessage":
      return { id: requestId, method, ...decodeMessage(given["message"]) };
    case "GetTask":
    case "CancelTask":
      if (typeof given["id"] !== "string") throw new RuntimeError("usage", "id is required");
      return { id: requestId, method, taskId: given["id"] };
    case "ListTasks":
      return { id: requestId, method, ...decodeListing(given) };
    default:
      return { id: requestId, method: "unknown" };
  }
}

function decodeListing({
  contextId,
  status,
  pageSize = 50,
  pageToken = "",
  includeArtifacts,
}: Record<string, unknown>): A2aListing {
  if (!Number.isSafeInteger(pageSize) || Number(pageSize) < 1 || Number(pageSize) > 100)
    throw new RuntimeError("usage", "pageSize is 1 to 100");
  const start = pageToken === "" ? 0 : Number(pageToken);
  if (typeof pageToken !== "string" || !Number.isSafeInteger(start) || start < 0)
    throw new RuntimeError("usage", "pageToken is none of those that were given");
  return {
    pageSize: Number(pageSize),
    start,
    includeArtifacts: includeArtifacts === true,
    ...(typeof contextId === "string" && contextId !== "" && { contextId }),
    ...(typeof status === "string" && status !== "" && status !== "TASK_STATE_UNSPECIFIED" && { status }),
  };
}

/** The latest first. What they made comes only where it is asked for. */
export function listTasks(all: readonly A2aTask[], { contextId, status, pageSize, start, includeArtifacts }: A2aListing): object {
  const wanted = all.filter(
    (task) => (contextId === undefined || task.contextId === contextId) && (status === undefined || task.status.state === status),
  );
  const sorted = wanted.sort((one, other) => (one.status.timestamp < other.status.timestamp ? 1 : -1));
  const tasks = sorted.slice(start, start + pageSize).map((task) => (includeArtifacts ? task : { ...task, artifacts: [] }));
  const next = start + pageSize;
  return { tasks, nextPageToken: next < sorted.length ? String(next) : "", pageSize, totalSize: sorted.length };
}

function decodeMessage(value: unknown): { contextId?: string; message: UserMessage } {
  const { contextId, parts } = isRecord(value) ? value : {};
  const content = (Array.isArray(parts) ? parts : []).flatMap((part): UserMessage["content"] => {
    if (!isRecord(part)) return [];
    const { text, raw, mediaType } = part;
    if (typeof text === "string") return [{ type: "text", text }];
    if (typeof raw === "string" && typeof mediaType === "string" && mediaType.startsWith("image/"))
      return [{ type: "image", mediaType, data: raw }];
    throw new RuntimeError("usage", "A part must be a text, or an image with raw data");
  });
  if (content.length === 0) throw new RuntimeError("usage", "message must have parts");
  return { ...(typeof contextId === "string" && contextId !== "" && { contextId }), message: { role: "user", content } };
}

type CardFacts = {
  readonly url: string;
  readonly version: string;
  /** Requests need a token. */
  readonly isGuarded?: boolean | undefined;
};

/** What an agent says of itself, at `/.well-known/agent-card.json`. */
export function toAgentCard({ url, version, isGuarded = false }: CardFacts): object {
  return {
    name: "Outrider",
    description: "Runs coding agents: reads and changes files and runs commands as its own rules allow",
    version,
    supportedInterfaces: [{ url, protocolBinding: "JSONRPC", protocolVersion: "1.0" }],
    capabilities: { streaming: true, pushNotifications: false },
    ...(isGuarded && {
      securitySchemes: { token: { httpAuthSecurityScheme: { scheme: "Bearer" } } },
      securityRequirements: [{ schemes: { token: { list: [] } } }],
    }),
    defaultInputModes: ["text/plain", "image/png", "image/jpeg"],
    defaultOutputModes: ["text/plain"],
    skills: [
      { id: "run", name: "Run an agent", description: "Does what a prompt asks for in its folder", tags: ["code", "agent"] },
    ],
  };
}

/** One task as it goes on: what is streamed, and where it stands. */
export class A2aEvents {
  readonly #place: { readonly taskId: string; readonly contextId: string };
  readonly #now: () => number;
  #task: A2aTask;
  #hasText = false;

  constructor({ taskId, contextId, now }: { readonly taskId: string; readonly contextId: string; readonly now: () => number }) {
    this.#place = { taskId, contextId };
    this.#now = now;
    this.#task = { id: taskId, contextId, status: this.#status(state.working), artifacts: [] };
  }

  get task(): A2aTask {
    return this.#task;
  }

  get isOver(): boolean {
    return this.#task.status.state !== state.working;
  }

  of(piece: Piece): object[] {
    switch (piece.type) {
      case "turn-start":
        return [{ task: this.#task }];
      case "call":
        return [{ statusUpdate: { ...this.#place, status: this.#status(state.working, `Uses ${piece.name}`) } }];
      case "block-delta": {
        if (piece.kind !== "text") return [];
        const append = this.#hasText;
        this.#hasText = true;
        const artifact = { artifactId: "answer", parts: [{ text: piece.text }] };
        return [{ artifactUpdate: { ...this.#place, artifact, append, lastChunk: false } }];
      }
      case "turn-end":
        return [this.#end(piece.outcome)];
      default:
        return [];
    }
  }

  #end(outcome: Outcome): object {
    const how = outcome.type === "completed" ? state.completed : outcome.type === "cancelled" ? state.cancelled : state.failed;
    const reason =
      outcome.type === "failed" ? outcome.error.message : outcome.type === "stopped" ? `Stopped: ${outcome.limit}` : outcome.text;
    const status = this.#status(how, reason);
    const artifacts = outcome.text === "" ? [] : [{ artifactId: "answer", parts: [{ text: outcome.text }] }];
    this.#task = { ...this.#task, status, artifacts };
    return { statusUpdate: { ...this.#place, status } };
  }

  #status(how: string, text = ""): A2aTask["status"] {
    const timestamp = new Date(this.#now()).toISOString();
    if (text === "") return { state: how, timestamp };
    const message = { messageId: `${this.#place.taskId}-status`, role: "ROLE_AGENT", ...this.#place, parts: [{ text }] };
    return { state: how, message, timestamp };
  }
}
