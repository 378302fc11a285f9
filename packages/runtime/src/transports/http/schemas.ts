import type { JsonObject, JsonValue } from "../../protocol/content.ts";
import { permissionModes } from "../../protocol/permission.ts";
import { scopes } from "./client.ts";

// JSON Schemas of what goes in and out. A schema with a title is a component of the OpenAPI document under that name.

export const text: JsonObject = { type: "string", minLength: 1 };
/** As long as anybody reads. */
const sessionName: JsonObject = { ...text, maxLength: 500 };
const anyText: JsonObject = { type: "string" };
const count: JsonObject = { type: "integer", minimum: 0 };
const time: JsonObject = { type: "string", format: "date-time" };
const flag: JsonObject = { type: "boolean" };

/** Of a request: nothing else may be in it, so that a slip is told and not passed over. */
function strict(title: string, properties: Record<string, JsonObject>, required: readonly string[] = []): JsonObject {
  return {
    title,
    type: "object",
    properties,
    additionalProperties: false,
    ...(required.length > 0 && { required: [...required] }),
  };
}

/** Of an answer: later versions may tell more. */
function open(title: string, properties: Record<string, JsonObject>, required: readonly string[]): JsonObject {
  return { title, type: "object", properties, required: [...required] };
}

export function list(items: JsonObject): JsonObject {
  return { type: "array", items };
}

function oneOf(values: readonly JsonValue[]): JsonObject {
  return { enum: [...values] };
}

export const sessionWish: JsonObject = strict("SessionWish", {
  cwd: { ...text, description: "The folder to work in, below one of the allowed roots; the first of them when absent." },
  name: sessionName,
  model: text,
  provider: { ...text, description: "The profile of the server's settings that is asked." },
  agent: { ...text, description: "Be this agent: its prompt, tools and model." },
  effort: oneOf(["minimal", "low", "medium", "high", "xhigh", "max"]),
  permissionMode: { ...oneOf(permissionModes), description: "A looser one than the server has needs the scope approve." },
  disallowedTools: { ...list(text), description: "Rules that are added to those the server forbids." },
  maxTurns: { type: "integer", minimum: 1 },
  maxBudgetUsd: { type: "number", exclusiveMinimum: 0 },
  appendSystemPrompt: anyText,
  outputSchema: { type: "object", description: "A JSON Schema that answers have to fit." },
});

export const forkWish: JsonObject = strict("ForkWish", {
  at: { ...count, minimum: 1, description: "The last event of the copy; the whole session when absent." },
  name: sessionName,
});

export const rename: JsonObject = strict("SessionName", { name: sessionName }, ["name"]);

const contentPart: JsonObject = {
  title: "InputPart",
  oneOf: [
    {
      type: "object",
      properties: { type: { const: "text" }, text: anyText },
      required: ["type", "text"],
      additionalProperties: false,
    },
    {
      type: "object",
      properties: { type: { const: "image" }, mediaType: text, data: { ...text, contentEncoding: "base64" } },
      required: ["type", "mediaType", "data"],
      additionalProperties: false,
    },
  ],
};

export const newMessage: JsonObject = {
  ...strict("NewMessage", {
    text,
    content: { ...list(contentPart), minItems: 1 },
    mode: {
      ...oneOf(["queue", "steer", "now"]),
      description: "While a turn runs: after it, into it, or instead of it. queue when absent.",
    },
    wait: { ...flag, description: "false: answer 202 as soon as the prompt is on record. true when absent." },
  }),
  oneOf: [{ required: ["text"] }, { required: ["content"] }],
};

export const steering: JsonObject = strict("Steering", { text }, ["text"]);
export const cancelling: JsonObject = strict("Cancelling", {
  waiting: { ...oneOf(["keep", "drop"]), description: "What becomes of prompts that wait; drop when absent." },
});

export const permissionAnswer: JsonObject = strict(
  "PermissionAnswer",
  {
    decision: oneOf(["allow", "deny"]),
    message: { ...anyText, description: "With deny: what the model is told." },
    updatedInput: { type: "object", description: "With allow: the call as it may be made; it is judged anew." },
    interrupt: { ...flag, description: "Ends the turn too." },
    remember: {
      ...oneOf(["session", "project"]),
      description: "With allow: do not ask about exactly this again. project needs the scope admin.",
    },
  },
  ["decision"],
);

export const questionAnswer: JsonObject = strict("QuestionAnswer", {
  value: { ...anyText, description: "Absent: the question is cancelled." },
});

const outcome: JsonObject = open(
  "Outcome",
  {
    type: oneOf(["completed", "stopped", "cancelled", "failed"]),
    text: anyText,
    structured: {},
    limit: anyText,
    cause: anyText,
    reason: anyText,
    error: open("ErrorData", { code: anyText, message: anyText, retryable: flag, hint: anyText }, [
      "code",
      "message",
      "retryable",
    ]),
  },
  ["type", "text"],
);

