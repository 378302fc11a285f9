import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createMemoryStore } from "../../packages/runtime/src/journal/memory-store.ts";
import type { SessionStore } from "../../packages/runtime/src/journal/store.ts";
import { createAnthropicProvider } from "../../packages/runtime/src/model/providers/anthropic.ts";
import { createScriptedProvider, type ScriptStep } from "../../packages/runtime/src/model/scripted.ts";
import type { Message } from "../../packages/runtime/src/protocol/content.ts";
import type { AgentEvent } from "../../packages/runtime/src/protocol/events.ts";
import type { SessionOptions } from "../../packages/runtime/src/session/session-options.ts";
import { InteractiveSession } from "../../packages/runtime/src/session/interactive-session.ts";
import { cast, handsOut, lastWords, reader, task } from "../support/subagent-stage.ts";
import { startModelServer } from "../../packages/runtime/src/testing/model-server.ts";

/** A run to its end; what it needs beside a folder it makes and ends by itself. */
export type Scenario = { readonly name: string; run(place: ScenarioPlace): Promise<void> };

export type ScenarioPlace = {
  readonly folder: string;
  readonly store: SessionStore;
  /** Opens a session, hands it to `watch`, and ends it. */
  use(
    replies: readonly ScriptStep[] | SessionOptions["provider"],
    options: Partial<SessionOptions>,
    work: (session: InteractiveSession) => Promise<unknown>,
  ): Promise<void>;
};

export type Ran = { events: AgentEvent[]; messages: Message[]; sessionId: string };

/** The smallest picture there is. */
const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";

const usage = { inputTokens: 120, outputTokens: 20, cacheReadTokens: 100, cacheWriteTokens: 10, reasoningTokens: 5 };
const read = { name: "Read", input: { file_path: "a.txt" } };
/** As a provider would count the long answers: a summary must be shorter than what it stands for. */
const longUsage = { ...usage, inputTokens: 6_000, outputTokens: 2_500 };
const long = "All about ports and keys. ".repeat(400);

