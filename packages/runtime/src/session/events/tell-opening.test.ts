import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { createMemoryStore } from "../../journal/memory-store.ts";
import { createScriptedProvider } from "../../model/scripted.ts";
import { InteractiveSession } from "../interactive-session.ts";
import type { SessionOptions } from "../session-options.ts";

const cwd = mkdtempSync(join(tmpdir(), "outrider-opening-"));
after(() => rmSync(cwd, { recursive: true, force: true }));
const sessionStore = createMemoryStore();

/** What is on record of one opening, without the facts. */
async function opening(options: Partial<SessionOptions>): Promise<unknown[]> {
  const session = new InteractiveSession({ cwd, provider: createScriptedProvider([]), sessionStore, ...options });
  const known = (await sessionStore.read(session.id)).length;
  await session.open();
  const events = (await sessionStore.read(session.id)).slice(known);
  await session.shutdown();
  return events.map((event) => {
    if (event.type === "session.started") return { type: event.type, resumed: event.resumed };
    if (event.type === "session.named") return { type: event.type, name: event.name };
    if (event.type === "warning.raised") return { type: event.type, message: event.message };
    return { type: event.type };
  });
}

describe("what is on record of a session's opening", () => {
  it("whether it is new or goes on, its name when that is another one, and what a person should know", async () => {
    const sessionId = "00000000-0000-4000-8000-000000000001";
    const ignoredSettings = { items: [], hint: "trust it" };
    assert.deepEqual(await opening({ sessionId, sessionName: "Mine", warnings: ["odd"], ignoredSettings }), [
      { type: "session.started", resumed: false },
      { type: "session.named", name: "Mine" },
      { type: "settings.ignored" },
      { type: "warning.raised", message: "odd" },
    ]);
    const again = { resumeSessionId: sessionId };
    assert.deepEqual(await opening({ ...again, sessionName: "Mine" }), [{ type: "session.started", resumed: true }]);
    assert.deepEqual(await opening({ ...again, sessionName: "Other" }), [
      { type: "session.started", resumed: true },
      { type: "session.named", name: "Other" },
    ]);
    assert.deepEqual(await opening({ ...again, resumeAt: 1 }), [
      { type: "session.rewound" },
      { type: "session.started", resumed: true },
    ]);
  });
});
