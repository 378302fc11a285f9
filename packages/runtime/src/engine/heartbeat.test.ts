import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { createScriptedProvider } from "../model/scripted.ts";
import { InteractiveSession } from "../session/interactive-session.ts";
import type { Tool } from "../tools/tool.ts";

const folder = mkdtempSync(join(tmpdir(), "outrider-heartbeat-"));
after(() => rmSync(folder, { recursive: true, force: true }));

describe("a tool that runs for long", () => {
  it("is told of every 30 seconds, and no more when it has ended", async (context) => {
    context.mock.timers.enable({ apis: ["setInterval"] });
    const slow: Tool = {
      name: "Slow",
      description: "takes its time",
      inputSchema: { type: "object" },
      concurrent: false,
      access: async () => ({ kind: "look", resources: [] }),
      async execute() {
        context.mock.timers.tick(29_999);
        context.mock.timers.tick(1);
        context.mock.timers.tick(60_000);
        return { content: [{ type: "text", text: "done" }] };
      },
    };
    const provider = createScriptedProvider([{ calls: [{ name: "Slow", input: {} }] }, { text: "ok" }]);
    const session = new InteractiveSession({
      cwd: folder,
      provider,
      tools: [slow],
      permissionMode: "bypassPermissions",
      permissions: { mayBypass: true },
    });
    const told: string[] = [];
    const reading = (async () => {
      for await (const event of session.events()) {
        if (event.type === "tool.progress") told.push(event.text);
        if (event.type === "tool.ended") context.mock.timers.tick(300_000);
      }
    })();
    const outcome = await session.submit("go");
    await session.shutdown();
    await reading;
    assert.equal(outcome.type, "completed");
    assert.deepEqual(told, ["", "", ""]);
  });
});
