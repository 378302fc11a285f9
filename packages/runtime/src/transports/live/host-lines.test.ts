import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { InputFrame } from "./input-frame.ts";
import { HostLines } from "./host-lines.ts";

const user = (content: unknown, more: object = {}): string =>
  JSON.stringify({ type: "user", message: { role: "user", content }, ...more });

async function read(
  lines: readonly string[],
  strict = false,
): Promise<{ frames: InputFrame[]; told: string[]; isGarbage: boolean }> {
  const told: string[] = [];
  const host = new HostLines({ strict, tell: (message) => told.push(message) });
  const frames: InputFrame[] = [];
  for await (const frame of host.read(toBytes(lines))) frames.push(frame);
  return { frames, told, isGarbage: host.isGarbage };
}

async function* toBytes(lines: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const line of lines) yield Buffer.from(`${line}\n`);
}

describe("what a host writes", () => {
  it("is skipped and told of where it cannot be used, and the rest is read", async () => {
    const { frames, told, isGarbage } = await read(["{", user("hello")]);
    assert.deepEqual(
      frames.map(({ type }) => type),
      ["user"],
    );
    assert.equal(told.length, 1);
    assert.match(told[0] ?? "", /not valid JSON.*\. It is skipped$/);
    assert.equal(isGarbage, false);
  });

  it("is garbage where nothing of it could be used, and not where nothing came", async () => {
    assert.equal((await read(["{", "["])).isGarbage, true);
    assert.equal((await read([])).isGarbage, false);
    assert.equal((await read(["{", '{"type":"assistant"}'])).isGarbage, false);
  });

  it("may be another run's output: its own records are skipped, each kind told of once", async () => {
    const { frames, told } = await read([
      '{"type":"system","subtype":"init"}',
      '{"type":"system"}',
      '{"type":"result"}',
      user("an echo", { isReplay: true }),
      user("a note", { isSynthetic: true }),
      user("for a subagent", { parent_tool_use_id: "t1" }),
      user([{ type: "tool_result", tool_use_id: "t1" }]),
      user("meant for us", { parent_tool_use_id: null, isReplay: false }),
    ]);
    assert.deepEqual(
      frames.map((frame) => frame.type === "user" && frame.input.content),
      [[{ type: "text", text: "meant for us" }]],
    );
    const skipped = (kind: string): string => `Lines of the type ${kind} are skipped: they are no messages and no requests`;
    assert.deepEqual(told, [skipped('"system"'), skipped('"result"'), skipped("user (of a transcript)")]);
  });

  it("may hold what a host calls synthetic: where no run has written, it is a message", async () => {
    const { frames, told } = await read(['{"type":"weird"}', user("a reminder", { isSynthetic: true })]);
    assert.deepEqual(
      frames.map((frame) => frame.type === "user" && frame.input.content),
      [[{ type: "text", text: "a reminder" }]],
    );
    assert.equal(told.length, 1);
  });

  it("is told of a hundred times at most", async () => {
    const { told } = await read(Array.from({ length: 120 }, () => "{"));
    assert.equal(told.length, 100);
    assert.doesNotMatch(told[98] ?? "", /more of them/);
    assert.match(told[99] ?? "", /It is skipped, as are more of them, without a word$/);
    const kinds = await read(Array.from({ length: 120 }, (_, at) => `{"type":"kind${at}"}`));
    assert.equal(kinds.told.length, 100);
  });

  it("ends at the first line that cannot be used where that was asked for", async () => {
    await assert.rejects(read([user("hello"), '{"type":"system"}'], true), { code: "usage" });
  });
});
