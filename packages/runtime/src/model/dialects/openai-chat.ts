import type { Dialect } from "../dialect.ts";
import { type Encoding, encode } from "./chat-request.ts";
import type { ModelRequest } from "../model.ts";
import { type OpenAIChatQuirks, type Wire, defaults, dialectId } from "./chat-wire.ts";
import { createDecoder } from "./chat-answer.ts";
import type { ModelRecord } from "../capabilities/record.ts";
import { recordAt } from "../capabilities/chat.ts";

/** The wire format of OpenAI's Chat Completions, streaming, as OpenAI and everybody else speaks it. */
export function createOpenAIChat(quirks: OpenAIChatQuirks = {}): Dialect {
  const plain: Wire = { ...defaults, ...quirks };
  const wires = new Map<string, Encoding>();
  const encodingFor = (request: ModelRequest): Encoding => {
    const record = plain.recordsOf === undefined ? undefined : recordAt(plain.recordsOf, request);
    const own = record ? { ...plain, ...ownWire(record, plain) } : plain;
    const key = JSON.stringify([own.images, own.pdf, own.sendReasoning, own.systemRole, own.maxTokensField]);
    const { wire, made } = wires.get(key) ?? { wire: own, made: new WeakMap() };
    const encoding = { wire, made, record };
    wires.set(key, encoding);
    return encoding;
  };
  return {
    id: dialectId,
    nativeSchema: plain.nativeSchema,
    encode: (request, tell = () => {}) => encode(request, encodingFor(request), tell),
    decoder: (request, provider) => createDecoder({ request, provider, wire: plain }),
  };
}

/** What a model's record says about the way its requests are written. */
function ownWire({ images, pdf, sendBack, maker, efforts }: ModelRecord, plain: Wire): Partial<Wire> {
  const reasons = maker === "openai" && efforts.length > 0;
  return {
    images,
    pdf,
    sendReasoning: plain.sendReasoning || sendBack === "text",
    ...(reasons && { maxTokensField: "max_completion_tokens" }),
    ...(reasons && plain.recordsOf === "openai" && { systemRole: "developer" }), // other servers may not know the role
  };
}
