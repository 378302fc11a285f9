import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import type { AuditEntry } from "../../engine/deps.ts";
import { createScriptedProvider, type ScriptedReply } from "../../model/scripted.ts";
import type { AgentEvent } from "../../protocol/events.ts";
import { InteractiveSession } from "../interactive-session.ts";
import { TaskInputs } from "../../tools/task-inputs.ts";
import type { SessionOptions } from "../session-options.ts";

const top = mkdtempSync(join(tmpdir(), "outrider-task-inputs-"));
after(() => rmSync(top, { recursive: true, force: true }));

const call = (name: string, input: Record<string, unknown>): ScriptedReply => ({ calls: [{ name, input }] });
const start = (command: string): ScriptedReply => call("Bash", { command, run_in_background: true, description: "run" });
const write = (input: string): ScriptedReply => call("TaskInput", { task_id: "process_1", input });

/** What each call was answered with, and what became of the files. */
async function run(command: string, pieces: readonly string[], options: Partial<SessionOptions>) {
  const cwd = mkdtempSync(join(top, "work-"));
  writeFileSync(join(cwd, ".env"), "FXHIDDEN");
  const audited: AuditEntry[] = [];
  const provider = createScriptedProvider([start(command), ...pieces.map(write), { text: "Done." }]);
  const session = new InteractiveSession({ cwd, provider, audit: (entry) => audited.push(entry), ...options });
  after(() => session.shutdown());
  const events: AgentEvent[] = [];
  void (async () => {
    for await (const event of session.events({ capacity: 10_000 })) events.push(event);
  })().catch(() => {});
  await session.submit("go");
  const answers = events.flatMap((event) =>
    event.type === "tool.ended" ? [event.result.content.map((part) => (part.type === "text" ? part.text : "")).join("")] : [],
  );
  const verdicts = answers.slice(1).map((text) => /^(?:Written|Not permitted|Not written)/.exec(text)?.[0] ?? text);
  return { session, cwd, verdicts, audited };
}

const shell = { allowedTools: ["Bash(bash)"], disallowedTools: ["Bash(touch:*)", "Read(.env)"] };

describe("what is written to a command", { timeout: 60_000 }, () => {
  const long = `: ${"x".repeat(60_000)}\n`;
  const rows: readonly (readonly [what: string, pieces: readonly string[], verdicts: readonly string[]])[] = [
    ["a word in pieces", ["tou", "ch made\n"], ["Written", "Not permitted"]],
    ["a file's name in pieces", ["cat .e", "nv\n"], ["Written", "Not permitted"]],
    ["pieces that go on after a refused one", ["tou", "ch made\n", "ché\n"], ["Written", "Not permitted", "Written"]],
    [
      "a command behind a heredoc in pieces",
      ["cat <<X\ntou", "ch it\nX\nto", "uch made\n"],
      ["Written", "Written", "Not permitted"],
    ],
    ["quotes in pieces", ["t'ou'", "ch made\n"], ["Written", "Not permitted"]],
    ["quotes that are left open", ["echo 'a", "echo\n"], ["Not permitted", "Written"]],
    ["a character that shells pass over", ["to", "\0uch made\n"], ["Written", "Not permitted"]],
    ["more than is looked at", [long, long, "echo\n"], ["Written", "Not permitted", "Written"]],
    ["harmless lines", ["echo a\n", "echo b", "c\n"], ["Written", "Written", "Written"]],
  ];
  for (const [what, pieces, expected] of rows)
    it(`is judged with all that was written before: ${what}`, async () => {
      const { verdicts, cwd } = await run("bash", pieces, shell);
      assert.deepEqual(verdicts, expected);
      assert.equal(existsSync(join(cwd, "made")), false);
    });

  it("is asked about where it is code and rules forbid something, whatever rule let the program begin", async () => {
    const told = ["1 + 1\n"];
    const rules = { allowedTools: ["Bash(node -i)"], permissionMode: "acceptEdits" } as const;
    const watched = await run("node -i", told, { ...rules, disallowedTools: ["Read(.env)"] });
    const free = await run("node -i", told, rules);
    assert.deepEqual([watched.verdicts, free.verdicts], [["Not permitted"], ["Written"]]);
  });

  it("is judged, asked about and audited when a program of the session writes it, together with what the model wrote", async () => {
    const { session, cwd, audited } = await run("bash", ["tou"], shell);
    await assert.rejects(session.sendBackgroundTask("process_1", "ch made\n"), /Nothing was written to process_1: .*touch/);
    await session.sendBackgroundTask("process_1", " 2>/dev/null\n");
    assert.equal(existsSync(join(cwd, "made")), false);
    const last = audited.slice(-2).map(({ tool, effect, resource }) => [tool, effect, resource.includes("tou")]);
    assert.deepEqual(last, [
      ["TaskInput", "deny", true],
      ["TaskInput", "allow", true],
    ]);
  });

  it("is refused in plan mode, and where nobody may write at all", async () => {
    const { session } = await run("bash", [], { allowedTools: ["Bash(bash)"], disallowedTools: ["TaskInput"] });
    await assert.rejects(session.sendBackgroundTask("process_1", "echo\n"), /Nothing was written to process_1/);
    const other = await run("cat > made", [], { allowedTools: ["Bash(cat > made)"] });
    (await other.session.controls()).setPermissionMode("plan");
    await assert.rejects(other.session.sendBackgroundTask("process_1", "echo\n"), /Nothing was written to process_1: Plan mode/);
  });

  it("may be allowed by somebody who answers", async () => {
    const { session } = await run("bash", [], {
      allowedTools: ["Bash(bash)"],
      disallowedTools: ["Bash(touch:*)"],
      answersPermissions: true,
    });
    const asked = session.events({ types: ["permission.requested"] })[Symbol.asyncIterator]();
    const sending = session.sendBackgroundTask("process_1", "node -e 1\n");
    const { value } = await asked.next();
    assert.equal(value?.type === "permission.requested" && value.tool, "TaskInput");
    if (value?.type === "permission.requested") session.answerPermission(value.requestId, "allow");
    await sending;
  });

  it("is known of living commands only, whatever is written to others", async () => {
    const inputs = new TaskInputs();
    const gone = { task_id: "process_1", input: "tou" };
    for (let number = 1; number <= 1_000; number++) {
      inputs.begin(`process_${number}`, { command: "bash" });
      inputs.end(`process_${number}`);
      inputs.accessFor({ task_id: `nobody_${number}`, input: "echo\n" });
    }
    inputs.accessFor(gone);
    await assert.rejects(
      inputs.write(gone, () => Promise.reject(new Error("It has ended"))),
      /It has ended/,
    );
    assert.equal(inputs.size, 0);
    assert.doesNotMatch(String(inputs.accessFor({ task_id: "process_1", input: "ch made\n" }).resources[0]), /tou/);
  });
});
