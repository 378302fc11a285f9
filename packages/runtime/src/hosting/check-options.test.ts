import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as z from "zod";
import { createFileStore } from "../journal/file-store.ts";
import { createMemoryStore } from "../journal/memory-store.ts";
import { fromAiSdk } from "../model/ai-sdk.ts";
import { withFallback } from "../model/fallback.ts";
import type { Provider } from "../model/model.ts";
import { createAnthropicProvider } from "../model/providers/anthropic.ts";
import { createScriptedProvider } from "../model/scripted.ts";
import type { JsonObject } from "../protocol/content.ts";
import { defineTool } from "../tools/define-tool.ts";
import { CheckedSession } from "./checked-session.ts";
import { createAgent } from "./create-agent.ts";
import { createQuery } from "./query.ts";
import { type HostedRequest, SessionHost, type SessionHostOptions } from "./session-host.ts";
import { InteractiveSession, type InteractiveSessionOptions } from "./interactive-session.ts";

const open = (options: unknown): InteractiveSession => new InteractiveSession(options as InteractiveSessionOptions);
const fine = { cwd: process.cwd(), provider: createScriptedProvider([]) };
const add = defineTool({ name: "add", description: "", inputSchema: { type: "object" }, execute: () => "" });

/** Wrong values of one option each, and what is said about them. */
const wrongOptions: readonly [Record<string, unknown>, RegExp][] = [
  [{ cwd: "" }, /^cwd must be a text that is not empty, not ""$/],
  [{ cwd: undefined }, /^cwd must be a text that is not empty, not undefined$/],
  [{ provider: "anthropic" }, /^provider must be a provider, such as .*, not "anthropic"$/],
  [{ model: "" }, /^model must be a text that is not empty, not ""$/],
  [{ permissions: { alow: [] } }, /^There is no option permissions\.alow; did you mean allow\?$/],
  [
    { agents: [{ name: "a", description: "", prompt: "", tols: [] }] },
    /^There is no option agents\[0\]\.tols; did you mean tools\?$/,
  ],
  [{ bash: { defaultTimeout: 5 } }, /^There is no option bash\.defaultTimeout; did you mean defaultTimeoutMs\?$/],
  [{ inbox: { prompts: -1 } }, /^There is no option inbox\.prompts/],
  [{ compaction: { treshold: 0.5 } }, /^There is no option compaction\.treshold; did you mean threshold\?$/],
  [
    { sandbox: { mode: "auto", network: { domain: [] } } },
    /^There is no option sandbox\.network\.domain; did you mean domains\?$/,
  ],
  [{ plugins: [{ path: "/x", paths: "/y" }] }, /^There is no option plugins\[0\]\.paths; did you mean path\?$/],
  [{ commandAdapters: 5 }, /^commandAdapters must be an object with .*, not 5$/],
  [{ modelVariables: { X: 5 } }, /^modelVariables\.X must be a text, not 5$/],
  [{ resumeSessionId: "a" }, /^resumeSessionId names a stored session: say with sessionStore where it is stored$/],
  [{ foo: 1 }, /^There is no option foo$/],
  [{ mcpServers: [{}] }, /^mcpServers\[0\]\.value must be an object, not undefined$/],
  [{ mcpServers: "x" }, /^mcpServers must be an object of servers by name, .*, not "x"$/],
  [
    { resumeSessionId: "a", sessionId: "b", sessionStore: createMemoryStore() },
    /^sessionId names a new session: with resumeSessionId it needs forkSession/,
  ],
  [{ tools: [add, add] }, /^tools: there are two tools named add$/],
  [{ sessionId: "  " }, /^sessionId must be a text that is not empty/],
  [{ sessionId: "x/../../y" }, /^sessionId must be letters, digits, "-" and "_", at most 128 of them, not "x/],
  [{ cwd: "/a\0b" }, /^cwd must be a text without NUL characters/],
  [{ permissions: { additionalDirectories: ["/a\0b"] } }, /^permissions\.additionalDirectories\[0\] must be a text without NUL/],
  [{ env: { A: "x\0y" } }, /^env\.A must be a text without NUL/],
  [{ resumeSessionId: "" }, /^resumeSessionId must be/],
  [{ resumeAt: -1, resumeSessionId: "x" }, /^resumeAt must be a whole number, 0 or more, not -1$/],
  [{ resumeAt: 3 }, /^resumeAt is a place in a session that exists/],
  [{ language: "" }, /^language must be/],
  [{ mainAgent: "" }, /^mainAgent must be/],
  [{ sessionName: 5 }, /^sessionName must be a text that is not empty, not 5$/],
  [{ systemPrompt: 5 }, /^systemPrompt must be a text, not 5$/],
  [{ permissionMode: "yolo" }, /^permissionMode must be one of plan, default, .*, not "yolo"$/],
  [{ sandboxMode: "of" }, /^sandboxMode must be one of auto, require, off \(did you mean off\?\), not "of"$/],
  [{ settingSources: ["all"] }, /^settingSources\[0\] must be one of user, project, local.*, not "all"$/],
  [{ without: "hooks" }, /^without must be a list of instructions, .*, not "hooks"$/],
  [{ allowedTools: "Bash" }, /^allowedTools must be a list of rules such as .*, not "Bash"$/],
  [{ allowedTools: ["Foo("] }, /^allowedTools\[0\] must be a rule such as .*, not "Foo\("$/],
  [{ allowedTools: [""] }, /^allowedTools\[0\] must be a rule/],
  [{ allowedTools: ["Reed"] }, /^allowedTools: There is no tool "Reed"; did you mean Read\?$/],
  [{ disallowedTools: ["Bsh"] }, /^disallowedTools: There is no tool "Bsh"; did you mean Bash\?$/],
  [{ maxTurns: -1 }, /^maxTurns must be a whole number above 0, not -1$/],
  [{ maxTurns: 1.5 }, /^maxTurns must be a whole number above 0, not 1.5$/],
  [{ maxBudgetUsd: "1" }, /^maxBudgetUsd must be a number above 0, not "1"$/],
  [{ maxBudgetUsd: Number.NaN }, /^maxBudgetUsd must be a number above 0, not NaN$/],
  [{ temperature: 3 }, /^temperature must be a number between 0 and 2, not 3$/],
  [{ effort: "huge" }, /^effort must be one of/],
  [{ compaction: { threshold: 83 } }, /^compaction\.threshold must be a share between 0 and 1, or false, not 83$/],
  [{ loops: 3 }, /^loops must be an object with noteAt and stopAt, not 3$/],
  [{ settings: { permissions: {} } }, /^settings must be a text that is not empty, not an object$/],
  [{ mcpServers: ["x"] }, /^mcpServers must be an object of servers by name/],
  [{ mcpServers: { a: "node" } }, /^mcpServers: server "a": expected an object$/],
  [{ mcpServers: { a: { command: "" } } }, /^mcpServers: server "a": command must be the name of a program$/],
  [{ mcpServers: { a: { command: "node", arg: ["x"] } } }, /^mcpServers\.a has no field arg; did you mean args\?$/],
  [{ mcpServers: { a: { url: "ftp://x" } } }, /^mcpServers: server "a": url must be an http or https address$/],
  [{ permissonMode: "plan" }, /^There is no option permissonMode; did you mean permissionMode\?$/],
  [{ verbose: true }, /^There is no option verbose$/],
  [{ builtinTools: ["Read", "Gerp"] }, /^builtinTools: There is no tool "Gerp"; did you mean Grep\?$/],
  [{ builtinTools: ["LS"] }, /^builtinTools: There is no tool "LS"/],
  [{ toolAliases: { Run: "Bsh" } }, /^toolAliases: There is no tool "Bsh"; did you mean Bash\?$/],
  [{ toolAliases: { Run: 5 } }, /^toolAliases\.Run must be a text that is not empty, not 5$/],
  [{ tools: [{ name: "x" }] }, /^tools\[0\]\.execute must be a function, not undefined$/],
  [{ tools: { x: {} } }, /^tools must be a list of tools, as defineTool makes them, not an object$/],
  [{ agents: [{ name: "x" }] }, /^agents\[0\]\.description must be a text, not undefined$/],
  [{ commands: [{ name: "x" }] }, /^commands\[0\]\.execute must be a function/],
  [{ passEnv: ["="] }, /^passEnv\[0\] must be the name of a variable, not "="$/],
  [{ env: { A: 1 } }, /^env\.A must be a text, not 1$/],
  [{ sandboxClient: {} }, /^sandboxClient must be a machine with run, readFile and writeFile, not an object$/],
  [{ sessionStore: {} }, /^sessionStore must be a store, such as createFileStore\(directory\) makes, not an object$/],
  [{ outputSchema: "number" }, /^outputSchema must be a schema: .*, not "number"$/],
  [{ outputSchema: { type: "objekt" } }, /^outputSchema: The JSON Schema is not valid at \/type: there is no type "objekt"/],
  [{ hooks: [] }, /^hooks must be an object, not a list$/],
  [{ hooks: { PreTolUse: [] } }, /hooks has no event "PreTolUse"; did you mean "?PreToolUse"?\?/],
  [{ hooks: { Stop: [{ hooks: [{ type: "command" }] }] } }, /hooks\.Stop\[0\]\.hooks\[0\]/],
  [{ catalogOverride: [] }, /^catalogOverride must be what parseCatalogOverride answers, not a list$/],
  [{ fallback: "gpt-5" }, /^fallback must be an object with a model, not "gpt-5"$/],
  [{ bare: "yes" }, /^bare must be true or false, not "yes"$/],
  [{ forkSession: true }, /^forkSession copies a session that exists/],
  [{ sandboxSnapshotId: "s" }, /^sandboxSnapshotId .* needs a sandboxClient$/],
];

describe("options of a program without types", () => {
  for (const [option, message] of wrongOptions)
    it(`are refused in its own words before anything else goes wrong: ${Object.keys(option).join(", ")} ${message.source}`, () => {
      assert.throws(() => open({ ...fine, ...option }), { code: "usage", message });
    });

  it("are refused where there are none at all, and taken where they are absent", () => {
    assert.throws(() => open(undefined), { code: "usage", message: "InteractiveSession must be given an object, not undefined" });
    open({ ...fine, model: undefined, allowedTools: undefined });
    open({
      ...fine,
      tools: [add],
      allowedTools: ["add", "Run", "mcp__x"],
      toolAliases: { Run: "add", Shell: "mcp__other__shell" },
      mcpServers: { a: { command: ["$", "{SOMEWHERE}"].join("") } },
      outputSchema: z.object({ a: z.string() }),
      systemPrompt: "",
    });
  });

  it("are called by the name they have for the program, also in settings", async () => {
    const session = open({ ...fine, settings: '{"permissions": {"allow": "Bash"}}' });
    await assert.rejects(
      session.open(),
      (error: Error) => /^settings\b/.test(error.message) && !error.message.includes("--settings"),
    );
    await session.shutdown();
  });

  it("are refused by a query when it is made, and by each question", async () => {
    assert.throws(() => createQuery(JSON.parse('{"model":"x"}')), { code: "usage", message: /^provider must be/ });
    assert.throws(() => createQuery({ ...fine, ...JSON.parse('{"onTextDelta":1}') }), {
      message: "onTextDelta must be a function, not 1",
    });
    const query = createQuery({ provider: fine.provider });
    await assert.rejects(query(JSON.parse("5")), { code: "usage", message: "prompt must be a text that is not empty, not 5" });
    await assert.rejects(query("x", JSON.parse('{"signal":5}')), {
      code: "usage",
      message: "signal must be an AbortSignal, not 5",
    });
  });

  it("are refused by an agent", async () => {
    const agent = (more: object): Promise<unknown> => createAgent({ model: fine.provider, ...more });
    await assert.rejects(agent({ maxTurns: 0 }), { code: "usage", message: /^maxTurns must be/ });
    await assert.rejects(agent({ tools: 5 }), { code: "usage", message: /^tools must be a list of tools/ });
    await assert.rejects(agent({ tools: [3] }), { code: "usage", message: /^tools\[0\] must be a tool, as defineTool makes it/ });
    await assert.rejects(createAgent(JSON.parse("null")), {
      code: "usage",
      message: /^createAgent must be given an object with a model, not null$/,
    });
  });
});

describe("requests to a host without types", () => {
  const request = (value: unknown): HostedRequest => value as HostedRequest;
  const refusals: readonly [Record<string, unknown>, RegExp][] = [
    [{ permissionMode: "plan" }, /give it as options.permissionMode$/],
    [{ options: { bare: true } }, /^bare is a part of the request: give it beside options$/],
    [{ options: { builtinTools: ["Bsh"] } }, /did you mean Bash\?$/],
    [{ options: { maxTurns: "2" } }, /^maxTurns must be a whole number above 0, not "2"$/],
    [{ options: 5 }, /^options must be an object, not 5$/],
    [{ cwd: 5 }, /^cwd must be a text that is not empty, not 5$/],
    [{ provider: 5 }, /^provider must be a provider, or the name of one, not 5$/],
    [{ mcpServers: { a: {} } }, /^mcpServers: server "a": command must be/],
    [{ session: { type: "old" } }, /^session must be a function, or an object whose type is/],
    [{ persistent: 1 }, /^persistent must be true or false, not 1$/],
  ];
  for (const [value, message] of refusals)
    it(`are refused: ${JSON.stringify(value)}`, async () => {
      assert.throws(() => new SessionHost({ defaults: request(value) }), { code: "usage", message });
      const host = new SessionHost({ defaults: { provider: createScriptedProvider([]), persistent: false } });
      await assert.rejects(host.create(request(value)), { code: "usage", message });
      await assert.rejects(host.open("x", request(value)), { code: "usage", message });
      await assert.rejects(host.fork("x", request(value)), { code: "usage", message });
      await host.shutdown();
    });

  it("are refused in the host's own options and in ids", async () => {
    const made = (value: unknown) => (): SessionHost => new SessionHost(value as SessionHostOptions);
    assert.throws(made({ maxSession: 3 }), {
      code: "usage",
      message: "There is no option maxSession; did you mean maxSessions?",
    });
    assert.throws(made({ maxSessions: 0 }), { code: "usage", message: "maxSessions must be a whole number above 0, not 0" });
    assert.throws(made({ idleMs: "1" }), { code: "usage", message: 'idleMs must be a number above 0, not "1"' });
    assert.throws(made({ warn: "x" }), { code: "usage", message: 'warn must be a function, not "x"' });
    const host = new SessionHost({ defaults: { provider: createScriptedProvider([]), persistent: false } });
    await assert.rejects(host.open(""), { code: "usage", message: 'id must be a text that is not empty, not ""' });
    await assert.rejects(host.fork("x", { at: -1 }), { code: "usage", message: "at must be a whole number, 0 or more, not -1" });
    await host.shutdown();
  });

  it("may name tools of the host's own", async () => {
    const host = new SessionHost({
      defaults: { provider: createScriptedProvider([]), persistent: false, options: { tools: [add] } },
    });
    const held = await host.create({ options: { allowedTools: ["add"] } });
    held.release();
    await host.shutdown();
  });
});

describe("what a session is told while it lives", () => {
  const session = (): InteractiveSession => open({ ...fine, bare: true, provider: createScriptedProvider([{ text: "hi" }]) });

  it("is refused where it is wrong, in a prompt", async () => {
    const it = session();
    const submit = it.submit.bind(it) as (...args: unknown[]) => Promise<unknown>;
    const cases: readonly [readonly unknown[], string][] = [
      [["x", 5], "displayInput must be a text, not 5"],
      [["x", null], "The options of a prompt must be given an object, not null"],
      [[5], "The prompt must be a text or a message of the user, not 5"],
      [[{}], "The prompt must be a text or a message of the user, not an object"],
      [[{ role: "assistant", content: [] }], 'The prompt.role must be one of user, not "assistant"'],
      [[{ role: "user", content: "hi" }], 'The prompt.content must be a list of parts, not "hi"'],
      [
        [{ role: "user", content: [{ type: "file" }] }],
        'The prompt.content[0] must be a part { type: "text", text } or { type: "image", mediaType, data }, not an object',
      ],
      [[{ role: "user", content: [{ type: "text" }] }], "The prompt.content[0].text must be a text, not undefined"],
      [
        [
          {
            role: "user",
            content: [
              { type: "text", text: "x" },
              { type: "image", mediaType: "image/png", data: 5 },
            ],
          },
        ],
        "The prompt.content[1].data must be a text, not 5",
      ],
      [["x", { mode: "later" }], 'mode must be one of queue, steer, now, not "later"'],
      [["x", { key: "" }], 'key must be a text that is not empty, not ""'],
      [["x", { mod: "now" }], "There is no option mod; did you mean mode?"],
    ];
    for (const [args, message] of cases) await assert.rejects(submit(...args), { code: "usage", message });
    await assert.rejects(it.accept("x", JSON.parse('{"key":3}')), { code: "usage", message: /^key must be a text/ });
    assert.deepEqual([it.inbox, it.lastSeq], [[], 0]);
    assert.equal((await it.submit("x")).type, "completed");
    await it.shutdown();
  });

  it("is refused where it is wrong, in a control", async () => {
    const it = session();
    const controls = await it.controls();
    assert.throws(() => controls.setModel(""), { code: "usage", message: 'model must be a text that is not empty, not ""' });
    assert.throws(() => controls.setPermissionMode(JSON.parse('"yolo"')), {
      code: "usage",
      message: /^permissionMode must be one of/,
    });
    assert.throws(() => controls.setThinkingTokens(-1), { code: "usage", message: /^thinkingTokens must be/ });
    assert.throws(() => controls.setEffort(JSON.parse('"huge"')), { code: "usage", message: /^effort must be one of/ });
    await it.shutdown();
  });

  it("is a mistake of the provider where its answer has no usage", async () => {
    const provider = {
      ...fine.provider,
      async *stream() {
        yield {
          type: "finished",
          message: { role: "assistant", content: [], model: { provider: "own", id: "m" }, finish: "stop" },
        };
      },
    };
    const it = open({ ...fine, bare: true, provider: provider as unknown as Provider });
    const outcome = await it.submit("x");
    await it.shutdown();
    assert.deepEqual(outcome.type === "failed" && [outcome.error.code, outcome.error.message], [
      "provider-protocol",
      "The provider scripted ended its answer without usage",
    ]);
  });
});

describe("factories without types", () => {
  const as = <T>(value: unknown): T => value as T;
  const cases: readonly [string, () => unknown, string | RegExp][] = [
    ["a key that is no text", () => createAnthropicProvider({ apiKey: as(12345) }), "apiKey must be a text, not a number"],
    [
      "an unknown option",
      () => createAnthropicProvider({ apiKey: "x", ...as<object>({ modell: "m" }) }),
      /did you mean model\?$/,
    ],
    [
      "a model of no name",
      () => createAnthropicProvider({ apiKey: "x", model: "" }),
      'model must be a text that is not empty, not ""',
    ],
    ["a window of no size", () => createAnthropicProvider({ apiKey: "x", contextWindow: -1 }), /^contextWindow must be/],
    ["a time below 0", () => createAnthropicProvider({ apiKey: "x", timeouts: { idleMs: -1 } }), /^timeouts\.idleMs must be/],
    ["a store without a folder", () => createFileStore(""), 'directory must be a text that is not empty, not ""'],
    [
      "a store that syncs oddly",
      () => createFileStore("x", { sync: as("sometimes") }),
      /^sync must be one of always, batch, never/,
    ],
    ["a script that is no list", () => createScriptedProvider(as("hi")), 'replies must be a list of replies, not "hi"'],
    [
      "a reply with a misspelled field",
      () => createScriptedProvider([as({ txt: "hi" })]),
      "There is no option txt; did you mean text?",
    ],
    ["a model that is a name", () => fromAiSdk(as("gpt-5")), /^model must be a model of the AI SDK, .*, not "gpt-5"$/],
    ["retries below 0", () => fromAiSdk(as({ doStream() {} }), { retry: { maxRetries: -1 } }), /^retry\.maxRetries must be/],
    [
      "a fallback that is a name",
      () => withFallback(fine.provider, as("gpt-5")),
      'fallback must be given an object, not "gpt-5"',
    ],
    ["a fallback of nobody", () => withFallback(as(null), { model: "m" }), /^provider must be a provider/],
    [
      "a tool that takes a text",
      () => defineTool({ ...add, inputSchema: z.string() as never }),
      'inputSchema of the tool add must describe an object, not "string"',
    ],
    [
      "a tool that takes a number",
      () => defineTool({ ...add, inputSchema: { type: "number" } }),
      /must describe an object, not "number"$/,
    ],
    [
      "a tool without a schema",
      () => defineTool({ ...add, inputSchema: as<JsonObject>("object") }),
      /^inputSchema must be a schema/,
    ],
  ];
  for (const [name, make, message] of cases)
    it(`refuse ${name}`, () => {
      assert.throws(make, { code: "usage", message });
    });
});

describe("what a program says to a session", () => {
  const ways: Readonly<Record<string, () => Promise<{ session: CheckedSession; close(): Promise<void> }>>> = {
    "its own": async () => {
      const session = open(fine);
      return { session, close: () => session.shutdown() };
    },
    "a host's": async () => {
      const host = new SessionHost({ defaults: { ...fine, bare: true, persistent: false } });
      const { session } = await host.create();
      assert.ok(session instanceof CheckedSession);
      return { session, close: () => host.shutdown() };
    },
  };
  for (const [whose, make] of Object.entries(ways))
    it(`is refused where it asks for events that there are not, of ${whose}`, async () => {
      const { session, close } = await make();
      const cases: readonly [unknown, RegExp][] = [
        [{ types: ["tool.end"] }, /^types\[0\] must be one of .*did you mean tool\.ended/],
        [{ types: "tool.ended" }, /^types must be a list of types of events/],
        [{ after: "x" }, /^after must be a whole number, 0 or more, not "x"$/],
        [{ tasks: "all" }, /^tasks must be true, false or a list of task ids/],
        [{ capacity: 0 }, /^capacity must be a whole number above 0/],
        [{ whenFull: "block" }, /^whenFull must be one of drop, wait/],
        [{ type: ["tool.ended"] }, /^There is no option type; did you mean types\?$/],
      ];
      for (const [options, message] of cases) assert.throws(() => session.events(options as never), { code: "usage", message });
      assert.throws(() => session.on(JSON.parse('"txt_delta"'), () => {}), { code: "usage" });
      await assert.rejects(session.submit(5 as never), { code: "usage" });
      await close();
    });

  it("names events that there are, with functions, and answers with words that there are", async () => {
    const session = open(fine);
    assert.throws(() => session.on(JSON.parse('"txt_delta"'), () => {}), { code: "usage", message: /did you mean text_delta/ });
    assert.throws(() => session.on("text_delta", JSON.parse("5")), {
      code: "usage",
      message: /^A listener must be a function, not 5$/,
    });
    const answer = JSON.parse('{"decision":"allow","remeber":"session"}');
    assert.throws(() => session.answerPermission("x", answer), {
      code: "usage",
      message: /no option remeber; did you mean remember/,
    });
    await session.shutdown();
  });
});
