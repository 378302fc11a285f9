import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import type { CommandInteractionPrompt, SystemCommand } from "../../commands/command.ts";
import { createMemoryStore } from "../../journal/memory-store.ts";
import { createScriptedProvider } from "../../model/scripted.ts";
import { InteractiveSession } from "../interactive-session.ts";

const cwd = mkdtempSync(join(tmpdir(), "outrider-command-questions-"));
after(() => rmSync(cwd, { recursive: true, force: true }));

/** A command that asks one question, again after each answer until it has heard `rounds` of them. */
function asking(prompt: CommandInteractionPrompt, rounds = 1): SystemCommand {
  const heard: string[] = [];
  const question = (): ReturnType<SystemCommand["execute"]> => ({
    ...{ success: true, message: "" },
    interaction: {
      prompt,
      submit: (value: string) => {
        heard.push(value);
        return heard.length < rounds ? question() : { success: true, message: `heard ${heard.join(", ")}` };
      },
    },
  });
  return { name: "ask", description: "asks", execute: question };
}

/** What becomes of the command when these are the answers; undefined is none, and cancels. */
async function answer(command: SystemCommand, answers: readonly (string | undefined)[]) {
  const store = createMemoryStore();
  const provider = createScriptedProvider([]);
  const session = new InteractiveSession({ cwd, provider, sessionStore: store, commands: [command], answersInteractions: true });
  const left = [...answers];
  const taken: boolean[] = [];
  const answering = (async () => {
    for await (const { interactionId } of session.events({ types: ["interaction.requested"] })) {
      const value = left.shift();
      taken.push(session.answerInteraction(interactionId, value));
    }
  })();
  const outcome = await session.submit("/ask");
  await session.shutdown();
  await answering;
  const statuses = (await store.read(session.id)).flatMap((event) =>
    event.type === "interaction.resolved" ? [event.status] : [],
  );
  return { said: outcome.type === "failed" ? outcome.error.message : outcome.text, statuses, taken };
}

const text = (validation: Extract<CommandInteractionPrompt, { type: "text" }>["validation"]): CommandInteractionPrompt => ({
  ...{ type: "text", message: "Which words?" },
  ...(validation && { validation }),
});
const choice: CommandInteractionPrompt = {
  type: "choice",
  message: "Which?",
  choices: [
    { value: "a", label: "A" },
    { value: "b", label: "B" },
  ],
};

describe("the question of a command", () => {
  const fits: readonly (readonly [prompt: CommandInteractionPrompt, value: string, fits: boolean])[] = [
    [choice, "b", true],
    [choice, "c", false],
    [text(undefined), "", true],
    [text({ required: true }), " ", false],
    [text({ required: true }), "x", true],
    [text({ maxLength: 3 }), "abc", true],
    [text({ maxLength: 3 }), "abcd", false],
    [text(undefined), "x".repeat(10_000), true],
    [text(undefined), "x".repeat(10_001), false],
    [text({ pattern: "^\\p{Lu}+$" }), "ÄB", true],
    [text({ pattern: "^\\p{Lu}+$" }), "äb", false],
  ];
  it("takes an answer that fits, and asks again for one that does not", async () => {
    for (const [prompt, value, isFit] of fits) {
      const { statuses } = await answer(asking(prompt), [value]);
      assert.deepEqual(statuses, isFit ? ["answered"] : ["unfit", "cancelled"], JSON.stringify([prompt, value.length]));
    }
  });

  it("is given up after the third answer that does not fit", async () => {
    const { said, statuses, taken } = await answer(asking(choice), ["x", "y", "z", "a"]);
    assert.deepEqual(statuses, ["unfit", "unfit", "unfit"]);
    assert.deepEqual([said, taken], ["/ask was cancelled: its question was not answered", [true, true, true]]);
  });

  it("is followed by fifty others at most", async () => {
    const answers = Array<string>(60).fill("a");
    assert.match((await answer(asking(choice, 50), answers)).said, /^heard a/);
    const endless = await answer(asking(choice, 51), answers);
    assert.deepEqual([endless.said, endless.statuses.length], ["/ask was cancelled: its question was not answered", 50]);
  });

  it("takes the first answer, and none once the turn was interrupted", async () => {
    const provider = createScriptedProvider([]);
    const session = new InteractiveSession({
      ...{ cwd, provider, sessionStore: createMemoryStore() },
      ...{ commands: [asking(choice, 2)], answersInteractions: true },
    });
    const turn = session.submit("/ask");
    const questions = session.events({ types: ["interaction.requested"] })[Symbol.asyncIterator]();
    const idOf = async (): Promise<string> => {
      const { value } = await questions.next();
      assert.ok(value?.type === "interaction.requested");
      return value.interactionId;
    };
    const first = await idOf();
    assert.equal(session.answerInteraction(first, "b"), true);
    const second = await idOf();
    assert.equal(session.answerInteraction(first, "a"), false);
    session.interrupt();
    assert.equal((await turn).type, "cancelled");
    assert.equal(session.answerInteraction(second, "a"), false);
    await session.shutdown();
  });
});
