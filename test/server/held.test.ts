import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createFileStore } from "../../packages/runtime/src/journal/file-store.ts";
import { join } from "node:path";
import type { AgentEvent } from "../../packages/runtime/src/protocol/events.ts";
import { Ground } from "./ground.ts";

/** A session whose process was killed: one prompt in its turn, two accepted and not begun. */
async function killed(ground: Ground): Promise<string> {
  await ground.start();
  const id = await ground.session();
  await ground.ask("POST", `/v1/sessions/${id}/messages`, { body: { text: "zero" } });
  await ground.server?.close();
  const store = createFileStore(join(ground.top, ".outrider/sessions"));
  const journal = await store.open(id);
  let seq = journal.events.lastSeq;
  const at = new Date().toISOString();
  const input = (text: string) => ({ role: "user" as const, content: [{ type: "text" as const, text }] });
  const events = [
    { type: "turn.started", turnId: "cut", input: input("cut off") },
    { type: "prompt.accepted", promptId: "p1", mode: "queue", input: input("first"), key: "owner:k1" },
    { type: "prompt.accepted", promptId: "p2", mode: "queue", input: input("second"), key: "owner:k2" },
  ].map((event) => ({ ...event, seq: ++seq, at, sessionId: id }) as AgentEvent);
  await journal.append(events);
  await journal.close();
  await ground.start();
  return id;
}

describe("what a killed server leaves", () => {
  it("is seen before anybody opens the session: prompts wait, held", async () => {
    const ground = new Ground([{ text: "one" }]);
    const id = await killed(ground);
    const { json } = await ground.ask("GET", `/v1/sessions/${id}`);
    assert.equal(json.state, "stored");
    assert.deepEqual(
      json.waiting.map((prompt: { id: string; isHeld: boolean; key?: string }) => [prompt.id, prompt.isHeld, prompt.key]),
      [
        ["p1", true, undefined],
        ["p2", true, undefined],
      ],
    );
  });

  it("goes on in its order when a later prompt is sent again with its key", async () => {
    const ground = new Ground([{ text: "one" }, { text: "two" }]);
    const id = await killed(ground);
    const again = await ground.ask("POST", `/v1/sessions/${id}/messages`, {
      body: { text: "second" },
      headers: { "idempotency-key": "k2" },
    });
    assert.deepEqual([again.json.isRepeated, again.json.promptId, again.json.outcome.text], [true, "p2", "two"]);
    const { messages } = (await ground.ask("GET", `/v1/sessions/${id}/messages`)).json;
    const said = messages.flatMap(({ role, content }: { role: string; content: { text: string }[] }) =>
      role === "user" ? [content[0]?.text] : [],
    );
    assert.deepEqual(said.slice(-2), ["first", "second"]);
  });

  it("ends the turn that was cut off once: whoever watched it hears so, and it is never told again", async () => {
    const ground = new Ground([{ text: "one" }, { text: "two" }]);
    const id = await killed(ground);
    const watch = await ground.watch(`/v1/sessions/${id}/events?after=0`);
    const fromNow = await ground.watch(`/v1/sessions/${id}/events`);
    await watch.until((data) => data.type === "prompt.accepted" && data.promptId === "p2");
    await ground.ask("POST", `/v1/sessions/${id}/resume`);
    const { data } = await watch.until((event) => event.type === "turn.ended" && event.turnId === "cut");
    assert.deepEqual([data.outcome.type, data.outcome.error.code], ["failed", "closed"]);
    await watch.until((event) => event.type === "turn.ended" && event.outcome.text === "two");
    await fromNow.until((event) => event.type === "turn.ended" && event.outcome.text === "two");
    assert.ok(fromNow.types.includes("session.started"), "what opening it puts on record is told to who watched before");
    await ground.server?.close();
    await ground.start();
    await ground.ask("GET", `/v1/sessions/${id}/settings`); // opens it once more
    const stored = await createFileStore(join(ground.top, ".outrider/sessions")).read(id);
    assert.equal(stored.filter(({ type, turnId }) => type === "turn.ended" && turnId === "cut").length, 1);
    const told = watch.frames.flatMap(({ id: number }) => (number === undefined ? [] : [Number(number)]));
    assert.deepEqual(told, stored.map(({ seq }) => seq).slice(0, told.length));
  });
});
