import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { HookEntry } from "../../engine/open-hooks.ts";
import type { JsonObject } from "../../protocol/content.ts";
import { ControlChannel } from "./control-channel.ts";
import { type LiveSetup, readSetup } from "./initialize.ts";

function open(request: JsonObject): { setup: LiveSetup; sent: JsonObject[]; channel: ControlChannel } {
  const sent: JsonObject[] = [];
  const channel = new ControlChannel({ send: (frame) => sent.push(frame), newId: () => `q${sent.length}` });
  return { setup: readSetup(request, channel), sent, channel };
}

type Callback = Extract<HookEntry, { type: "callback" }>;

function callbacksOf(entry: { hooks: readonly HookEntry[] } | undefined): Callback[] {
  return (entry?.hooks ?? []).filter((hook): hook is Callback => typeof hook === "object" && hook.type === "callback");
}

const nothing = { hostServers: new Map(), unsupported: [] };

describe("what a host asks for before the first prompt", () => {
  it("takes every wish it knows", () => {
    const request = {
      systemPrompt: "Be brief.",
      appendSystemPrompt: "Be kind.",
      jsonSchema: { type: "object" },
      agents: { helper: { description: "helps" } },
      title: "A name",
      toolAliases: { Bash: "Shell", Read: 7 },
      forwardSubagentText: true,
      sdkMcpServers: ["calculator", "clock"],
      sdkMcpServerConfigs: { clock: { timeout: 5_000 } },
    };
    const { hostServers, ...setup } = open(request).setup;
    assert.deepEqual(setup, {
      systemPrompt: "Be brief.",
      appendSystemPrompt: "Be kind.",
      outputSchema: { type: "object" },
      agents: { helper: { description: "helps" } },
      title: "A name",
      toolAliases: { Bash: "Shell" },
      forwardSubagentText: true,
      unsupported: [],
    });
    assert.deepEqual([...hostServers.keys()], ["calculator", "clock"]);
    assert.notDeepEqual(hostServers.get("clock"), hostServers.get("calculator"));
  });

  it("leaves alone what has another form, and what is of other releases", () => {
    const request = {
      systemPrompt: { preset: "x" },
      appendSystemPrompt: 1,
      jsonSchema: "object",
      agents: [],
      title: 7,
      toolAliases: "x",
      forwardSubagentText: "yes",
      sdkMcpServers: "calculator",
      sdkMcpServerConfigs: "none",
      hooks: {},
      future: true,
    };
    assert.deepEqual(open(request).setup, nothing);
    assert.deepEqual(open({}).setup, nothing);
  });

  it("joins the parts of a system prompt, without the mark for what is cached", () => {
    const systemPrompt = ["First.", "__SYSTEM_PROMPT_DYNAMIC_BOUNDARY__", "Second."];
    assert.equal(open({ systemPrompt }).setup.systemPrompt, "First.\n\nSecond.");
    for (const none of ["", [""]]) assert.match(String(open({ systemPrompt: none }).setup.systemPrompt), /^You are an agent/);
  });

  it("says what it cannot do, where something was asked for", () => {
    const request = {
      skills: ["pdf"],
      plugins: [],
      agentProgressSummaries: true,
      planModeInstructions: "",
      hooks: { FileChanged: [] },
    };
    const { setup } = open(request);
    assert.deepEqual([setup.unsupported, setup.skills], [["agentProgressSummaries", "hooks.FileChanged"], ["pdf"]]);
  });

  it("takes the folders of plugins, with and without their servers", () => {
    const plugins = [{ type: "local", path: "/a" }, { type: "local", path: "/b", skipMcpDiscovery: true }, { path: "" }, 7];
    assert.deepEqual(open({ plugins }).setup.plugins, [{ path: "/a" }, { path: "/b", skipMcpDiscovery: true }]);
  });

  it("makes each callback a hook that asks the host", async () => {
    const matchers = [
      { matcher: "Bash", hookCallbackIds: ["one", "two"], timeout: 5, onFailure: "block" },
      { hookCallbackIds: ["three"], onFailure: "other" },
      "nonsense",
    ];
    const { setup, sent, channel } = open({ hooks: { PreToolUse: matchers, Stop: "nonsense", FileChanged: matchers } });
    assert.deepEqual(Object.keys(setup.hooks ?? {}), ["PreToolUse", "Stop"]);
    assert.deepEqual(setup.hooks?.Stop, []);
    const [first, second] = setup.hooks?.PreToolUse ?? [];
    assert.deepEqual(
      [first, second].map((entry) => [
        entry?.matcher,
        callbacksOf(entry).map(({ timeout, onFailure }) => ({ timeout, onFailure })),
      ]),
      [
        [
          "Bash",
          [
            { timeout: 5, onFailure: "block" },
            { timeout: 5, onFailure: "block" },
          ],
        ],
        [undefined, [{ timeout: undefined, onFailure: undefined }]],
      ],
    );
    const hook = callbacksOf(first)[1];
    assert.ok(hook);
    const signal = new AbortController().signal;
    const asked = hook.callback({ tool_name: "Bash" }, { signal, toolUseId: "toolu_1" });
    channel.settle("q0", { type: "success", response: { decision: "block" } });
    assert.deepEqual(await asked, { decision: "block" });
    assert.deepEqual(sent[0]?.["request"], {
      subtype: "hook_callback",
      callback_id: "two",
      input: { tool_name: "Bash" },
      tool_use_id: "toolu_1",
    });
  });

  it("does not ask about the end of a session when nobody is there any more", async () => {
    const hooks = { SessionEnd: [{ hookCallbackIds: ["one"] }], Stop: [{ hookCallbackIds: ["two"] }] };
    const { setup, sent, channel } = open({ hooks });
    const [end, stop] = [setup.hooks?.SessionEnd, setup.hooks?.Stop].flatMap((entries) => callbacksOf(entries?.[0]));
    assert.ok(end && stop);
    const signal = new AbortController().signal;
    const asked = end.callback({}, { signal });
    channel.settle("q0", { type: "success", response: {} });
    await asked;
    assert.deepEqual(sent[0]?.["request"], { subtype: "hook_callback", callback_id: "one", input: {} });
    channel.close();
    assert.deepEqual(await end.callback({}, { signal }), {});
    await assert.rejects(async () => stop.callback({}, { signal }), { code: "closed" });
  });
});
