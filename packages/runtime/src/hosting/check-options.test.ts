import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createScriptedProvider } from "../model/scripted.ts";
import { type HostedRequest, SessionHost } from "./session-host.ts";
import { InteractiveSession, type InteractiveSessionOptions } from "./interactive-session.ts";

const open = (options: unknown): InteractiveSession => new InteractiveSession(options as InteractiveSessionOptions);

describe("options of a program without types", () => {
  it("are refused in its own words before anything else goes wrong", () => {
    const fine = { cwd: process.cwd(), provider: createScriptedProvider([]) };
    const cases: readonly [unknown, RegExp][] = [
      [undefined, /^InteractiveSession is an object with cwd and provider\. It was undefined$/],
      [{ cwd: "/" }, /^provider is a provider/],
      [{ ...fine, provider: "anthropic" }, /^provider is a provider.* It was "anthropic"$/],
      [{ ...fine, permissionMode: "yolo" }, /^permissionMode is one of plan, default, /],
      [{ ...fine, sandboxMode: "of" }, /did you mean off\?/],
      [{ ...fine, settingSources: ["all"] }, /^settingSources is one of user, project, local\. It was "all"$/],
      [{ ...fine, without: "hooks" }, /^without is a list of texts/],
      [{ ...fine, allowedTools: "Bash" }, /^allowedTools is a list of texts\. It was "Bash"$/],
      [{ ...fine, maxTurns: -1 }, /^maxTurns is a number above 0\. It was -1$/],
      [{ ...fine, maxBudgetUsd: "1" }, /^maxBudgetUsd is a number above 0\. It was "1"$/],
      [{ ...fine, settings: { permissions: {} } }, /^settings is a text\. It was \[object Object\]$/],
      [{ ...fine, mcpServers: ["x"] }, /^mcpServers is an object of servers by name/],
      [{ ...fine, permissonMode: "plan" }, /^There is no option permissonMode; did you mean permissionMode\?$/],
      [{ ...fine, verbose: true }, /^There is no option verbose$/],
      [{ ...fine, builtinTools: ["Read", "Gerp"] }, /^builtinTools: There is no tool "Gerp"; did you mean Grep\?$/],
      [{ ...fine, builtinTools: ["LS"] }, /^builtinTools: There is no tool "LS"/],
      [{ ...fine, tools: [{ name: "x" }] }, /^tools is a list of tools, as defineTool makes them/],
      [{ ...fine, forkSession: true }, /^forkSession copies a session that exists/],
      [{ ...fine, sandboxSnapshotId: "s" }, /^sandboxSnapshotId .* needs a sandboxClient$/],
      [{ ...fine, sandboxSnapshotId: "s", sandboxClient: {} }, /^sandboxSnapshotId cannot be brought back/],
    ];
    for (const [options, message] of cases) assert.throws(() => open(options), { code: "usage", message });
    open({ ...fine, model: undefined, allowedTools: undefined });
  });

  it("are refused by a host too, in the request and in its options", async () => {
    const host = new SessionHost({ defaults: { provider: createScriptedProvider([]), persistent: false } });
    const create = (request: unknown): Promise<unknown> => host.create(request as HostedRequest);
    await assert.rejects(create({ permissionMode: "plan" }), { code: "usage", message: /give it as options.permissionMode$/ });
    await assert.rejects(create({ options: { builtinTools: ["Bsh"] } }), { code: "usage", message: /did you mean Bash\?$/ });
    await host.shutdown();
  });
});
