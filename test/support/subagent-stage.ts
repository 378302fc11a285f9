// For tests of subagents: a model that plays the session and its subagents, and a session to put it in.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach } from "node:test";
import type { ModelRequest, Provider } from "../../packages/runtime/src/model/model.ts";
import { createScriptedProvider, type ScriptedCall, type ScriptedReply } from "../../packages/runtime/src/model/scripted.ts";
import { textOf } from "../../packages/runtime/src/protocol/content.ts";
import type { AgentEvent, EventType } from "../../packages/runtime/src/protocol/events.ts";
import type { AgentDefinition } from "../../packages/runtime/src/tasks/agent-definition.ts";
import type { SessionOptions } from "../../packages/runtime/src/session/session-options.ts";
import { InteractiveSession } from "../../packages/runtime/src/session/interactive-session.ts";

export type Answer = (request: ModelRequest) => ScriptedReply | Promise<ScriptedReply>;

export const reader: AgentDefinition = { name: "reader", description: "Reads files.", prompt: "You read files.", source: "test" };

/** A model that answers by who asks: the session, or a subagent. */
export function cast(parts: { readonly parent: Answer; readonly child: Answer }): ReturnType<typeof createScriptedProvider> {
  return createScriptedProvider(
    new Array<Answer>(40).fill((request) => (isChild(request) ? parts.child(request) : parts.parent(request))),
  );
}

export function isChild(request: ModelRequest): boolean {
  return !request.tools.some((tool) => tool.name === "Task");
}

/** What was said last, whoever said it. */
export function lastWords({ messages }: Pick<ModelRequest, "messages">): string {
  const parts = (messages.at(-1)?.content ?? []).flatMap((part) => (part.type === "tool-result" ? part.content : [part]));
  return textOf(parts);
}

export function task(prompt: string, more: object = {}): ScriptedCall {
  return { name: "Task", input: { description: "a task", prompt, ...more } };
}

/** A parent that hands out these calls and then ends with what came back. */
export function handsOut(...calls: ScriptedCall[]): (request: ModelRequest) => ScriptedReply {
  return (request) => (request.messages.at(-1)?.role === "tool" ? { text: `Got: ${lastWords(request)}` } : { calls });
}

export type Stage = {
  readonly session: InteractiveSession;
  readonly events: readonly AgentEvent[];
  /** Shuts the session down; answers all that happened. */
  close(): Promise<readonly AgentEvent[]>;
};

/** A folder for sessions of a test file, and a way to open them. They are closed also where a test fails: a model that hangs would keep the process alive. */
export function stageFolder(): {
  readonly folder: string;
  open(provider: Provider, options?: Partial<SessionOptions>): Stage;
} {
  const folder = mkdtempSync(join(tmpdir(), "outrider-subagents-"));
  writeFileSync(join(folder, "n.txt"), "seven\n");
  writeFileSync(join(folder, "m.txt"), "eight\n");
  const stages: Stage[] = [];
  after(() => rmSync(folder, { recursive: true, force: true }));
  afterEach(async () => void (await Promise.all(stages.splice(0).map((stage) => stage.close()))));
  return {
    folder,
    open(provider, options) {
      const stage = openStage(folder, provider, options);
      stages.push(stage);
      return stage;
    },
  };
}

export function openStage(cwd: string, provider: Provider, options: Partial<SessionOptions> = {}): Stage {
  const session = new InteractiveSession({ cwd, provider, agents: [reader], ...options });
  const events: AgentEvent[] = [];
  const reading = (async () => {
    for await (const event of session.events()) events.push(event);
  })();
  return {
    session,
    events,
    async close() {
      await session.shutdown();
      await reading;
      return events;
    },
  };
}

type EventOf<T extends EventType> = Extract<AgentEvent, { type: T }>;

export function eventsOf<T extends EventType>(events: readonly AgentEvent[], type: T): EventOf<T>[] {
  return events.filter((event): event is EventOf<T> => event.type === type);
}

export async function eventually(check: () => boolean): Promise<void> {
  for (let tries = 0; tries < 1000; tries++) {
    if (check()) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error("It never happened");
}
