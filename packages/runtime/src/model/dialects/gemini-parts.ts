import { type JsonObject, type Message, type ProviderMetadata, isJsonObject } from "../../protocol/content.ts";
import { stringIn } from "./json-fields.ts";

export const dialectId = "gemini";

export function tokenOf(message: Message | undefined): string | undefined {
  const last = message?.role === "assistant" && message.finish === "paused" ? message.content.at(-1) : undefined;
  if (last?.type !== "opaque" || last.dialect !== dialectId || !isJsonObject(last.value)) return undefined;
  return stringIn(last.value, tokenField) || undefined;
}

export const tokenField = "continuationToken";
/** The pages that Google's own search has found for an answer: for who reads along, not for the model. */
export const groundingField = "groundingMetadata";

export function metadataOf(part: { providerMetadata?: ProviderMetadata }): JsonObject {
  const metadata = part.providerMetadata?.[dialectId];
  return isJsonObject(metadata) ? metadata : {};
}

export function signatureIn(source: JsonObject): { thoughtSignature?: string } {
  const thoughtSignature = stringIn(source, "thoughtSignature");
  return thoughtSignature ? { thoughtSignature } : {};
}
