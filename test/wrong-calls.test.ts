import assert from "node:assert/strict";
import { inspect } from "node:util";
import { describe, it } from "node:test";
import * as atif from "../packages/runtime/src/exports/atif.ts";
import * as library from "../packages/runtime/src/exports/index.ts";

/** What programs begin with. A program without types may call each of them with anything at all. */
const called: Readonly<Record<string, (...given: never[]) => unknown>> = {
  createAgent: library.createAgent,
  createAnthropicProvider: library.createAnthropicProvider,
  createFileStore: library.createFileStore,
  createHeadlessRunner: library.createHeadlessRunner,
  createHeadlessTransport: library.createHeadlessTransport,
  createProjectSessionStore: library.createProjectSessionStore,
  createProvider: library.createProvider,
  createQuery: library.createQuery,
  createReplayProvider: library.createReplayProvider,
  createScriptedProvider: library.createScriptedProvider,
  defineTool: library.defineTool as (...given: never[]) => unknown,
  fromAiSdk: library.fromAiSdk,
  loadTaskContext: library.loadTaskContext,
  projectPaths: library.projectPaths,
  promptForApproval: library.promptForApproval,
  updateTaskFileStatus: library.updateTaskFileStatus,
  withFallback: library.withFallback,
  withRecorder: library.withRecorder,
  registerSignalHandlers: atif.registerSignalHandlers,
  runHeadless: atif.runHeadless,
  BackgroundJobOrchestrator: (...given) => Reflect.construct(library.BackgroundJobOrchestrator, given),
  BackgroundTaskManager: (...given) => Reflect.construct(library.BackgroundTaskManager, given),
  InteractiveSession: (...given) => Reflect.construct(library.InteractiveSession, given),
  SubagentManager: (...given) => Reflect.construct(library.SubagentManager, given),
  TodoContinuation: (...given) => Reflect.construct(atif.TodoContinuation, given),
};

describe("a call that cannot be right", () => {
  for (const [name, call] of Object.entries(called))
    it(`is refused in words by ${name}`, async () => {
      for (const given of [[], [null], [5], [() => {}]] as never[][])
        await assert.rejects(
          async () => await call(...given),
          (error: unknown) => error instanceof library.RuntimeError && error.code === "usage" && error.message.length > 10,
          `${name}(${inspect(given)})`,
        );
    });

  it("is refused by runHeadless where the history is missing that another agent needs", async () => {
    const agent = { stream: () => assert.fail("it is not called") };
    await assert.rejects(atif.runHeadless({ agent, sessionId: "s", modelId: "m" } as never), {
      code: "usage",
      message: "messageHistory must be a MessageHistory, not undefined",
    });
  });

  it("is refused by a runner where an option is unknown, and by a transport that has no session", async () => {
    const session = { submit: () => {} };
    assert.throws(() => library.createHeadlessRunner({ session, stdout: process.stdout } as never), {
      code: "usage",
      message: "There is no option stdout",
    });
    await assert.rejects(library.createHeadlessTransport({ prompt: "x" }).start(), { code: "usage", message: /not attached/ });
  });

  it("tells where a key may come from, where no variables were given to look it up in", async () => {
    await assert.rejects(library.createProvider("anthropic", {}), { code: "config", hint: /apiKey.*env/ });
    await assert.rejects(library.createProvider("anthropic", { env: {} }), { code: "config", hint: /^Keys are issued/ });
  });
});
