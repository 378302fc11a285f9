import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createScriptedProvider } from "../model/scripted.ts";
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
      [{ ...fine, mcpServers: { x: {} } }, /^mcpServers is a list of/],
    ];
    for (const [options, message] of cases) assert.throws(() => open(options), { code: "usage", message });
    open({ ...fine, model: undefined, allowedTools: undefined });
  });
});
