import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { createMemoryStore } from "../journal/memory-store.ts";
import { toMessages } from "../journal/transcript.ts";
import { createScriptedProvider, type ScriptedReply, type ScriptStep } from "../model/scripted.ts";
import { defineTool } from "../tools/tool.ts";
import { createRedactor } from "../util/redact.ts";
import { InteractiveSession } from "./interactive-session.ts";
import type { SessionOptions } from "./session-options.ts";

const secret = "correct-horse-battery";
const mask = "[redacted:SERVICE_TOKEN]";
const folder = mkdtempSync(join(tmpdir(), "outrider-masked-"));
after(() => rmSync(folder, { recursive: true, force: true }));
writeFileSync(join(folder, "config.txt"), `${"x".repeat(50)} it is ${secret} end\n`);
writeFileSync(join(folder, "clean.txt"), "nothing here\n");

type Path = {
  readonly replies: readonly ScriptStep[];
  readonly options?: Partial<SessionOptions>;
  readonly prompt?: string;
  /** Where the mask is expected: in the request with this index. */
  readonly request: number;
  readonly window?: number;
  readonly go?: (session: InteractiveSession) => Promise<unknown>;
};

const read = (file_path: string): ScriptedReply => ({ calls: [{ name: "Read", input: { file_path } }] });
/** The window is nearly used up. */
const full: ScriptStep = { text: "so far", usage: { inputTokens: 190_000, outputTokens: 10 } };
const done: ScriptStep = { text: "done" };
/** The model answers when a second prompt has joined the turn. */
let tellJoined = (): void => {};
const joined = new Promise<void>((resolve) => {
  tellJoined = resolve;
});
const note = (hookEventName: string) => () => ({ hookSpecificOutput: { hookEventName, additionalContext: `note ${secret}` } });
const helper = { name: "helper", description: "helps", prompt: "You help.", source: "test" };
const agents = [helper];
const task = (prompt: string): ScriptStep => ({
  calls: [{ name: "Task", input: { description: "d", prompt, subagent_type: "helper" } }],
});
let objections = 0;

