import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type LiveInput, PermissionGate, type Question } from "./gate.ts";

const question = (requestId: string): Question => ({
  requestId,
  callId: "c",
  tool: "Bash",
  input: { command: "ls" } as unknown as LiveInput, // a test makes its own
  reason: "why not",
});

describe("the gate", () => {
  it("tells what is asked until somebody answers, once", async () => {
    const gate = new PermissionGate();
    const [first, second] = [question("a"), question("b")];
    const signal = new AbortController().signal;
    const answers = [gate.ask(first, signal), gate.ask(second, signal)];
    assert.deepEqual([gate.question("a"), gate.question("b"), gate.question("c")], [first, second, undefined]);
    gate.answer("a", "deny");
    gate.answer("b", { decision: "allow", remember: "session" });
    assert.deepEqual(await Promise.all(answers), [{ decision: "deny" }, { decision: "allow", remember: "session" }]);
    assert.deepEqual([gate.question("a"), gate.question("b")], [undefined, undefined]);
    for (const id of ["a", "c"]) assert.throws(() => gate.answer(id, "allow"), { code: "not-found" });
  });

  it("asks no more when the turn is aborted, and an answer that was given stays given", async () => {
    const gate = new PermissionGate();
    const turn = new AbortController();
    const [answered, open] = [gate.ask(question("a"), turn.signal), gate.ask(question("b"), turn.signal)];
    gate.answer("a", "allow");
    turn.abort(new Error("over"));
    await assert.rejects(open, /over/);
    assert.deepEqual(await answered, { decision: "allow" });
    assert.equal(gate.question("b"), undefined);
    assert.throws(() => gate.answer("b", "allow"), { code: "not-found" });
  });

  it("listens to a turn no longer than its question is open", async () => {
    const gate = new PermissionGate();
    const { signal } = new AbortController();
    const heard: string[] = [];
    const spy = new Proxy(signal, {
      get(target, name) {
        if (name === "addEventListener" || name === "removeEventListener") heard.push(name);
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
    const answer = gate.ask(question("a"), spy);
    gate.answer("a", "allow");
    await answer;
    assert.deepEqual(heard, ["addEventListener", "removeEventListener"]);
  });

  it("takes nothing for a yes that is none, and goes on waiting", async () => {
    const gate = new PermissionGate();
    const asked = gate.ask(question("a"), new AbortController().signal);
    for (const answer of ["no", "Deny", "", true, false, null, undefined, {}, { behavior: "deny" }, { decision: "block" }])
      assert.throws(() => gate.answer("a", answer as "deny"), { code: "usage" }, JSON.stringify(answer));
    gate.answer("a", "deny");
    assert.deepEqual(await asked, { decision: "deny" });
  });
});
