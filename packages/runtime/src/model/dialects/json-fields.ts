import { isJsonObject, type JsonObject, type JsonValue } from "../../protocol/content.ts";

/** Reading JSON that somebody else made: what is not of the expected kind is as good as absent. */
export function parseJson(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue; // what JSON.parse answers is JSON
  } catch {
    return undefined; // no JSON text stands for undefined
  }
}

export function objectIn(object: JsonObject, name: string): JsonObject {
  const value = object[name];
  return isJsonObject(value) ? value : {};
}

export function listIn(object: JsonObject, name: string): JsonValue[] {
  const value = object[name];
  return Array.isArray(value) ? value : [];
}

export function stringIn(object: JsonObject, name: string): string {
  const value = object[name];
  return typeof value === "string" ? value : "";
}

export function numberIn(object: JsonObject, name: string): number | undefined {
  const value = object[name];
  return typeof value === "number" ? value : undefined;
}
