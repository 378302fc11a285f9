import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { SessionManager } from "./session-manager.ts";

describe("SessionManager", () => {
  it("has an id once it is initialized", () => {
    const session = new SessionManager("my-agent");
    assert.throws(() => session.getId(), /initialize/);
    const id = session.initialize();
    assert.match(id, /^my-agent-[0-9a-f-]{36}$/);
    assert.deepEqual([session.getId(), session.isActive()], [id, true]);
  });
});
