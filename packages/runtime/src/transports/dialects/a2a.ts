import type { UserMessage } from "../../protocol/content.ts";
import { RuntimeError } from "../../protocol/errors.ts";
import type { Outcome } from "../../protocol/outcome.ts";
import { isRecord } from "../../util/is-record.ts";
import type { Piece } from "./turn-pieces.ts";

/** What a client of A2A 1.0 asks for, over JSON-RPC. A context is a session, and a task is one of its turns. */
export type A2aRequest = { readonly id: string | number | null } & (
  | ({ readonly method: "SendMessage" | "SendStreamingMessage" } & A2aMessage)
  | { readonly method: "GetTask" | "CancelTask" | "SubscribeToTask"; readonly taskId: string }
  | ({ readonly method: "ListTasks" } & A2aListing)
);

type A2aMessage = {
  readonly contextId?: string;
  /** The task that it is meant for. */
  readonly taskId?: string;
  readonly message: UserMessage;
  /** The client asks again, or subscribes, and does not wait for the end. */
  readonly returnsAtOnce: boolean;
};

export const a2aErrors = {
  noMethod: -32601,
  badRequest: -32602,
  internal: -32603,
  taskNotFound: -32001,
  notCancelable: -32002,
  noPush: -32003,
  unsupported: -32004,
  contentType: -32005,
  noExtendedCard: -32007,
} as const;

/** What A2A has a number for. */
export class A2aProblem extends Error {
  readonly number: number;

  constructor(number: number, message: string) {
    super(message);
    this.number = number;
  }
}

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
      return { id: requestId, method, ...decodeMessage(given) };
    case "GetTask":
    case "CancelTask":
    case "SubscribeToTask":
      if (typeof given["id"] !== "string") throw new RuntimeError("usage", "id is required");
      return { id: requestId, method, taskId: given["id"] };
    case "ListTasks":
      return { id: requestId, method, ...decodeListing(given) };
    case "GetExtendedAgentCard":
      throw new A2aProblem(a2aErrors.noExtendedCard, "There is no other card than the public one");
    default:
      if (method.includes("PushNotificationConfig"))
        throw new A2aProblem(a2aErrors.noPush, "Nobody is called back: use SubscribeToTask");
      throw new A2aProblem(a2aErrors.noMethod, `There is no method ${method}: this is A2A 1.0 (SendMessage, GetTask …)`);
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

function decodeMessage({ message, configuration }: Record<string, unknown>): A2aMessage {
  const { contextId, taskId, parts } = isRecord(message) ? message : {};
  const content = (Array.isArray(parts) ? parts : []).map(toContent);
  if (content.length === 0) throw new RuntimeError("usage", "message must have parts");
  return {
    ...(typeof contextId === "string" && contextId !== "" && { contextId }),
    ...(typeof taskId === "string" && taskId !== "" && { taskId }),
    message: { role: "user", content },
    returnsAtOnce: isRecord(configuration) && configuration["returnImmediately"] === true,
  };
}

/** Data is text to a model, too. */
function toContent(part: unknown): UserMessage["content"][number] {
  if (!isRecord(part)) throw new RuntimeError("usage", "A part must be an object");
  const { text, raw, data, mediaType } = part;
  if (typeof text === "string") return { type: "text", text };
  if (typeof raw === "string" && typeof mediaType === "string" && mediaType.startsWith("image/"))
    return { type: "image", mediaType, data: raw };
  if (data !== undefined) return { type: "text", text: JSON.stringify(data) };
  throw new A2aProblem(a2aErrors.contentType, "A part must be a text, data, or an image with raw bytes");
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

/** One task as it goes on: what is told of it, and where it stands. Its artifact is the latest answer, as far as it has come. */
export class A2aEvents {
  readonly #place: { readonly taskId: string; readonly contextId: string };
  readonly #now: () => number;
  #status: A2aTask["status"];
  #answer = "";
  /** The next words begin another answer. */
  #isNew = true;

  constructor({ taskId, contextId, now }: { readonly taskId: string; readonly contextId: string; readonly now: () => number }) {
    this.#place = { taskId, contextId };
    this.#now = now;
    this.#status = this.#toStatus(state.working);
  }

  get task(): A2aTask {
    const { taskId: id, contextId } = this.#place;
    const artifacts = this.#answer === "" ? [] : [{ artifactId: "answer", parts: [{ text: this.#answer }] }];
    return { id, contextId, status: this.#status, artifacts };
  }

  get isOver(): boolean {
    return this.#status.state !== state.working;
  }

  of(piece: Piece): object[] {
    switch (piece.type) {
      case "call":
        return [this.#become(state.working, `Uses ${piece.name}`)];
      case "block-delta":
        return piece.kind === "text" ? [this.#say(piece.text)] : [];
      case "answer-end":
        this.#isNew = true;
        return [];
      case "turn-end":
        return this.#end(piece.outcome);
      default:
        return [];
    }
  }

  /** Nothing more comes of the turn. */
  close(): object[] {
    return this.isOver ? [] : [this.#become(state.failed, "The session was closed before the turn had ended")];
  }

  #say(text: string, lastChunk = false): object {
    const append = !this.#isNew;
    this.#answer = append ? this.#answer + text : text;
    this.#isNew = false;
    return { artifactUpdate: { ...this.#place, artifact: { artifactId: "answer", parts: [{ text }] }, append, lastChunk } };
  }

  #become(how: string, text?: string): object {
    this.#status = this.#toStatus(how, text);
    return { statusUpdate: { ...this.#place, status: this.#status } };
  }

  /** What was told before a provider failed and was asked again is taken back here. */
  #end(outcome: Outcome): object[] {
    const how = outcome.type === "completed" ? state.completed : outcome.type === "cancelled" ? state.cancelled : state.failed;
    const reason =
      outcome.type === "failed" ? outcome.error.message : outcome.type === "stopped" ? `Stopped: ${outcome.limit}` : outcome.text;
    const hasAnswer = outcome.text !== "" || this.#answer !== "";
    this.#isNew = outcome.text !== this.#answer;
    const last = hasAnswer ? [this.#say(this.#isNew ? outcome.text : "", true)] : [];
    return [...last, this.#become(how, reason)];
  }

  #toStatus(how: string, text = ""): A2aTask["status"] {
    const timestamp = new Date(this.#now()).toISOString();
    if (text === "") return { state: how, timestamp };
    const message = { messageId: `${this.#place.taskId}-status`, role: "ROLE_AGENT", ...this.#place, parts: [{ text }] };
    return { state: how, message, timestamp };
  }
}
