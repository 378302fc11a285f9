import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { noUsage } from "../../protocol/content.ts";
import type { AgentEvent, EventBody } from "../../protocol/events.ts";
import { A2aEvents, decodeA2aRequest } from "./a2a.ts";
import { AgUiEvents, decodeAgUiRequest } from "./ag-ui.ts";
import { decodeUiRequest, toUiParts } from "./ai-sdk-ui.ts";
import { toPrompt } from "./openai-conversation.ts";
import { type Piece, TurnPieces } from "./turn-pieces.ts";

const event = (body: EventBody, more: object = {}): AgentEvent =>
  ({ seq: 1, at: "", sessionId: "s", turnId: "t", ...body, ...more }) as AgentEvent;
const answer = (content: object[]): EventBody =>
  ({
    type: "message.ended",
    messageId: "m",
    message: { role: "assistant", content },
    durationMs: 0,
    requestedModel: "x",
  }) as unknown as EventBody;
const delta = (text: string, type: "text.delta" | "reasoning.delta" = "text.delta"): EventBody => ({
  type,
  messageId: "m",
  text,
});
const retry = { type: "retry.scheduled", messageId: "m", attempt: 1, maxRetries: 1, delayMs: 0 } as unknown as EventBody;

function piecesOf(...events: readonly (EventBody | AgentEvent)[]): string[] {
  const turn = new TurnPieces("t");
  return events
    .flatMap((one) => turn.of("seq" in one ? one : event(one)))
    .map((piece) =>
      [piece.type, "kind" in piece && piece.kind, "id" in piece && piece.id, "text" in piece && piece.text]
        .filter(Boolean)
        .join(" "),
    );
}

describe("the pieces of a turn", () => {
  const text = (words: string): object => ({ type: "text", text: words });
  const cases: readonly [string, readonly (EventBody | AgentEvent)[], readonly string[]][] = [
    [
      "words as they come, and none of them twice",
      [delta("a"), delta("b"), answer([text("ab")])],
      ["block-start text t-1", "block-delta text t-1 a", "block-delta text t-1 b", "block-end text t-1", "answer-end"],
    ],
    [
      "an answer that came in one",
      [answer([text("ab")])],
      ["block-start text t-1", "block-delta text t-1 ab", "block-end text t-1", "answer-end"],
    ],
    [
      "a thought before words",
      [delta("hm", "reasoning.delta"), delta("a"), answer([{ type: "reasoning", text: "hm" }, text("a")])],
      [
        ...["block-start reasoning t-1", "block-delta reasoning t-1 hm", "block-end reasoning t-1"],
        ...["block-start text t-2", "block-delta text t-2 a", "block-end text t-2", "answer-end"],
      ],
    ],
    [
      "a second try as another block",
      [delta("a"), retry, delta("b"), answer([text("b")])],
      [
        ...["block-start text t-1", "block-delta text t-1 a", "block-end text t-1"],
        ...["block-start text t-2", "block-delta text t-2 b", "block-end text t-2", "answer-end"],
      ],
    ],
    [
      "a second try that came in one",
      [delta("a"), retry, answer([text("b")])],
      [
        ...["block-start text t-1", "block-delta text t-1 a", "block-end text t-1"],
        ...["block-start text t-2", "block-delta text t-2 b", "block-end text t-2", "answer-end"],
      ],
    ],
    ["nothing of other turns and of subagents", [event(delta("a"), { turnId: "u" }), event(delta("a"), { taskId: "x" })], []],
    ["nothing of an empty piece", [delta("")], []],
  ];
  for (const [what, events, expected] of cases) it(`has ${what}`, () => assert.deepEqual(piecesOf(...events), expected));
});

