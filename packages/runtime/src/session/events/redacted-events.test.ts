import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createMemoryStore } from "../../journal/memory-store.ts";
import { noUsage } from "../../protocol/content.ts";
import type { AgentEvent } from "../../protocol/events.ts";
import { createRedactor } from "../../util/redact.ts";
import { EventHub } from "./event-hub.ts";

const secret = "correct-horse-battery";

async function openHub(): Promise<{ hub: EventHub; seen: AgentEvent[]; stored(): Promise<string> }> {
  const store = createMemoryStore();
  const seen: AgentEvent[] = [];
  const hub = new EventHub({
    sessionId: "s",
    store,
    now: () => 0,
    onEvent: (event) => seen.push(event),
    onFault: (error) => assert.fail(error),
    redactor: createRedactor({ env: { SERVICE_TOKEN: secret } }),
  });
  hub.attach(await store.open("s"));
  return { hub, seen, stored: async () => JSON.stringify(await store.read("s")) };
}

describe("secrets in events", () => {
  it("are hidden before anything is stored or seen", async () => {
    const { hub, seen, stored } = await openHub();
    const reader = hub.subscribe()[Symbol.asyncIterator]();
    hub.emit({ type: "tool.started", callId: "c", name: "Bash", input: { command: `curl -H 'X: ${secret}'` } });
    hub.emit({ type: "tool.progress", callId: "c", text: `so far ${secret}` });
    await hub.flush();
    assert.deepEqual([seen.length, JSON.stringify(seen).includes(secret), (await stored()).includes(secret)], [2, false, false]);
    const { value } = await reader.next();
    assert.deepEqual(value.input, { command: "curl -H 'X: [redacted:SERVICE_TOKEN]'" });
  });

  it("are hidden in deltas that cut them, in order with everything else, and numbered without a gap", async () => {
    const { hub, seen } = await openHub();
    const delta = (text: string): void => hub.emit({ type: "text.delta", messageId: "m", text }, "t");
    delta("It is correct-");
    delta("horse-battery. And a cor");
    hub.emit({ type: "tool-input.delta", messageId: "m", callId: "c", name: "Bash", json: '{"a":"correct-horse' }, "t");
    hub.emit(
      {
        type: "message.ended",
        messageId: "m",
        message: {
          role: "assistant",
          content: [{ type: "text", text: `It is ${secret}.` }],
          model: { provider: "p", id: "m" },
          finish: "stop",
          usage: noUsage,
        },
        durationMs: 1,
        requestedModel: "m",
      },
      "t",
    );
    await hub.flush();
    assert.deepEqual(
      seen.map((event) => [
        event.seq,
        event.type,
        event.type === "text.delta" ? event.text : event.type === "tool-input.delta" ? event.json : "",
      ]),
      [
        [1, "text.delta", "It is "],
        [2, "text.delta", "[redacted:SERVICE_TOKEN]. And a "],
        [3, "text.delta", "cor"],
        [4, "tool-input.delta", '{"a":"'],
        [5, "tool-input.delta", "correct-horse"],
        [6, "message.ended", ""],
      ],
    );
    assert.match(JSON.stringify(seen.at(-1)), /It is \[redacted:SERVICE_TOKEN\]\./);
  });
});