export const scenarios: readonly Scenario[] = [
  {
    name: "plain",
    run: ({ use }) => use([{ reasoning: "Hm.", text: "Hello.", usage }], {}, (session) => session.submit("Say hello")),
  },
  {
    name: "tools",
    run: ({ use }) =>
      use(
        [
          { text: "Looking.", calls: [read], usage },
          { text: "It says hi.", usage },
        ],
        {},
        (session) => session.submit("What is in a.txt?"),
      ),
  },
  {
    name: "parallel tools",
    run: ({ use }) =>
      use(
        [
          {
            calls: [read, { name: "Glob", input: { pattern: "*.txt" } }, { name: "Read", input: { file_path: "none.txt" } }],
            usage,
          },
          { text: "Done.", usage },
        ],
        {},
        (session) => session.submit("Look around"),
      ),
  },
  {
    name: "denied",
    run: ({ use }) =>
      use(
        [
          { calls: [{ name: "Bash", input: { command: "rm -rf a.txt" } }], usage },
          { text: "I may not.", usage },
        ],
        {},
        (session) => session.submit("Clean up"),
      ),
  },
  {
    name: "asked and allowed",
    run: ({ use }) =>
      use(
        [
          { calls: [{ name: "Write", input: { file_path: "b.txt", content: "b" } }], usage },
          { text: "Written.", usage },
        ],
        { answersPermissions: true },
        (session) => {
          session.on("permission_request", ({ requestId }) => session.answerPermission(requestId, "allow"));
          return session.submit("Write b");
        },
      ),
  },
  {
    name: "malformed call",
    run: ({ use }) =>
      use(
        [
          { calls: [{ name: "Read", malformedInput: '{"file' }], usage },
          { text: "Sorry.", usage },
        ],
        {},
        (session) => session.submit("Go"),
      ),
  },
  {
    name: "failed provider",
    run: ({ use }) =>
      use(
        [{ calls: [read], usage }, { fail: { code: "provider-bad-request", message: "No such model", httpStatus: 404 } }],
        {},
        (session) => session.submit("Go"),
      ),
  },
  {
    name: "failed at once",
    run: ({ use }) =>
      use([{ fail: { code: "provider-auth", message: "The key is wrong", httpStatus: 401 } }], {}, (session) =>
        session.submit("Go"),
      ),
  },
  {
    name: "interrupted while it talks",
    run: ({ use }) =>
      use([{ text: "Once upon a", hang: true }], {}, async (session) => {
        session.on("text_delta", () => session.abort());
        return await session.submit("Tell a story");
      }),
  },
  {
    name: "interrupted in a tool",
    run: ({ use }) =>
      use(
        [{ calls: [{ name: "Bash", input: { command: "sleep 30" } }, read], usage }],
        { permissionMode: "bypassPermissions" },
        async (session) => {
          session.on("tool_start", () => session.abort());
          return await session.submit("Wait");
        },
      ),
  },
  {
    name: "max turns",
    run: ({ use }) =>
      use([{ calls: [read], usage }, { calls: [read], usage }, { text: "never" }], { maxTurns: 2 }, (session) =>
        session.submit("Go on"),
      ),
  },
  {
    name: "budget",
    run: ({ use }) =>
      use(
        createScriptedProvider([{ calls: [read], usage: { ...usage, inputTokens: 9_000_000 } }, { text: "never" }], {
          name: "anthropic",
          model: "claude-sonnet-4-6",
        }),
        { maxBudgetUsd: 0.01 },
        (session) => session.submit("Go"),
      ),
  },
  {
    name: "images",
    run: ({ use }) =>
      use(
        [
          { calls: [{ name: "Read", input: { file_path: "dot.png" } }], usage },
          { text: "A dot.", usage },
        ],
        {},
        (session) => session.submit("What is in dot.png?"),
      ),
  },
  {
    name: "cut and continued, then empty",
    run: ({ use }) =>
      use(
        [
          { text: "One,", finish: "length", usage },
          { text: "", usage },
          { text: " two.", usage },
        ],
        {},
        (session) => session.submit("Count"),
      ),
  },
  {
    name: "structured output",
    run: ({ use }) =>
      use(
        [
          { text: "no JSON", usage },
          { calls: [{ name: "StructuredOutput", input: { answer: 4 } }], usage },
        ],
        { outputSchema: { type: "object", properties: { answer: { type: "number" } }, required: ["answer"] } },
        (session) => session.submit("2 + 2?"),
      ),
  },
  {
    name: "compaction",
    run: ({ use }) =>
      use(
        [
          { text: long, usage: longUsage },
          { text: long, usage: longUsage },
          { text: "They talked about ports.", usage: longUsage },
          { text: "Ports.", usage },
        ],
        {},
        async (session) => {
          await session.submit(`Tell me about ports. ${long}`);
          await session.submit("And keys?");
          if (!(await session.compact())) throw new Error("Nothing was compacted");
          return await session.submit("What was it about?");
        },
      ),
  },
  {
    name: "failed compaction",
    run: ({ use }) =>
      use(
        [
          { text: long, usage },
          { text: long, usage },
          { fail: { code: "provider-bad-request", message: "no" } },
          { text: "Fine.", usage },
        ],
        {},
        async (session) => {
          await session.submit(`Tell me about ports. ${long}`);
          await session.submit("And keys?");
          await session.compact().catch(() => {});
          return await session.submit("What was it about?");
        },
      ),
  },
  {
    name: "two prompts",
    run: ({ use }) =>
      use(
        [
          { text: "One.", usage },
          { text: "Two.", usage },
        ],
        {},
        async (session) => [await session.submit("First"), await session.submit("Second")],
      ),
  },
  {
    name: "resumed session",
    async run({ use }) {
      await use(
        [
          { calls: [read], usage },
          { text: "It says hi.", usage },
        ],
        {},
        (session) => session.submit("What is in a.txt?"),
      );
      await use([{ text: "Still hi.", usage }], { resumeSessionId: "s1" }, (session) => session.submit("And now?"));
    },
  },
  {
    name: "retry",
    async run({ use }) {
      const server = await startModelServer({ replies: [{ status: 529 }, { text: "There.", usage }] });
      const provider = createAnthropicProvider({ apiKey: "k", baseURL: server.url, retry: { baseDelayMs: 1 } });
      try {
        await use(provider, {}, (session) => session.submit("Are you there?"));
      } finally {
        provider.close();
        await server.close();
      }
    },
  },
  {
    name: "fallback",
    run: ({ use }) =>
      use(
        [{ fail: { code: "provider-overloaded", message: "Busy" } }, { text: "I stand in.", usage }],
        { fallback: { model: "other" } },
        (session) => session.submit("Hello?"),
      ),
  },
  {
    name: "subagents at work side by side",
    run: ({ use }) => {
      const parent = handsOut(task("Read a.txt"), task("Say hello"));
      const provider = cast({
        parent: (request) => ({ ...parent(request), usage }),
        child: (request) => (lastWords(request) === "Read a.txt" ? { calls: [read], usage } : { text: "It says hi.", usage }),
      });
      return use(provider, { agents: [reader] }, (session) => session.submit("Ask others"));
    },
  },
  {
    name: "a picture in the prompt",
    run: ({ use }) =>
      use([{ text: "A dot.", usage }], {}, (session) =>
        session.submit({
          role: "user",
          content: [
            { type: "text", text: "What is this?" },
            { type: "image", mediaType: "image/png", data: png },
          ],
        }),
      ),
  },
  {
    name: "odd characters",
    run: ({ use }) =>
      use([{ text: "line\u2028separator \ud83d\ude00 \u0000 end", usage }], {}, (session) => session.submit("\u2029 \u202e hi")),
  },
];

/** Runs a scenario in a folder of its own; answers what the session stored and what its model was shown last. */
export async function runScenario(
  { run }: Scenario,
  folder: string,
  watch: (session: InteractiveSession) => void = () => {},
): Promise<Ran> {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "a.txt"), "hi\n");
  writeFileSync(join(folder, "dot.png"), Buffer.from(png, "base64"));
  const store = createMemoryStore();
  let messages: Message[] = [];
  await run({
    folder,
    store,
    async use(replies, options, work) {
      const provider = Array.isArray(replies) ? createScriptedProvider(replies) : (replies as SessionOptions["provider"]); // a list or a provider
      const id = options.resumeSessionId === undefined ? { sessionId: "s1" } : {};
      const session = new InteractiveSession({
        cwd: folder,
        provider,
        sessionStore: store,
        env: { PATH: process.env["PATH"] ?? "" },
        ...id,
        ...options,
      });
      watch(session);
      try {
        await work(session);
      } finally {
        messages = session.getMessages();
        await session.shutdown();
      }
    },
  });
  return { events: await store.read("s1"), messages, sessionId: "s1" };
}