/** Every way by which words get into a request. */
const paths: Record<string, Path> = {
  "the prompt": { prompt: `use ${secret}`, replies: [done], request: 0 },
  "the system prompt": { options: { systemPrompt: `You know ${secret}` }, replies: [done], request: 0 },
  "what is added to the system prompt": { options: { appendSystemPrompt: secret }, replies: [done], request: 0 },
  "instruction files": {
    options: { instructions: { text: `Use ${secret}`, files: [], warnings: [] } },
    replies: [done],
    request: 0,
  },
  "the result of a tool": { replies: [read("config.txt"), done], request: 1 },
  "the result of a tool that failed": {
    replies: [{ calls: [{ name: "Read", input: { file_path: `${secret}.txt` } }] }, done],
    request: 1,
  },
  "the words of whoever says no": {
    replies: [{ calls: [{ name: "Bash", input: { command: "touch x" } }] }, done],
    options: { answersPermissions: true },
    request: 1,
    go: async (session) => {
      session.on("permission_request", ({ requestId }) =>
        session.answerPermission(requestId, { decision: "deny", message: `not with ${secret}` }),
      );
      await session.submit("go");
    },
  },
  "what the model said": {
    replies: [{ text: `I know ${secret}`, calls: [{ name: "Read", input: { file_path: "clean.txt" } }] }, done],
    request: 1,
  },
  "what the model thought": {
    replies: [{ reasoning: `It is ${secret}`, calls: [{ name: "Read", input: { file_path: "clean.txt" } }] }, done],
    request: 1,
  },
  "what the model called a tool with": {
    replies: [{ calls: [{ name: "Grep", input: { pattern: secret, path: "clean.txt" } }] }, done],
    request: 1,
  },
  "an input that was no JSON": {
    replies: [{ calls: [{ name: "Read", malformedInput: `{"file_path": "${secret}` }] }, done],
    request: 1,
  },
  "the last answer, at the next prompt": {
    replies: [{ text: `It was ${secret}` }, done],
    request: 1,
    go: async (session) => void [await session.submit("one"), await session.submit("two")],
  },
  "input for a running turn": {
    replies: [() => joined.then(() => read("clean.txt")), done],
    request: 1,
    go: async (session) => {
      const turn = session.submit("go");
      const { outcome } = await session.accept(`and use ${secret}`, { mode: "steer" });
      tellJoined();
      assert.deepEqual(await outcome, await turn);
    },
  },
  "a note of a SessionStart hook": {
    options: { hooks: { SessionStart: [{ hooks: [note("SessionStart")] }] } },
    replies: [done],
    request: 0,
  },
  "a note of a UserPromptSubmit hook": {
    options: { hooks: { UserPromptSubmit: [{ hooks: [note("UserPromptSubmit")] }] } },
    replies: [done],
    request: 0,
  },
  "a note of a PreToolUse hook": {
    options: { hooks: { PreToolUse: [{ hooks: [note("PreToolUse")] }] } },
    replies: [read("clean.txt"), done],
    request: 1,
  },
  "a note of a PostToolUse hook": {
    options: { hooks: { PostToolUse: [{ hooks: [note("PostToolUse")] }] } },
    replies: [read("clean.txt"), done],
    request: 1,
  },
  "what a PostToolUse hook puts in the place of a result": {
    options: {
      hooks: {
        PostToolUse: [
          { hooks: [() => ({ hookSpecificOutput: { hookEventName: "PostToolUse", updatedToolOutput: `now ${secret}` } })] },
        ],
      },
    },
    replies: [read("clean.txt"), done],
    request: 1,
  },
  "the words of a hook that says no": {
    options: { hooks: { PreToolUse: [{ hooks: [() => ({ decision: "block", reason: `because of ${secret}` })] }] } },
    replies: [read("clean.txt"), done],
    request: 1,
  },
  "the words of a Stop hook": {
    options: { hooks: { Stop: [{ hooks: [() => (objections++ === 0 ? { decision: "block", reason: `use ${secret}` } : {})] }] } },
    replies: [done, done],
    request: 1,
  },
  "the question of a prompt hook": {
    options: { hooks: { PreToolUse: [{ hooks: [{ type: "prompt", prompt: "Safe? $ARGUMENTS" }] }] } },
    replies: [{ calls: [{ name: "Grep", input: { pattern: secret, path: "clean.txt" } }] }, { text: '{"ok": true}' }, done],
    request: 1,
  },
  "the question of an agent hook": {
    options: { hooks: { PreToolUse: [{ hooks: [{ type: "agent", prompt: "Safe? $ARGUMENTS" }] }] } },
    replies: [{ calls: [{ name: "Grep", input: { pattern: secret, path: "clean.txt" } }] }, { text: '{"ok": true}' }, done],
    request: 1,
  },
  "the prompt of a subagent": { options: { agents }, replies: [task(`use ${secret}`), done, done], request: 1 },
  "the system prompt of a subagent": {
    options: { agents: [{ ...helper, prompt: `You know ${secret}` }] },
    replies: [task("work"), done, done],
    request: 1,
  },
  "the answer of a subagent": { options: { agents }, replies: [task("work"), { text: `It is ${secret}` }, done], request: 2 },
  "a note of a SubagentStart hook": {
    options: { agents, hooks: { SubagentStart: [{ hooks: [note("SubagentStart")] }] } },
    replies: [task("work"), done, done],
    request: 1,
  },
  "what an answer is said not to fit": {
    options: { outputSchema: { type: "object", properties: { a: { enum: [secret] } }, required: ["a"] } },
    replies: [
      { calls: [{ name: "StructuredOutput", input: { a: "b" } }] },
      { calls: [{ name: "StructuredOutput", input: { a: secret } }] },
    ],
    request: 1,
  },
  "the record that is summarised": {
    replies: [read("config.txt"), done, { text: "summary" }],
    request: 2,
    go: async (session) => void [await session.submit("one"), await session.compact()],
  },
  "what a summary is to dwell on": {
    replies: [read("clean.txt"), done, { text: "summary" }],
    request: 2,
    go: async (session) => void [await session.submit("one"), await session.compact(`on ${secret}`)],
  },
  "what a PreCompact hook adds to that": {
    options: { hooks: { PreCompact: [{ hooks: [() => ({ hookSpecificOutput: { additionalContext: `on ${secret}` } })] }] } },
    replies: [read("clean.txt"), done, { text: "summary" }],
    request: 2,
    go: async (session) => void [await session.submit("one"), await session.compact()],
  },
  "a summary that is made within a turn": {
    replies: [read("clean.txt"), full, { text: `It is ${secret}` }, done],
    request: 3,
    go: async (session) => void [await session.submit("one"), await session.submit("two")],
  },
  "a file that is read again for it": {
    replies: [read("config.txt"), full, { text: "summary" }, done],
    request: 3,
    go: async (session) => void [await session.submit("one"), await session.submit("two")],
  },
  "summaries of parts that are put together": {
    window: 3_000,
    replies: [
      ...Array.from({ length: 8 }, () => ({ text: "word ".repeat(400) })),
      ...Array.from({ length: 12 }, () => ({ text: `It is ${secret}` })),
    ],
    request: 12, // four parts, then all of them
    go: async (session) => {
      await session.setAutoCompactThreshold(false);
      for (let index = 0; index < 8; index++) await session.submit("more");
      await session.compact();
    },
  },
};

