import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { type Checkpoints, createCheckpoints } from "../../checkpoints/checkpoints.ts";
import { createMemoryStore } from "../../journal/memory-store.ts";
import type { SessionStore } from "../../journal/store.ts";
import { createScriptedProvider, type ScriptStep } from "../../model/scripted.ts";
import { InMemorySandboxClient } from "../../workspace/memory-sandbox.ts";
import { InteractiveSession } from "../interactive-session.ts";
import type { SessionOptions } from "../session-options.ts";

let cwd = "";
let kept = "";
let store: SessionStore;
let opened = 0;

beforeEach(() => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "outrider-turns-")));
  cwd = join(root, "project");
  kept = join(root, "kept");
  mkdirSync(cwd);
  store = createMemoryStore();
  opened = 0;
});
afterEach(() => rmSync(join(cwd, ".."), { recursive: true, force: true }));

const write = (content: string, file_path = "a.txt"): ScriptStep => ({
  calls: [{ name: "Write", input: { file_path, content } }],
});
const bash = (command: string): ScriptStep => ({ calls: [{ name: "Bash", input: { command } }] });
const say = (text: string): ScriptStep => ({ text });

/** One process of a session: the turns it runs, each named, then what is asked of it. */
async function run<T>(
  turns: Readonly<Record<string, readonly ScriptStep[]>>,
  then: (session: InteractiveSession, checkpoints: () => Checkpoints) => Promise<T>,
  options: Partial<SessionOptions> = {},
): Promise<T> {
  const checkpoints = (): Checkpoints => createCheckpoints({ directory: kept, sessionId: "s1", root: cwd, sync: false });
  const isThere = (await store.list()).includes("s1");
  const session = new InteractiveSession({
    cwd,
    provider: createScriptedProvider(Object.values(turns).flat()),
    sessionStore: store,
    ...(isThere ? { resumeSessionId: "s1" } : { sessionId: "s1" }),
    permissionMode: "bypassPermissions",
    checkpoints: async () => {
      opened++;
      return checkpoints();
    },
    ...options,
  });
  try {
    for (const turnId of Object.keys(turns)) {
      const outcome = await session.submit(`prompt ${turnId}`, { id: turnId });
      assert.equal(outcome.type, "completed");
    }
    return await then(session, checkpoints);
  } finally {
    await session.shutdown();
  }
}

const turnsOf = async (checkpoints: Checkpoints): Promise<unknown[]> =>
  (await checkpoints.list()).map(({ id, turnId, fileCount, commandCount }) => [id, turnId, fileCount, commandCount]);
const nothing = async (): Promise<void> => {};

