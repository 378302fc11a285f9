import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { textOf, userText } from "../../protocol/content.ts";
import { type LivePrompt, PromptQueue } from "./prompt-queue.ts";

const prompt = (text: string, uuid?: string): LivePrompt => ({ input: userText(text), uuid });
const words = (found: LivePrompt | undefined): string | undefined => found && textOf(found.input.content);

describe("PromptQueue", () => {
  it("gives prompts in their order, urgent ones first, and nothing after its end", async () => {
    const queue = new PromptQueue();
    queue.add(prompt("one"));
    queue.add(prompt("two"));
    queue.add(prompt("urgent"), "first");
    queue.end();
    assert.deepEqual(
      [words(await queue.next()), words(await queue.next()), words(await queue.next()), await queue.next()],
      ["urgent", "one", "two", undefined],
    );
  });

  it("waits for a prompt, and for its end", async () => {
    const queue = new PromptQueue();
    const first = queue.next();
    queue.add(prompt("late"));
    assert.equal(words(await first), "late");
    const second = queue.next();
    queue.end();
    assert.equal(await second, undefined);
  });

  it("puts what was kept before the next prompt, once", () => {
    const queue = new PromptQueue();
    queue.keep(userText("note one. "));
    queue.keep(userText("note two. "));
    assert.equal(words(queue.complete(prompt("question"))), "note one. note two. question");
    assert.equal(words(queue.complete(prompt("another"))), "another");
  });

  it("knows names it has seen, and takes out what waits under one", () => {
    const queue = new PromptQueue();
    assert.deepEqual(
      [queue.isNew("a"), queue.isNew("a"), queue.isNew(undefined), queue.isNew(undefined)],
      [true, false, true, true],
    );
    queue.add(prompt("one", "a"));
    queue.add(prompt("two", "b"));
    assert.equal(words(queue.remove("a")), "one");
    assert.equal(queue.remove("a"), undefined);
    assert.deepEqual(queue.clear().map(words), ["two"]);
    assert.deepEqual(queue.waiting, []);
  });
});