export const event: JsonObject = {
  ...open("Event", { type: anyText, seq: count, at: time, sessionId: anyText, turnId: anyText, taskId: anyText }, [
    "type",
    "seq",
    "at",
    "sessionId",
  ]),
  description: "One of the library's events; docs/api/index.md, AgentEvents, has all of them.",
};

export const message: JsonObject = open(
  "Message",
  { role: oneOf(["user", "assistant", "tool"]), content: list({ type: "object" }) },
  ["role", "content"],
);

const waitingPrompt: JsonObject = open(
  "WaitingPrompt",
  {
    id: anyText,
    mode: anyText,
    input: message,
    isHeld: { ...flag, description: "Accepted before a restart: POST …/resume lets it go on." },
  },
  ["id", "mode", "input", "isHeld"],
);

export const sessionSummary: JsonObject = open(
  "SessionSummary",
  {
    id: anyText,
    name: anyText,
    cwd: anyText,
    createdAt: time,
    updatedAt: time,
    prompt: anyText,
    turns: count,
    state: oneOf(["working", "open", "stored"]),
  },
  ["id", "cwd", "createdAt", "updatedAt", "state"],
);

export const session: JsonObject = open(
  "Session",
  {
    id: anyText,
    name: anyText,
    cwd: anyText,
    state: oneOf(["working", "open", "stored"]),
    storedSeq: { ...count, description: "The last stored event: GET …/events?after= goes on from here." },
    createdAt: time,
    updatedAt: time,
    prompt: { ...anyText, description: "The first one." },
    turns: count,
    forkedFrom: { type: "object", description: "The session that this one is a copy of." },
    model: anyText,
    permissionMode: oneOf(permissionModes),
    context: open("ContextState", { usedTokens: count, maxTokens: count, usedPercentage: { type: "number" } }, []),
    waiting: list(waitingPrompt),
    questions: list(event),
  },
  ["id", "cwd", "state", "storedSeq", "waiting", "questions"],
);

export const promptResult: JsonObject = open(
  "PromptResult",
  { promptId: anyText, sessionId: anyText, isRepeated: flag, storedSeq: count, outcome },
  ["promptId", "sessionId", "isRepeated", "storedSeq", "outcome"],
);

export const acceptedPrompt: JsonObject = open(
  "AcceptedPrompt",
  { promptId: anyText, sessionId: anyText, isRepeated: flag, storedSeq: count },
  ["promptId", "sessionId", "isRepeated", "storedSeq"],
);

export const shareWish: JsonObject = strict("ShareWish", {
  expiresInSeconds: { type: "integer", minimum: 1, maximum: 31_536_000, description: "A day when absent." },
});
export const share: JsonObject = open("Share", { token: anyText, name: anyText, expiresAt: time }, [
  "token",
  "name",
  "expiresAt",
]);

export const whoami: JsonObject = open("Client", { name: anyText, scopes: list(oneOf(scopes)) }, ["name", "scopes"]);

export const health: JsonObject = open("Health", { status: anyText, version: anyText }, ["status"]);

export const problem: JsonObject = open(
  "Problem",
  {
    type: anyText,
    title: anyText,
    status: { type: "integer" },
    detail: anyText,
    code: anyText,
    hint: anyText,
    retryable: flag,
    retryAfterMs: count,
  },
  ["type", "title", "status", "detail", "code", "retryable"],
);

export const nothing: JsonObject = { title: "Nothing", type: "object", additionalProperties: false };

export const commandCall: JsonObject = strict("CommandCall", { args: anyText });
export const commandResult: JsonObject = open("CommandResult", { success: flag, message: anyText }, ["success", "message"]);
export const taskLog: JsonObject = open("TaskLog", { taskId: anyText, lines: list(anyText) }, ["lines"]);
export const restoring: JsonObject = strict("Restoring", {
  rollback: { ...flag, description: "As they were before the checkpoint." },
  force: { ...flag, description: "Also what others changed in between." },
  dryRun: flag,
});
export const settingsChange: JsonObject = strict("SettingsChange", {
  model: text,
  effort: oneOf(["minimal", "low", "medium", "high", "xhigh", "max"]),
  permissionMode: oneOf(permissionModes),
});

export const modelList: JsonObject = open(
  "ModelList",
  {
    asOf: anyText,
    models: list({ type: "object" }),
    object: oneOf(["list"]),
    data: list(open("Model", { id: anyText, object: oneOf(["model"]), created: count, owned_by: anyText }, ["id", "object"])),
  },
  ["models", "object", "data"],
);

/** An object that is described elsewhere. */
export function anything(title: string): JsonObject {
  return { title, type: "object" };
}

/** An object with one list of objects under this name. */
export function listOf(name: string): JsonObject {
  return { type: "object", properties: { [name]: list({ type: "object" }) }, required: [name] };
}
