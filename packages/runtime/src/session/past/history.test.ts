import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createScriptedProvider } from "../../model/scripted.ts";
import { userText } from "../../protocol/content.ts";
import { getMessagesForAPI, messageToHistoryEntry } from "./history.ts";
import { InteractiveSession } from "../interactive-session.ts";

describe("a history", () => {
  it("holds the messages of its session, and nothing else of it is a message", async () => {
    const provider = createScriptedProvider([{ calls: [{ name: "TodoWrite", input: { todos: [] } }] }, { text: "done" }]);
    const session = new InteractiveSession({ cwd: process.cwd(), provider });
    await session.submit("go");
    const history = session.getFullHistory();
    assert.ok(history.length > session.getMessages().length);
    assert.deepEqual(getMessagesForAPI(history), session.getMessages());
    assert.deepEqual(
      getMessagesForAPI(session.getMessages().map((message) => messageToHistoryEntry(message))),
      session.getMessages(),
    );
    await session.shutdown();
  });

  it("takes messages of others, with an id and a time", () => {
    const timestamp = new Date(0);
    assert.deepEqual(messageToHistoryEntry(userText("hi"), { id: "1", timestamp }), {
      id: "1",
      timestamp,
      category: "chat",
      type: "user",
      data: userText("hi"),
    });
    assert.match(messageToHistoryEntry(userText("hi")).id, /^[0-9a-f-]{36}$/);
  });
});
