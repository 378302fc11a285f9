import { type AssistantPart, isJsonObject, type JsonValue, type Message, type PartPlace } from "../protocol/content.ts";

/**
 * Where sealed thinking stands, if a refusal says that a seal cannot be read: OpenAI's `encrypted_content`, Gemini's `thoughtSignature`.
 * All of it: which one was meant is often not said, and what made one unreadable (another account, another key) holds for the others.
 */
export function findSeals(complaints: readonly string[], messages: readonly Message[]): PartPlace[] {
  const seal = seals.find(({ complaint }) => complaints.some((text) => complaint.test(text)));
  if (!seal) return [];
  return messages.flatMap((message, index) =>
    message.role === "assistant"
      ? message.content.flatMap((part, at): PartPlace[] => (holds(part, seal) ? [{ message: index, part: at, seal: true }] : []))
      : [],
  );
}

type Seal = { readonly dialect: string; readonly field: string; readonly complaint: RegExp };

const seals: readonly Seal[] = [
  {
    dialect: "openai-responses",
    field: "encrypted_content",
    // Not "Encrypted content is not supported with this model", which is about a field of the request.
    complaint: /invalid_encrypted_content|encrypted.content\b.*(?:verif|decrypt|decod|pars|match)/i,
  },
  {
    dialect: "gemini",
    field: "thoughtSignature",
    // Not one that is missing.
    complaint: /thought.?signature\b.*(?:not valid|invalid|verif|corrupt)|(?:invalid|corrupt\w*)\s+[`'"]?thought.?signature/i,
  },
];

function holds(part: AssistantPart, { dialect, field }: Seal): boolean {
  const own: JsonValue | undefined =
    part.type !== "opaque" ? part.providerMetadata?.[dialect] : part.dialect === dialect ? part.value : undefined;
  return isJsonObject(own) && typeof own[field] === "string" && own[field] !== "";
}
