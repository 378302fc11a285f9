import { isJsonObject, type JsonObject, type JsonValue, type Message, type ToolDefinition } from "../../protocol/content.ts";
import { isWellFormedValue } from "../../util/well-formed.ts";
import type { ModelRequest } from "../model.ts";
import { isSendableName } from "./tool-names.ts";

/** True for a request that every provider takes as it is, told quickly: each message and tool is looked at once. */
export function isPlainRequest({ system, messages, tools }: ModelRequest): boolean {
  return system.isWellFormed() && messages.every(isPlainMessage) && tools.every(isPlainTool) && areUnique(tools);
}

const plainMessages = new WeakSet<Message>();

function isPlainMessage(message: Message): boolean {
  if (plainMessages.has(message)) return true;
  for (const part of message.content) if (!isPlainPart(part)) return false;
  plainMessages.add(message);
  return true;
}

function isPlainPart(part: Message["content"][number]): boolean {
  switch (part.type) {
    case "image":
      return false;
    case "text":
      return part.text.isWellFormed();
    case "tool-result":
      for (const inner of part.content) if (inner.type !== "text" || !inner.text.isWellFormed()) return false;
      return isSendableName(part.name) && part.callId.isWellFormed();
    case "tool-call":
      return isSendableName(part.name) && isWellFormedValue(part);
    default:
      return isWellFormedValue(part);
  }
}

const plainTools = new WeakSet<ToolDefinition>();

/** True for a tool that every provider takes byte for byte as it is. */
export function isPlainTool(tool: ToolDefinition): boolean {
  if (plainTools.has(tool)) return true;
  const { name, description, inputSchema } = tool;
  const room = { characters: maxCharacters };
  const isPlain =
    isSendableName(name) && description.isWellFormed() && inputSchema["type"] === "object" && isPlainSchema(inputSchema, room, 0);
  if (isPlain) plainTools.add(tool);
  return isPlain;
}

function areUnique(tools: readonly ToolDefinition[]): boolean {
  return new Set(tools.map(({ name }) => name)).size === tools.length;
}

const maxCharacters = 30_000;
const maxDepth = 12;
const propertyName = /^[a-zA-Z0-9_.-]{1,64}$/;
const types: ReadonlySet<JsonValue | undefined> = new Set(["string", "number", "integer", "boolean", "object", "array", "null"]);
const limits: ReadonlySet<string> = new Set([
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "minLength",
  "maxLength",
  "minItems",
  "maxItems",
]);

/** The few keywords that most tools make do with. A schema with any other is looked at more closely elsewhere. */
function isPlainSchema(schema: JsonValue | undefined, room: { characters: number }, depth: number): boolean {
  if (!isJsonObject(schema) || !types.has(schema["type"]) || depth > maxDepth) return false;
  if (schema["type"] === "array" && schema["items"] === undefined) return false;
  return Object.entries(schema).every(([keyword, value]) => {
    if (limits.has(keyword)) return typeof value === "number" && value >= 0;
    switch (keyword) {
      case "type":
        return true;
      case "description":
        if (typeof value !== "string" || !value.isWellFormed()) return false;
        room.characters -= value.length;
        return room.characters > 0;
      case "properties":
        return isJsonObject(value) && arePlainProperties(value, room, depth);
      case "items":
        return isPlainSchema(value, room, depth + 1);
      case "required":
      case "enum":
        room.characters -= 100;
        return Array.isArray(value) && value.length > 0 && value.length < 100 && value.every(isPlainWord);
      case "additionalProperties":
        return typeof value === "boolean";
      default:
        return false;
    }
  });
}

function arePlainProperties(properties: JsonObject, room: { characters: number }, depth: number): boolean {
  return Object.entries(properties).every(([name, child]) => {
    room.characters -= 50;
    return room.characters > 0 && propertyName.test(name) && isPlainSchema(child, room, depth + 1);
  });
}

function isPlainWord(value: JsonValue): boolean {
  return typeof value === "string" && value.length < 200 && value.isWellFormed();
}