function open(replies: readonly ScriptStep[], options: Partial<SessionOptions> = {}, contextWindow = 200_000) {
  const provider = createScriptedProvider(replies, { contextWindow });
  const store = createMemoryStore();
  const redactor = createRedactor({ env: { SERVICE_TOKEN: secret } });
  const session = new InteractiveSession({ cwd: folder, provider, sessionStore: store, redactor, ...options });
  return { session, provider, store };
}

describe("a provider is sent a mask instead of a secret in", () => {
  for (const [what, { replies, options, prompt = "go", request, window, go }] of Object.entries(paths))
    it(what, async () => {
      const { session, provider, store } = open(replies, options, window);
      await (go ? go(session) : session.submit(prompt));
      await session.shutdown();
      const { tools: _, ...sent } = provider.requests[request] ?? {};
      assert.ok(JSON.stringify(sent).includes(mask), JSON.stringify(sent));
      for (const { tools: _tools, ...each } of provider.requests) assert.equal(JSON.stringify(each).includes(secret), false);
      const stored = (await store.read(session.id)).map((event) =>
        event.type === "session.started" ? { ...event, toolDefinitions: [] } : event,
      );
      assert.equal(JSON.stringify(stored).includes(secret), false);
    });

  it("a result that is cut within it", async () => {
    const long = defineTool({
      ...{ name: "Long", description: "", inputSchema: { type: "object" }, concurrent: false },
      access: async () => ({ kind: "note", resources: [] }),
      execute: async () => ({ content: [{ type: "text", text: `${"y".repeat(60)}${secret}${"y".repeat(600)}` }] }),
    });
    const pieces = Array.from({ length: secret.length - 5 }, (_, at) => secret.slice(at, at + 6));
    const overflowDirectory = join(folder, "overflow");
    for (let outputLimit = 200; outputLimit < 600; outputLimit += 7) {
      const { session, provider } = open([{ calls: [{ name: "Long", input: {} }] }, done], {
        outputLimit,
        tools: [long],
        overflowDirectory,
      });
      await session.submit("go");
      await session.shutdown();
      const sent = JSON.stringify(provider.requests);
      assert.equal(
        pieces.find((piece) => sent.includes(piece)),
        undefined,
        `cut at ${outputLimit}`,
      );
    }
    for (const name of readdirSync(overflowDirectory))
      assert.equal(readFileSync(join(overflowDirectory, name), "utf8").includes(secret), false);
  });

  it("a resumed conversation, which is the one that was sent", async () => {
    const first = open([read("config.txt"), { text: `I saw ${secret}` }]);
    await first.session.submit(`look for ${secret}`);
    await first.session.shutdown();
    const { session, provider } = open([done], { sessionStore: first.store, resumeSessionId: first.session.id });
    await session.submit("again");
    await session.shutdown();
    const [before, now] = [first.provider.requests[1]?.messages ?? [], provider.requests[0]?.messages ?? []];
    assert.deepEqual(now.slice(0, before.length), before);
    assert.equal(JSON.stringify(now).split(mask).length, 4);
    assert.deepEqual(toMessages(await first.store.read(session.id)).slice(0, now.length), now);
  });
});
