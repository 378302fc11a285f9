import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { userText } from "../protocol/content.ts";
import { createLocalWorkspace } from "../workspace/local.ts";
import { type Admission, admitExpansion, admitPrompt, type PromptToAdmit } from "./admit-prompt.ts";
import { TurnAborted } from "./turn-aborted.ts";
import { callbackHooks } from "../../../../test/support/bash-calls.ts";

const folder = mkdtempSync(join(tmpdir(), "outrider-admit-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const workspace = createLocalWorkspace({ root: folder, env: {}, overflowDirectory: join(folder, "overflow") });

const prompt: PromptToAdmit = { input: "go", rawInput: "/go", promptId: "p1", opened: undefined };
const first: PromptToAdmit = { ...prompt, opened: { source: "startup", model: "m", instructions: [] } };
type Hook = (input: unknown) => unknown;

function depsWith(hooks: Record<string, Hook>, signal: AbortSignal = new AbortController().signal) {
  const named = Object.entries(hooks).map(([event, callback]) => [event, [{ hooks: [{ type: "callback", callback }] }]]);
  return { hooks: callbackHooks(Object.fromEntries(named), workspace), signal, emit: () => {} };
}

const admit = (hooks: Record<string, Hook>, given: PromptToAdmit = prompt): Promise<Admission> =>
  admitPrompt(depsWith(hooks), given);
const context = (hookEventName: string, additionalContext: string) => () => ({
  hookSpecificOutput: { hookEventName, additionalContext },
});
const refuse = () => ({ continue: false, stopReason: "not today" });

describe("a prompt", () => {
  it("is let in as it is, with what hooks of the session and of the prompt say, in this order", async () => {
    assert.deepEqual(await admit({}), { input: userText("go"), blocked: false, notes: [], opened: true });
    const { notes, ...rest } = await admit(
      { SessionStart: context("SessionStart", "one"), UserPromptSubmit: context("UserPromptSubmit", "two") },
      first,
    );
    assert.deepEqual(rest, { input: userText("go"), blocked: false, opened: true });
    assert.deepEqual(
      notes.map((note) => JSON.stringify(note)).map((text) => [/\bone\b/.test(text), /\btwo\b/.test(text)]),
      [
        [true, false],
        [false, true],
      ],
    );
  });

  it("that was let in before is asked about no more, and its session still is", async () => {
    assert.deepEqual(await admit({ UserPromptSubmit: refuse }, { ...prompt, isAdmitted: true }), {
      input: userText("go"),
      blocked: false,
      notes: [],
      opened: true,
    });
    const stopped = await admit({ SessionStart: refuse }, { ...first, isAdmitted: true });
    assert.deepEqual([stopped.opened, stopped.outcome?.type], [false, "stopped"]);
  });

  it("stands no more in the record where a hook does not let it in", async () => {
    const { input, ...rest } = await admit({ UserPromptSubmit: refuse }, first);
    assert.doesNotMatch(JSON.stringify(input), /go/);
    assert.deepEqual(rest, {
      blocked: true,
      notes: [],
      opened: true,
      outcome: { type: "stopped", limit: "hook", text: "", reason: "not today" },
    });
  });

  it("stays as it is where the session is not let begin, which begins with the next one then", async () => {
    assert.deepEqual(await admit({ SessionStart: refuse }, first), {
      input: userText("go"),
      blocked: false,
      notes: [],
      opened: false,
      outcome: { type: "stopped", limit: "hook", text: "", reason: "not today" },
    });
  });

  it("ends with what went wrong, and says whether the session had begun", async () => {
    const aborted = AbortSignal.abort(new TurnAborted("abort"));
    const { outcome: _, ...later } = await admitPrompt(depsWith({}, aborted), prompt);
    assert.deepEqual(later, { input: userText("go"), blocked: false, notes: [], opened: true });
    assert.equal((await admitPrompt(depsWith({}, aborted), first)).opened, false);
    const during = new AbortController();
    const abort = (): object => {
      during.abort(new TurnAborted("abort"));
      return {};
    };
    const begun = await admitPrompt(depsWith({ SessionStart: abort }, during.signal), first);
    assert.equal(begun.outcome?.type, "cancelled");
  });
});

describe("the text of a command", () => {
  const facts = { name: "go", args: "", scope: "project", typed: "/go" } as const;
  const expand = (hooks: Record<string, Hook>, signal?: AbortSignal) => admitExpansion(depsWith(hooks, signal), facts, "p1");

  it("is let in with what hooks say to it, or not at all", async () => {
    assert.deepEqual(await expand({}), { notes: [] });
    assert.equal((await expand({ UserPromptExpansion: context("UserPromptExpansion", "one") })).notes.length, 1);
    assert.deepEqual(await expand({ UserPromptExpansion: refuse }), {
      notes: [],
      outcome: { type: "stopped", limit: "hook", text: "", reason: "not today" },
    });
    assert.equal((await expand({}, AbortSignal.abort(new TurnAborted("abort")))).outcome?.type, "cancelled");
  });
});
