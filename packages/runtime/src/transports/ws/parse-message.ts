import { isJsonObject } from "../../protocol/content.ts";
import { RuntimeError } from "../../protocol/errors.ts";
import { parseBoundedJson, UnwieldyJson } from "../../util/bounded-json.ts";
import { isRecord } from "../../util/is-record.ts";
import type { ClientMessage, ClientMessageType, RequestId } from "./messages.ts";

/** What is wrong with a field; undefined when it is fine. */
type Check = (value: unknown, name: string) => string | undefined;
type Field = { readonly required: boolean; readonly check: Check };

export type ParsedMessage =
  | { readonly type: "request"; readonly message: ClientMessage }
  | { readonly type: "refused"; readonly error: RuntimeError; readonly id?: RequestId };

/** A text as it came from the socket to a request. Whatever it is, this answers; fields that nobody asked for are left behind. */
export function parseClientMessage(data: string): ParsedMessage {
  let given: unknown;
  try {
    given = parseBoundedJson(data);
  } catch (error) {
    return refused(error instanceof UnwieldyJson ? `The message is ${error.message}` : "Invalid JSON");
  }
  const record = isRecord(given) ? given : {};
  const id = own(record, "id");
  if (id !== undefined && !isRequestId(id)) return refused("id must be a number, or a string of at most 200 characters");
  const type = own(record, "type");
  if (!isClientMessageType(type)) return refused(`Unknown message type: ${shown(type)}`, id);
  const message: Record<string, unknown> = { type, ...(id !== undefined && { id }) };
  for (const [name, { required, check }] of Object.entries(fieldsOf[type])) {
    const value = own(record, name);
    if (value === undefined || value === null || (required && value === "")) {
      if (required) return refused(`${name} is required`, id);
      continue;
    }
    const wrong = check(value, name);
    if (wrong !== undefined) return refused(wrong, id);
    message[name] = value;
  }
  return { type: "request", message: message as ClientMessage }; // its fields are those of its type, checked one by one
}

const requestIdLength = 200;

function isRequestId(value: unknown): value is RequestId {
  return (typeof value === "string" && value.length <= requestIdLength) || (typeof value === "number" && Number.isFinite(value));
}

const isText: Check = (value, name) => (typeof value === "string" ? undefined : `${name} must be a string`);
const isFlag: Check = (value, name) => (typeof value === "boolean" ? undefined : `${name} must be true or false`);
const isObject: Check = (value, name) => (isJsonObject(value) ? undefined : `${name} must be an object`);

function isOneOf(...words: readonly string[]): Check {
  return (value, name) =>
    typeof value === "string" && words.includes(value) ? undefined : `${name} must be one of ${words.join(", ")}`;
}

const isImages: Check = (value, name) => {
  const fits =
    Array.isArray(value) &&
    value.every((image) => isRecord(image) && typeof image["mediaType"] === "string" && typeof image["data"] === "string");
  return fits ? undefined : `${name} must be a list of { mediaType, data }`;
};

const isTaskInput: Check = (value, name) => {
  if (typeof value === "string") return undefined;
  const words = isRecord(value) ? [own(value, "prompt"), own(value, "stdin")].filter((word) => word !== undefined) : [];
  const fits = words.length === 1 && typeof words[0] === "string" && words[0] !== "";
  return fits ? undefined : `${name} must be a string, { prompt: a string } or { stdin: a string }`;
};

const isCursor: Check = (value, name) => {
  const offset = isRecord(value) ? value["offset"] : undefined;
  return Number.isSafeInteger(offset) && Number(offset) >= 0
    ? undefined
    : `${name} must be { offset: a whole number, 0 or more }`;
};

const isFilter: Check = (value, name) => {
  if (!isRecord(value)) return `${name} must be an object`;
  const { kind, status, parentSessionId } = value;
  const isWord = (word: unknown): boolean => word === undefined || typeof word === "string";
  const isWords = Array.isArray(status) ? status.every((word) => typeof word === "string") : isWord(status);
  return isWord(kind) && isWord(parentSessionId) && isWords ? undefined : `${name} must have texts only`;
};

const needed = (check: Check): Field => ({ required: true, check });
const optional = (check: Check): Field => ({ required: false, check });

const fieldsOf: { readonly [T in ClientMessageType]: Readonly<Record<string, Field>> } = {
  submit: {
    prompt: needed(isText),
    mode: optional(isOneOf("queue", "steer", "now")),
    key: optional(isText),
    images: optional(isImages),
  },
  command: { name: needed(isText), args: optional(isText) },
  abort: {},
  "cancel-queue": {},
  "get-messages": {},
  "get-context": {},
  "get-executing": {},
  "get-pending": {},
  "get-background-tasks": { filter: optional(isFilter) },
  "get-background-task": { taskId: needed(isText) },
  "cancel-background-task": { taskId: needed(isText), reason: optional(isText) },
  "close-background-task": { taskId: needed(isText) },
  "send-background-task": { taskId: needed(isText), input: needed(isTaskInput) },
  "read-background-task-log": { taskId: needed(isText), cursor: optional(isCursor) },
  "get-background-job-groups": {},
  "get-background-job-group": { groupId: needed(isText) },
  "wait-background-job-group": { groupId: needed(isText) },
  "permission-response": {
    requestId: needed(isText),
    decision: needed(isOneOf("allow", "deny")),
    message: optional(isText),
    remember: optional(isOneOf("session", "project")),
    updatedInput: optional(isObject),
    interrupt: optional(isFlag),
  },
  "ask-response": { requestId: needed(isText), value: optional(isText) },
  "cancel-prompt": { promptId: needed(isText) },
  "get-commands": {},
};

function isClientMessageType(value: unknown): value is ClientMessageType {
  return typeof value === "string" && Object.hasOwn(fieldsOf, value);
}

/** What objects inherit is nothing that a client said. */
function own(record: Record<string, unknown>, name: string): unknown {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}

function refused(message: string, id?: RequestId): ParsedMessage {
  return { type: "refused", error: new RuntimeError("usage", message), ...(id !== undefined && { id }) };
}

function shown(type: unknown): string {
  return typeof type === "string" ? type.slice(0, 100) : typeof type === "object" ? "object" : String(type).slice(0, 100);
}
