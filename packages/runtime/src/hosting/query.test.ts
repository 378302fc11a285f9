import assert from "node:assert/strict";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { createScriptedProvider } from "../model/scripted.ts";
import { RuntimeError } from "../protocol/errors.ts";
import { createQuery, type QueryOptions } from "./query.ts";

let cwd = "";
beforeEach(() => {
  cwd = realpathSync(mkdtempSync(join(tmpdir(), "outrider-query-")));
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

function here(replies: Parameters<typeof createScriptedProvider>[0]): QueryOptions {
  return { provider: createScriptedProvider(replies), cwd, home: cwd, outriderHome: join(cwd, ".outrider"), sandboxMode: "off" };
}

describe("createQuery", () => {
  it("answers a prompt with text and streams it", async () => {
    const deltas: string[] = [];
    const query = createQuery({ ...here([{ text: "a b" }, { text: "c" }]), onTextDelta: (delta) => deltas.push(delta) });
    assert.deepEqual([await query("hi"), await query.text("hi")], ["a b", "c"]);
    assert.deepEqual(deltas, ["a ", "b", "c"]);
  });

  it("tells all there is to know of an answer, and of one that failed", async () => {
    const query = createQuery(
      here([
        { text: "a b", usage: { inputTokens: 3, outputTokens: 2 } },
        { fail: { code: "provider-auth", message: "wrong key" } },
      ]),
    );
    const { outcome, messages, usage, sessionId } = await query.result("hi");
    assert.deepEqual([outcome.type, outcome.text, messages.map(({ role }) => role)], ["completed", "a b", ["user", "assistant"]]);
    assert.deepEqual([usage?.inputTokens, usage?.outputTokens, typeof sessionId], [3, 2, "string"]);
    assert.equal((await query.result("hi")).outcome.type, "failed");
  });

  it("rejects with a typed error when there is no answer", async () => {
    const failing = createQuery(here([{ fail: { code: "provider-auth", message: "wrong key" } }]));
    await assert.rejects(failing("hi"), { code: "provider-auth", message: "wrong key" });
    const endless = here(Array.from({ length: 5 }, () => ({ calls: [{ name: "Glob", input: { pattern: "*" } }] })));
    await assert.rejects(createQuery({ ...endless, maxTurns: 2 })("hi"), { code: "limit-reached" });
  });

  it("rejects with what caused it", async () => {
    const provider = createScriptedProvider([
      () => {
        throw new Error("the script is broken", { cause: new TypeError("because of this") });
      },
    ]);
    const failure: unknown = await createQuery({ ...here([]), provider })("go").catch((error: unknown) => error);
    assert.ok(failure instanceof RuntimeError && failure.cause instanceof Error);
    assert.match(String(failure.cause.stack), /the script is broken[\s\S]*because of this/);
  });

  it("stops when its signal is aborted, before it began or meanwhile", async () => {
    const controller = new AbortController();
    const query = createQuery({ ...here([{ text: "a b c d" }, { text: "e" }]), onTextDelta: () => controller.abort() });
    const reason = (error: unknown): boolean => error instanceof RuntimeError && error.cause === controller.signal.reason;
    await assert.rejects(query("hi", { signal: controller.signal }), { code: "closed" });
    await assert.rejects(query("hi", { signal: controller.signal }), reason);
  });
});