describe("checkpoints of a session's turns", () => {
  it("keep every turn from the first change on, and those before it, so that each can be gone back to", async () => {
    await run(
      {
        one: [say("hello")],
        two: [bash("true"), say("looked")],
        three: [write("3"), say("done")],
        four: [say("talk")],
        five: [write("5"), say("done")],
      },
      async (session, checkpoints) => {
        assert.deepEqual(await turnsOf(checkpoints()), [
          ["turn-0001", "one", 0, 0],
          ["turn-0002", "two", 0, 1],
          ["turn-0003", "three", 1, 0],
          ["turn-0004", "four", 0, 0],
          ["turn-0005", "five", 1, 0],
        ]);
        const { checkpoints: files } = await session.controls();
        assert.deepEqual((await files.rewindFiles("four", { dryRun: true })).filesChanged, [join(cwd, "a.txt")]);
        await files.rewindFiles("four");
        assert.equal(readFileSync(join(cwd, "a.txt"), "utf8"), "3");
        await files.rewindFiles("one");
        assert.equal(existsSync(join(cwd, "a.txt")), false);
      },
    );
  });

  it("keep those of earlier processes that changed nothing, once and in their order", async () => {
    await run({ one: [say("a")], two: [bash("true"), say("b")] }, nothing);
    assert.equal(opened, 0);
    await run({ three: [say("c")], four: [write("4"), say("d")] }, nothing);
    await run({ five: [say("e")] }, nothing);
    await run({ six: [write("6", "b.txt"), say("f")] }, async (_, checkpoints) => {
      assert.deepEqual(await turnsOf(checkpoints()), [
        ["turn-0001", "one", 0, 0],
        ["turn-0002", "two", 0, 1],
        ["turn-0003", "three", 0, 0],
        ["turn-0004", "four", 1, 0],
        ["turn-0005", "five", 0, 0],
        ["turn-0006", "six", 1, 0],
      ]);
    });
  });

  it("do not come back in the wrong place when they have expired", async () => {
    await run({ one: [write("1"), say("a")], two: [say("b")] }, nothing);
    rmSync(kept, { recursive: true });
    await run({ three: [write("3", "b.txt"), say("c")] }, async (_, checkpoints) => {
      assert.deepEqual(await turnsOf(checkpoints()), [
        ["turn-0001", "two", 0, 0],
        ["turn-0002", "three", 1, 0],
      ]);
    });
  });

  it("say nothing of files that are kept", async () => {
    await run({ t1: [write("one"), say("done")] }, nothing);
    assert.ok((await store.read("s1")).every(({ type }) => type !== "checkpoint.skipped"));
  });

  it("leave nothing behind where there is nothing to keep", async () => {
    await run({}, async (session) => assert.deepEqual(await session.listEditCheckpoints(), []));
    assert.equal(existsSync(kept), false);
  });

  it("know a turn without changes as one with nothing to undo", async () => {
    await run({ one: [say("hello")] }, async (session) => {
      const { checkpoints } = await session.controls();
      assert.deepEqual(await checkpoints.rewindFiles("one"), { canRewind: true, filesChanged: [], insertions: 0, deletions: 0 });
      assert.deepEqual(await checkpoints.rewindFiles("other"), {
        canRewind: false,
        error: 'There is no checkpoint "other". There are 1, from turn-0001 to turn-0001',
      });
    });
  });

  it("are gone back to on record, can be looked at meanwhile, and are left alone while a turn runs", async () => {
    writeFileSync(join(cwd, "a.txt"), "0");
    const read: ScriptStep = { calls: [{ name: "Read", input: { file_path: "a.txt" } }] };
    await run({ one: [read, write("1"), say("done")], two: [bash("true"), say("done")] }, async (session) => {
      const { checkpoints } = await session.controls();
      const inspected = await checkpoints.inspect("turn-0001");
      assert.deepEqual(
        [inspected.files.map(({ shown, available }) => [shown, available]), inspected.rollback.checkpoints],
        [[["a.txt", true]], ["turn-0002", "turn-0001"]],
      );
      await checkpoints.rollback("one", { dryRun: true });
      const result = await checkpoints.rollback("one");
      assert.deepEqual([result.type, readFileSync(join(cwd, "a.txt"), "utf8")], ["restored", "0"]);
      await checkpoints.restore("turn-0002");
      assert.equal(readFileSync(join(cwd, "a.txt"), "utf8"), "1");
    });
    const restored = (await store.read("s1")).flatMap((event) =>
      event.type === "checkpoint.restored"
        ? [[event.checkpointId, event.kind, event.target, event.files, event.commandCount]]
        : [],
    );
    assert.deepEqual(restored, [
      ["rollback-0003", "rollback", "one", [join(cwd, "a.txt")], 1],
      ["restore-0004", "restore", "turn-0002", [join(cwd, "a.txt")], 0],
    ]);
    await run(
      {},
      async (session) => {
        const { checkpoints } = await session.controls();
        const turn = session.submit("go");
        for await (const event of session.events({ after: 0 }))
          if (event.type === "turn.started" && event.turnId !== "one") break;
        await assert.rejects(checkpoints.restore("one"), { code: "busy" });
        assert.equal((await checkpoints.list()).length, 4);
        session.abort();
        await turn;
      },
      { provider: createScriptedProvider([{ hang: true }]) },
    );
  });

  it("are not to be had where none are kept, nor of files on another machine", async () => {
    await run({ one: [say("hello")] }, async (session) => {
      // Nothing was asked for, so nothing was opened.
      assert.equal(opened, 0);
      assert.deepEqual(
        await (await session.controls()).checkpoints.list(),
        await createCheckpoints({ directory: kept, sessionId: "s1" }).list(),
      );
    });
    const elsewhere = {
      sandboxClient: new InMemorySandboxClient(),
      checkpoints: async () => assert.fail("files of another machine are not kept"),
    };
    for (const options of [{}, elsewhere]) {
      const session = new InteractiveSession({ cwd, provider: createScriptedProvider([]), ...options });
      await assert.rejects(async () => await (await session.controls()).checkpoints.list(), { code: "usage" });
      await session.shutdown();
    }
  });
});
