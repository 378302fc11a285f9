import assert from "node:assert/strict";
import { existsSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { createCheckpoints } from "../../checkpoints/checkpoints.ts";
import { createMemoryStore } from "../../journal/memory-store.ts";
import { createScriptedProvider } from "../../model/scripted.ts";
import { textOf } from "../../protocol/content.ts";
import { InMemorySandboxClient } from "../../workspace/memory-sandbox.ts";
import { InteractiveSession } from "../interactive-session.ts";
import type { SessionOptions } from "../session-options.ts";

const write = { text: "", calls: [{ name: "Write", input: { file_path: "a.txt", content: "new" } }] };
const bash = { text: "", calls: [{ name: "Bash", input: { command: "touch b.txt" } }] };

describe("a session that runs only what can be undone", () => {
  it("keeps a file before it changes it, and refuses commands", async () => {
    const cwd = realpathSync(mkdtempSync(join(tmpdir(), "outrider-reversible-")));
    const checkpoints = createCheckpoints({ directory: join(cwd, "..", `${cwd}-kept`), sessionId: "s", root: cwd });
    const session = new InteractiveSession({
      cwd,
      provider: createScriptedProvider([write, bash, { text: "done" }]),
      permissionMode: "bypassPermissions",
      reversibleExecution: { mode: "local-first" },
      checkpoints: async () => checkpoints,
    });
    const denied: string[] = [];
    const reading = (async () => {
      for await (const event of session.events())
        if (event.type === "tool.ended" && event.status === "denied") denied.push(event.name);
    })();
    try {
      assert.equal((await session.submit("go")).type, "completed");
      const [first] = await checkpoints.list();
      assert.ok(first, "a checkpoint of the turn");
      assert.deepEqual([existsSync(join(cwd, "a.txt")), existsSync(join(cwd, "b.txt"))], [true, false]);
      await checkpoints.rollbackThrough(first.id);
      assert.equal(existsSync(join(cwd, "a.txt")), false);
    } finally {
      await session.shutdown();
      await reading;
      rmSync(cwd, { recursive: true, force: true });
      rmSync(`${cwd}-kept`, { recursive: true, force: true });
    }
    assert.deepEqual(denied, ["Bash"]);
  });

  const attempt = async (options: Partial<SessionOptions>) => {
    const cwd = realpathSync(mkdtempSync(join(tmpdir(), "outrider-reversible-")));
    const store = createMemoryStore();
    const session = new InteractiveSession({
      cwd,
      provider: createScriptedProvider([bash, { text: "done" }]),
      sessionStore: store,
      permissionMode: "bypassPermissions",
      reversibleExecution: { mode: "local-first" },
      ...options,
    });
    try {
      await session.submit("go");
      return await store.read(session.id);
    } finally {
      await session.shutdown();
      rmSync(cwd, { recursive: true, force: true });
    }
  };

  it("tells of a refused call as of any other, with the report, and asks nobody about it", async () => {
    const events = await attempt({ permissionMode: "default", answersPermissions: true });
    const message = "Bash can change anything, and checkpoints do not cover it: run in a worktree or sandbox.";
    const told = events.flatMap((event) =>
      event.type === "permission.requested" || event.type === "tool.started"
        ? [event.type]
        : event.type === "permission.decided"
          ? [[event.effect, event.by, event.reason]]
          : event.type === "tool.ended"
            ? [[event.status, textOf(event.result.content), event.details]]
            : [],
    );
    const reversibleSafety = {
      toolName: "Bash",
      reversible: false,
      sideEffect: "shell-process",
      rollbackLayer: "none",
      status: "requires-isolation",
      message,
    };
    assert.deepEqual(told, [
      ["deny", "policy", message],
      ["denied", `Not run: ${message}`, { reversibleSafety }],
    ]);
  });

  it("takes another machine for isolation, unless it is told that there is none", async () => {
    const started: unknown[] = [];
    for (const isolation of [undefined, "none"] as const) {
      const events = await attempt({
        sandboxClient: new InMemorySandboxClient(),
        reversibleExecution: { mode: "local-first", ...(isolation && { isolation }) },
      });
      started.push(events.some((event) => event.type === "tool.started"));
    }
    assert.deepEqual(started, [true, false]);
  });
});
