import type { JsonObject } from "../../protocol/content.ts";
import { stringIn } from "./json-fields.ts";

const growing: ReadonlySet<string> = new Set(["text", "summary", "data"]);

/** OpenRouter's pieces of signed, summed up or encrypted reasoning: those with the same index and type are one detail. */
export function addReasoningDetail(details: JsonObject[], piece: JsonObject): void {
  const { index, type } = piece;
  const known = index === undefined ? undefined : details.find((each) => each["index"] === index && each["type"] === type);
  if (!known) return void details.push({ ...piece });
  for (const [name, value] of Object.entries(piece)) {
    if (growing.has(name) && typeof value === "string") known[name] = stringIn(known, name) + value;
    else if (value !== null) known[name] = value;
  }
}
