import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { noUsage } from "../../protocol/content.ts";
import { RuntimeError } from "../../protocol/errors.ts";
import type { AgentEvent } from "../../protocol/events.ts";
import { describeCall } from "./describe-call.ts";
import { permissionOptions, toAnswer } from "./permission-question.ts";
import { toUserMessage } from "./prompt-input.ts";
import { toPromptResponse } from "./prompt-result.ts";
import { toRpcError } from "./rpc-error.ts";
import { configOptions, parseEffort, parseMode, sessionModes } from "./session-settings.ts";
import type { ContentBlock } from "./wire.ts";

describe("a prompt of a client", () => {
  it("is text, names of files, texts of files and images", () => {
    const { content } = toUserMessage([
      { type: "text", text: "look at" },
      { type: "resource_link", uri: "file:///a/b%20c.ts", name: "b c.ts" },
      { type: "resource_link", uri: "https://example.org/x", name: "the page", description: "about x" },
      { type: "resource", resource: { uri: "file:///a/d.ts#L3", text: "const d = 1;" } },
      { type: "resource", resource: { uri: "file:///a/e.png", mimeType: "image/png", blob: "AAAA" } },
      { type: "image", mimeType: "image/jpg", data: "AA==" },
    ]);
    assert.deepEqual(content, [
      { type: "text", text: "look at" },
      { type: "text", text: `@"/a/b c.ts"` },
      { type: "text", text: "@https://example.org/x (the page: about x)" },
      { type: "text", text: '<context ref="/a/d.ts#L3">\nconst d = 1;\n</context>' },
      { type: "image", mediaType: "image/png", data: "AAAA" },
      { type: "image", mediaType: "image/jpeg", data: "AA==" },
    ]);
  });

  const wrong: [string, ContentBlock[]][] = [
    ["nothing", []],
    ["blanks only", [{ type: "text", text: " \n" }]],
    ["audio", [{ type: "audio", data: "AA==", mimeType: "audio/wav" }]],
    ["an image of another type", [{ type: "image", data: "AA==", mimeType: "image/svg+xml" }]],
    ["an image that is no base64", [{ type: "image", data: "<svg>", mimeType: "image/png" }]],
    ["a binary resource", [{ type: "resource", resource: { uri: "file:///a.bin", blob: "AA==" } }]],
  ];
  for (const [what, blocks] of wrong)
    it(`is refused when it holds ${what}`, () => {
      assert.throws(
        () => toUserMessage(blocks),
        (error) => error instanceof RuntimeError && error.code === "usage",
      );
    });
});

describe("how a turn went, for a client", () => {
  const failed = (code: RuntimeError["code"]) =>
    ({ type: "failed", error: new RuntimeError(code, "no").toJSON(), text: "" }) as const;
  const reasons = [
    [{ type: "completed", text: "" }, "end_turn"],
    [{ type: "cancelled", cause: "signal", text: "" }, "cancelled"],
    [{ type: "stopped", limit: "max-turns", text: "" }, "max_turn_requests"],
    [{ type: "stopped", limit: "max-requests", text: "" }, "max_turn_requests"],
    [{ type: "stopped", limit: "loop", text: "" }, "max_turn_requests"],
    [{ type: "stopped", limit: "max-budget", text: "" }, "max_turn_requests"],
    [{ type: "stopped", limit: "hook", text: "" }, "end_turn"],
    [failed("model-refusal"), "refusal"],
    [failed("model-output-limit"), "max_tokens"],
  ] as const;
  for (const [outcome, stopReason] of reasons)
    it(`${JSON.stringify(outcome).slice(0, 60)} is ${stopReason}`, () => {
      assert.equal(toPromptResponse(outcome, noUsage).stopReason, stopReason);
    });

  it("a failure without a stop reason is an error with our code and hint", () => {
    const outcome = {
      type: "failed",
      error: new RuntimeError("provider-auth", "bad key", { hint: "set it" }).toJSON(),
      text: "",
    } as const;
    assert.throws(
      () => toPromptResponse(outcome, noUsage),
      (error) => {
        assert.deepEqual(toRpcError(error), {
          code: -32000,
          message: "bad key",
          data: { code: "provider-auth", retryable: false, hint: "set it" },
        });
        return true;
      },
    );
    assert.equal(toRpcError(new Error("x")).code, -32603);
  });

  it("tells tokens with their shares, and nothing when nobody was asked", () => {
    const usage = { inputTokens: 10, outputTokens: 5, cacheReadTokens: 4, cacheWriteTokens: 3, reasoningTokens: 2 };
    const outcome = { type: "completed", text: "" } as const;
    assert.deepEqual(toPromptResponse(outcome, usage).usage, {
      totalTokens: 15,
      inputTokens: 10,
      outputTokens: 5,
      thoughtTokens: 2,
      cachedReadTokens: 4,
      cachedWriteTokens: 3,
    });
    assert.equal(toPromptResponse(outcome, noUsage).usage, undefined);
  });
});

