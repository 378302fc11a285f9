import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { createMemoryStore } from "../../journal/memory-store.ts";
import { createScriptedProvider, type ScriptStep } from "../../model/scripted.ts";
import type { JsonObject } from "../../protocol/content.ts";
import type { Outcome } from "../../protocol/outcome.ts";
import { createRedactor } from "../../util/redact.ts";
import { InteractiveSession } from "../interactive-session.ts";
import { toShownOutcome } from "./shown-outcome.ts";

const secret = "correct-horse-battery";
const key = ["ghp", "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"].join("_");
const redactor = createRedactor({ env: { SERVICE_TOKEN: secret } });
const folder = mkdtempSync(join(tmpdir(), "outrider-shown-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const outputSchema = { type: "object", properties: { token: { type: "string" } }, required: ["token"] };

async function run(replies: readonly ScriptStep[], nativeSchema: boolean) {
  const provider = createScriptedProvider(replies, { nativeSchema });
  const store = createMemoryStore();
  const session = new InteractiveSession({ cwd: folder, provider, sessionStore: store, redactor, outputSchema });
  const outcome = await session.submit("go");
  await session.shutdown();
  return { session, outcome, stored: JSON.stringify(await store.read(session.id)) };
}

describe("a structured answer", () => {
  const value: JsonObject = { token: `${secret} and ${key}` };
  const ways: Record<string, [ScriptStep, boolean]> = {
    "by a tool": [{ calls: [{ name: "StructuredOutput", input: value }] }, false],
    "in words": [{ text: JSON.stringify(value) }, true],
  };
  for (const [way, [reply, native]] of Object.entries(ways))
    it(`given ${way} is for the program what the model gave, and the record has none of its secrets`, async () => {
      const { outcome, stored } = await run([reply], native);
      assert.deepEqual(outcome, { type: "completed", text: JSON.stringify(value), structured: value });
      assert.deepEqual([stored.includes(secret), stored.includes(key)], [false, false]);
      assert.match(stored, /\[redacted:SERVICE_TOKEN\] and \[redacted:github-token\]/);
    });

  it("is shown as it is where nothing but its look says secret, and says where a secret of the machine was", async () => {
    const { session, outcome } = await run([{ calls: [{ name: "StructuredOutput", input: value }] }], false);
    const structured = { token: `[redacted:SERVICE_TOKEN] and ${key}` };
    assert.deepEqual(session.shown(outcome), {
      type: "completed",
      text: JSON.stringify(structured),
      structured,
      masked: ["A secret in structured_output.token is masked: [redacted:SERVICE_TOKEN]"],
    });
  });
});

describe("an outcome that is shown", () => {
  const cases: Record<string, [Outcome, string[]]> = {
    "an answer": [
      { type: "completed", text: `${key} ${secret}` },
      ["A secret in result is masked: [redacted:github-token], [redacted:SERVICE_TOKEN]"],
    ],
    "last words": [
      { type: "cancelled", cause: "abort", text: secret },
      ["A secret in last_assistant_text is masked: [redacted:SERVICE_TOKEN]"],
    ],
    "lists and names": [
      { type: "completed", text: "", structured: { list: ["x", [secret]], [secret]: 1, [key]: 2 } },
      [
        "A secret in structured_output.list[1][0] is masked: [redacted:SERVICE_TOKEN]",
        "A secret in a name in structured_output is masked: [redacted:SERVICE_TOKEN]",
      ],
    ],
    "a structured answer that is a text": [
      { type: "completed", text: JSON.stringify(secret), structured: secret },
      ["A secret in structured_output is masked: [redacted:SERVICE_TOKEN]"],
    ],
    "very many": [
      { type: "completed", text: "", structured: Array.from({ length: 30 }, () => secret) },
      [
        ...Array.from(
          { length: 20 },
          (_, index) => `A secret in structured_output[${index}] is masked: [redacted:SERVICE_TOKEN]`,
        ),
        "Secrets in 10 more places are masked",
      ],
    ],
  };
  for (const [what, [outcome, masked]] of Object.entries(cases))
    it(`says where it was masked: ${what}`, () => {
      const shown = toShownOutcome(outcome, redactor);
      assert.deepEqual(shown.masked, masked);
      assert.equal(JSON.stringify(shown).includes(secret), false);
      assert.deepEqual(toShownOutcome(shown, redactor), shown, "once is enough");
    });

  it("says where a mask stands that the model saw in place of a secret, and nothing of words that only look like one", () => {
    const mask = "[redacted:SERVICE_TOKEN]";
    const structured = { a: { token: mask }, list: ["x", `is ${mask}`], other: "[redacted:nothing]" };
    assert.deepEqual(toShownOutcome({ type: "completed", text: JSON.stringify(structured), structured }, redactor).masked, [
      `A secret in structured_output.a.token is masked: ${mask}`,
      `A secret in structured_output.list[1] is masked: ${mask}`,
    ]);
    assert.deepEqual(toShownOutcome({ type: "completed", text: `it is ${mask}` }, redactor).masked, [
      `A secret in result is masked: ${mask}`,
    ]);
    assert.equal(toShownOutcome({ type: "completed", text: "[redacted:nothing]" }, redactor).masked, undefined);
  });

  it("is the same where there is nothing to mask", () => {
    for (const outcome of [
      { type: "completed", text: "fine" },
      { type: "completed", text: '{"a":1}', structured: { a: 1 } },
      { type: "stopped", limit: "max-turns", text: "" },
    ] satisfies Outcome[])
      assert.deepEqual(toShownOutcome(outcome, redactor), outcome);
  });

  it("hides what is secret in errors and reasons", () => {
    const failed: Outcome = { type: "failed", error: { code: "internal", message: `no ${secret}`, retryable: false }, text: "" };
    const stopped: Outcome = { type: "stopped", limit: "hook", text: "", reason: `no ${secret}` };
    for (const outcome of [failed, stopped])
      assert.match(JSON.stringify(toShownOutcome(outcome, redactor)), /no \[redacted:SERVICE_TOKEN\]/);
  });
});
