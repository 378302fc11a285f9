import type { RecordedRequest, ServerReply } from "../../packages/runtime/src/testing/model-server.ts";

/** A step of the scripts that recorded prompts carry after `MOCK:`. */
type Step = {
  readonly text?: string;
  readonly thinking?: string;
  readonly tools?: readonly { readonly name: string; readonly input: unknown }[];
  readonly delayMs?: number;
  readonly errors?: readonly {
    readonly status: number;
    readonly type: string;
    readonly message: string;
    readonly times: number;
    readonly headers?: Readonly<Record<string, string>>;
  }[];
};

type WireMessage = {
  readonly role: string;
  readonly content: string | readonly { readonly type: string; readonly text?: string }[];
};

/** Answers every request with the step that its own conversation has come to. */
export function followScripts(): (request: RecordedRequest, index: number) => ServerReply {
  const failures = new Map<string, number>();
  return (request, index) => {
    const { messages } = request.body as { messages: readonly WireMessage[] }; // sent by the command under test
    const at = messages.findLastIndex((message) => message.role === "user" && textOf(message).includes("MOCK:"));
    const text = at === -1 ? "" : textOf(messages[at]);
    // Hooks may have said something behind it.
    const [written = "[]"] = text.slice(text.indexOf("MOCK:") + 5).split("\n");
    const script = text === "" ? [] : (JSON.parse(written) as readonly Step[]); // written in the samples
    const position = messages.slice(at + 1).filter(({ role }) => role === "assistant").length;
    const step = script[position] ?? { text: "the script is over" };
    return failureOf(step, failures, `${text} ${position}`) ?? toReply(step, index);
  };
}

function failureOf({ errors = [] }: Step, failures: Map<string, number>, key: string): ServerReply | undefined {
  for (const { status, type, message, times, headers } of errors) {
    const count = failures.get(key) ?? 0;
    if (count >= times) continue;
    failures.set(key, count + 1);
    return {
      status,
      body: { type: "error", error: { type, message } },
      ...(headers && { headers: { ...headers, "retry-after-ms": "5" } }),
    };
  }
  return undefined;
}

function toReply({ text, thinking, tools = [], delayMs }: Step, index: number): ServerReply {
  return {
    ...(text !== undefined && { text }),
    ...(thinking !== undefined && { reasoning: thinking }),
    ...(tools.length > 0 && { calls: tools.map((tool, number) => ({ ...tool, callId: `toolu_${index}_${number}` })) }),
    ...(delayMs !== undefined && { chunkDelayMs: delayMs }),
    usage: { inputTokens: 10, outputTokens: 20 },
  };
}

function textOf(message: WireMessage | undefined): string {
  const content = message?.content ?? "";
  return typeof content === "string" ? content : content.map(({ text }) => text ?? "").join("\n");
}