describe("a permission question to a client", () => {
  const question = (rule?: string) =>
    ({
      type: "permission.requested",
      requestId: "r",
      callId: "c",
      tool: "Bash",
      input: {},
      reason: "",
      ...(rule && { rule }),
    }) as unknown as AgentEvent<"permission.requested">;

  it("can only be remembered when there is a rule for it", () => {
    assert.deepEqual(
      permissionOptions(question()).map(({ kind }) => kind),
      ["allow_once", "reject_once"],
    );
    assert.deepEqual(
      permissionOptions(question("Bash(ls\nrm)")).map(({ name, kind }) => [kind, name]),
      [
        ["allow_once", "Allow once"],
        ["allow_always", "Allow in this session: Bash(ls rm)"],
        ["allow_always", "Always allow in this project: Bash(ls rm)"],
        ["reject_once", "Reject"],
      ],
    );
  });

  it("is a yes only when one of the offered yeses was chosen", () => {
    const options = permissionOptions(question("Bash(ls)"));
    const choose = (optionId: unknown): unknown => ({ outcome: { outcome: "selected", optionId } });
    assert.deepEqual(toAnswer(choose("allow"), options), { decision: "allow" });
    assert.deepEqual(toAnswer(choose("allow-session"), options), { decision: "allow", remember: "session" });
    assert.deepEqual(toAnswer(choose("allow-project"), options), { decision: "allow", remember: "project" });
    const noes = [choose("reject"), choose("yes"), choose(1), { outcome: { outcome: "cancelled", optionId: "allow" } }];
    const nonsense = [undefined, null, "allow", [], {}, { outcome: "allow" }, { outcome: { optionId: "allow" } }];
    for (const answer of [...noes, ...nonsense]) assert.equal(toAnswer(answer, options).decision, "deny", JSON.stringify(answer));
    assert.equal(toAnswer(choose("allow-project"), permissionOptions(question())).decision, "deny");
  });
});

describe("what a client may choose", () => {
  const state = { mode: "default", mayBypass: false, model: "x-2", models: [{ id: "x-1" }], effort: undefined } as const;

  it("bypassing permissions is offered only where the agent was started with it", () => {
    const ids = (mayBypass: boolean) => sessionModes({ ...state, mayBypass }).availableModes.map(({ id }) => id);
    assert.deepEqual(ids(false), ["default", "acceptEdits", "sandboxed", "plan", "dontAsk"]);
    assert.deepEqual(ids(true), ["default", "acceptEdits", "sandboxed", "plan", "dontAsk", "bypassPermissions"]);
    assert.throws(() => parseMode("bypassPermissions", state), /no mode/);
    assert.equal(parseMode("bypassPermissions", { ...state, mayBypass: true }), "bypassPermissions");
    assert.throws(() => parseMode("yolo", state), /Choose from: default, acceptEdits, sandboxed, plan, dontAsk/);
  });

  it("the model that is asked is among the models, known or not", () => {
    const option = configOptions(state).find(({ id }) => id === "model");
    assert.deepEqual(
      { current: option?.currentValue, values: option?.options.map(({ value }) => value) },
      { current: "x-2", values: ["x-2", "x-1"] },
    );
  });
});

describe("how hard the model thinks", () => {
  const state = { mode: "default", mayBypass: false, model: "x", models: [], effort: undefined } as const;

  it("is an option of its own, and left to the model when nobody chooses", () => {
    const shown = (effort?: "low") => configOptions({ ...state, effort }).find(({ category }) => category === "thought_level");
    assert.deepEqual([shown()?.currentValue, shown("low")?.currentValue], ["default", "low"]);
    assert.deepEqual(
      shown()?.options.map(({ value }) => value),
      ["default", "minimal", "low", "medium", "high", "xhigh", "max"],
    );
    assert.deepEqual([parseEffort("default"), parseEffort("max")], [undefined, "max"]);
    assert.throws(() => parseEffort("most"), /Choose from: default, minimal/);
  });
});

describe("the words for a call", () => {
  const titles: [string, unknown, string][] = [
    ["Bash", { command: "echo a\necho\tb\u2028c" }, "echo a echo b c"],
    ["Read", { file_path: "/project/src/a.ts" }, "Read src/a.ts"],
    ["Read", { file_path: "/etc/hosts" }, "Read /etc/hosts"],
    ["Grep", { pattern: "x+" }, "Search for x+"],
    ["WebFetch", { url: "https://example.org" }, "Fetch https://example.org"],
    ["Task", { description: "look around" }, "look around"],
    ["mcp__server__tool", { a: 1 }, "mcp__server__tool"],
    ["Bash", {}, "Bash"],
    ["Bash", "no object", "Bash"],
    ["Bash", { command: "x".repeat(500) }, `${"x".repeat(199)}…`],
  ];
  for (const [name, input, title] of titles)
    it(`${name} ${JSON.stringify(input).slice(0, 40)}`, () => {
      assert.equal(describeCall(name, input, "/project").title, title);
    });
});