describe("how a turn ends, in each dialect", () => {
  const end = (outcome: object): Piece => ({ type: "turn-end", outcome, usage: noUsage }) as Piece;
  const done = end({ type: "completed", text: "ok" });
  const cut = end({ type: "cancelled", cause: "abort", text: "" });
  const limit = end({ type: "stopped", limit: "max-turns", text: "" });
  const failed = end({ type: "failed", text: "", error: { code: "internal", message: "boom", retryable: false } });
  const types = (events: readonly object[]): unknown[] => events.map((one) => (one as { type: string }).type);

  it("for the AI SDK", () => {
    assert.deepEqual(
      [done, cut, limit, failed].map((piece) => types(toUiParts(piece))),
      [
        ["finish-step", "finish"],
        ["finish-step", "abort"],
        ["finish-step", "finish"],
        ["error", "finish"],
      ],
    );
    assert.equal(toUiParts(limit)[1]?.["finishReason"], "length");
  });

  it("for AG-UI", () => {
    const ends = (piece: Piece) => types(new AgUiEvents({ threadId: "a", runId: "b" }).of(piece));
    assert.deepEqual([done, cut, limit, failed].map(ends), [["RUN_FINISHED"], ["RUN_FINISHED"], ["RUN_FINISHED"], ["RUN_ERROR"]]);
    const told = (piece: Piece) => new AgUiEvents({ threadId: "a", runId: "b" }).of(piece)[0]?.["outcome"];
    assert.deepEqual([done, cut, limit].map(told), [{ type: "success" }, { type: "cancelled" }, { type: "cancelled" }]);
  });

  it("for A2A, where the task has it too", () => {
    const ends = (piece: Piece) => {
      const events = new A2aEvents({ taskId: "t", contextId: "s", now: () => 0 });
      events.of(piece);
      return [events.task.status.state, events.task.artifacts.length];
    };
    assert.deepEqual([done, cut, limit, failed].map(ends), [
      ["TASK_STATE_COMPLETED", 1],
      ["TASK_STATE_CANCELED", 0],
      ["TASK_STATE_FAILED", 0],
      ["TASK_STATE_FAILED", 0],
    ]);
  });
});

describe("what a client sends", () => {
  const image = "data:image/png;base64,AAAA";
  const part = { type: "image", mediaType: "image/png", data: "AAAA" };

  it("is the last message of the user, with its images", () => {
    const said = { role: "user", parts: [{ type: "text", text: "see" }, { type: "file", url: image }, { type: "odd" }] };
    const wanted = { role: "user", content: [{ type: "text", text: "see" }, part] };
    assert.deepEqual(decodeUiRequest({ id: "c", messages: [said, { role: "assistant" }] }), { chatId: "c", message: wanted });
    const content = [
      { type: "text", text: "see" },
      { type: "image_url", image_url: { url: image } },
    ];
    assert.deepEqual(toPrompt([{ role: "user", content }], true), wanted);
    const parts = [{ text: "see" }, { raw: "AAAA", mediaType: "image/png" }];
    const request = { jsonrpc: "2.0", id: 1, method: "SendMessage", params: { message: { contextId: "", parts } } };
    assert.deepEqual(decodeA2aRequest(request), { id: 1, method: "SendMessage", message: wanted, returnsAtOnce: false });
  });

  const wrong: readonly [string, () => unknown, RegExp][] = [
    ["no message for the AI SDK", () => decodeUiRequest({ messages: [] }), /must end with/],
    [
      "a file that is no image",
      () => decodeUiRequest({ messages: [{ role: "user", parts: [{ type: "file", url: "x" }] }] }),
      /data: URL/,
    ],
    ["an image from elsewhere", () => toPrompt([{ role: "user", content: [{ image_url: "http://x" }] }], true), /data: URL/],
    ["a message without a role", () => toPrompt([{}], true), /role/],
    ["no thread", () => decodeAgUiRequest({ runId: "r", messages: [] }), /threadId and runId/],
    ["no JSON-RPC", () => decodeA2aRequest({ method: "GetTask" }), /no JSON-RPC/],
    ["a task without an id", () => decodeA2aRequest({ jsonrpc: "2.0", method: "GetTask" }), /id is required/],
    ["a message without parts", () => decodeA2aRequest({ jsonrpc: "2.0", method: "SendMessage" }), /parts/],
    [
      "an odd part",
      () => decodeA2aRequest({ jsonrpc: "2.0", method: "SendMessage", params: { message: { parts: [{ url: "x" }] } } }),
      /a text, data, or an image/,
    ],
  ];
  for (const [what, decode, words] of wrong) it(`is refused: ${what}`, () => assert.throws(decode, words));
});
