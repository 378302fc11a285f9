import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { createScriptedProvider } from "../model/scripted.ts";
import { RuntimeError } from "../protocol/errors.ts";
import { defineTool, type Tool, ToolFailure } from "../tools/tool.ts";
import { InteractiveSession } from "./interactive-session.ts";

const cwd = mkdtempSync(join(tmpdir(), "outrider-deaf-"));
after(() => rmSync(cwd, { recursive: true, force: true }));

function tool(execute: Tool["execute"], more: Partial<Tool> = {}): Tool {
  return defineTool({
    name: "Odd",
    description: "does something",
    inputSchema: { type: "object" },
    concurrent: false,
    access: async () => ({ kind: "note", resources: [] }),
    execute,
    ...more,
  });
}

function open(odd: Tool) {
  const provider = createScriptedProvider([{ calls: [{ name: "Odd", input: {} }] }, { text: "ok" }]);
  const session = new InteractiveSession({ cwd, provider, tools: [odd] });
  const warnings: string[] = [];
  const ends: string[] = [];
  const reading = (async () => {
    for await (const event of session.events()) {
      if (event.type === "warning.raised") warnings.push(event.message);
      if (event.type === "tool.ended") ends.push(event.status);
    }
  })();
  const end = async (): Promise<void> => {
    await session.shutdown();
    await reading;
  };
  return { session, provider, warnings, ends, end };
}

describe("a tool that", () => {
  it("does not stop when it is told to is left behind", async () => {
    let begin = (): void => {};
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const deaf = tool(
      () => {
        begin();
        return new Promise(() => {});
      },
      { abortGraceMs: 10 },
    );
    const { session, ends, end } = open(deaf);
    const turn = session.submit("go");
    await begun;
    session.abort();
    assert.equal((await turn).type, "cancelled");
    await end();
    assert.deepEqual(ends, ["interrupted"]);
  });

  it("warns of something is heard once, however often it says so", async () => {
    const odd = tool(async () => ({ content: [], warning: "the disk is nearly full" }));
    const provider = createScriptedProvider([
      { calls: [1, 2].map((n) => ({ name: "Odd", input: { n } })) },
      { calls: [{ name: "Odd", input: { n: 3 } }] },
      { text: "ok" },
    ]);
    const session = new InteractiveSession({ cwd, provider, tools: [odd] });
    const warnings: string[] = [];
    const reading = (async () => {
      for await (const event of session.events()) if (event.type === "warning.raised") warnings.push(event.message);
    })();
    await session.submit("go");
    await session.shutdown();
    await reading;
    assert.deepEqual(warnings, ["the disk is nearly full"]);
  });

  it("is not blamed for an audit that throws", async () => {
    const audit = (): never => {
      throw new Error("no disk");
    };
    const provider = createScriptedProvider([
      {
        calls: [
          { name: "Odd", input: {} },
          { name: "Nobody", input: {} },
        ],
      },
      { text: "ok" },
    ]);
    const session = new InteractiveSession({ cwd, provider, audit, tools: [tool(async () => ({ content: [] }))] });
    await session.submit("go");
    await session.shutdown();
    const told = JSON.stringify(provider.requests[1]?.messages.at(-1));
    assert.match(told, /The call of Odd is not made, because its verdict could not be audited: no disk/);
    assert.match(told, /no tool named Nobody/);
    assert.doesNotMatch(told, /KillShell|AgentOutput/);
  });

  it("fails says why to the model, and one that breaks to everybody", async () => {
    for (const [error, words, warned] of [
      [new ToolFailure("not today"), /not today/, 0],
      [new RuntimeError("not-found", "no such thing"), /no such thing/, 0],
      [new TypeError("x is undefined"), /The tool Odd failed unexpectedly: x is undefined/, 1],
    ] as const) {
      const { session, provider, warnings, ends, end } = open(tool(() => Promise.reject(error)));
      assert.equal((await session.submit("go")).type, "completed");
      await end();
      assert.match(JSON.stringify(provider.requests[1]?.messages.at(-1)), words);
      assert.deepEqual(ends, ["error"]);
      assert.equal(warnings.length, warned, warnings.join("\n"));
    }
  });
});
