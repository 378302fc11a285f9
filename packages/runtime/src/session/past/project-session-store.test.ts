import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { createScriptedProvider } from "../../model/scripted.ts";
import { InteractiveSession } from "../interactive-session.ts";
import { createProjectSessionStore, listResumableSessionSummaries } from "./project-session-store.ts";

function project(): string {
  const folder = mkdtempSync(join(tmpdir(), "outrider-project-"));
  after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

describe("createProjectSessionStore", () => {
  it("keeps sessions in the project, to be gone on with by another store of it", async () => {
    const cwd = project();
    const ask = async (prompt: string, options: { sessionId?: string; resumeSessionId?: string }): Promise<number> => {
      const provider = createScriptedProvider([{ text: "an answer" }]);
      const session = new InteractiveSession({ cwd, provider, sessionStore: createProjectSessionStore(cwd), ...options });
      await session.submit(prompt);
      const { length } = session.getMessages();
      await session.setName("a name");
      await session.shutdown();
      return length;
    };
    assert.deepEqual([await ask("one", { sessionId: "s1" }), await ask("two", { resumeSessionId: "s1" })], [2, 4]);
    assert.ok(existsSync(join(cwd, ".outrider", "sessions", "s1.jsonl")));
    const [summary, ...others] = await listResumableSessionSummaries(createProjectSessionStore(cwd), cwd);
    const { createdAt = "", updatedAt = "", ...rest } = summary ?? {};
    assert.deepEqual([rest, others], [{ id: "s1", name: "a name", cwd: realpathSync(cwd), turns: 2, preview: "one" }, []]);
    assert.ok(createdAt <= updatedAt && createdAt !== "");
  });

  it("is left out of git without a change to the project's own files", async () => {
    const cwd = project();
    execFileSync("git", ["init", "-q"], { cwd });
    writeFileSync(join(cwd, "file.txt"), "mine");
    const journal = await createProjectSessionStore(cwd).open("s1");
    await journal.close();
    const status = execFileSync("git", ["status", "--porcelain", "--untracked-files=all"], { cwd, encoding: "utf8" });
    assert.equal(status, "?? file.txt\n");
  });

  it("fails with a reason where the project cannot be written to", async () => {
    const cwd = join(project(), "file");
    writeFileSync(cwd, "no folder");
    await assert.rejects(createProjectSessionStore(cwd).open("s1"), { code: "storage-failed" });
  });
});

describe("listResumableSessionSummaries", () => {
  it("knows a folder by any of its names", async () => {
    const folder = realpathSync(project());
    mkdirSync(join(folder, "real"));
    symlinkSync("real", join(folder, "link"));
    const names = [join(folder, "link"), `${folder}/real/`, `${folder}/link/../real`];
    for (const cwd of names) {
      const provider = createScriptedProvider([{ text: "an answer" }]);
      const session = new InteractiveSession({ cwd, provider, sessionStore: createProjectSessionStore(cwd) });
      await session.submit("hi");
      await session.shutdown();
    }
    for (const cwd of names) {
      const found = await listResumableSessionSummaries(createProjectSessionStore(cwd), cwd);
      assert.deepEqual(
        found.map((summary) => summary.cwd),
        names.map(() => join(folder, "real")),
      );
    }
  });

  it("says which folder it wants", async () => {
    await assert.rejects(listResumableSessionSummaries(undefined, JSON.parse("3")), { code: "usage", message: /^cwd must be/ });
  });

  it("shows those of the folder that were asked something, in the order of the store", async () => {
    const facts = { createdAt: "2025-01-01", updatedAt: "2025-01-02", bytes: 1, prompt: "hi" };
    const store = {
      summaries: async () => [
        { ...facts, id: "latest", cwd: "/here", turns: 1, forkedFrom: { sessionId: "x", seq: 3 } },
        { ...facts, id: "elsewhere", cwd: "/there", turns: 1 },
        { ...facts, id: "unused", cwd: "/here", turns: 0 },
        { ...facts, id: "older", cwd: "/here", turns: 2 },
      ],
    };
    const shown = { cwd: "/here", createdAt: "2025-01-01", updatedAt: "2025-01-02", preview: "hi" };
    assert.deepEqual(await listResumableSessionSummaries(store, "/here"), [
      { ...shown, id: "latest", turns: 1, forkedFrom: { sessionId: "x", seq: 3 } },
      { ...shown, id: "older", turns: 2 },
    ]);
    assert.deepEqual(await listResumableSessionSummaries(undefined, "/here"), []);
  });
});
