import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { describe, it } from "node:test";
import { createScriptedProvider } from "../model/scripted.ts";
import { InteractiveSession } from "./interactive-session.ts";
import { createTerminalOutput, promptForApproval } from "./prompt-for-approval.ts";

const call = { name: "Bash", input: { command: "touch made-here # \u001b[2Jhidden" } };

/** A session that runs one command twice, asked about on a terminal; answers what was shown and which files there are. */
async function ask(typed: string): Promise<{ shown: string; questions: number; files: string[] }> {
  const cwd = mkdtempSync(join(tmpdir(), "outrider-approval-"));
  const input = new PassThrough();
  const output = new PassThrough();
  const terminal = createTerminalOutput({ input, output });
  input.end(typed);
  const provider = createScriptedProvider([{ calls: [call] }, { calls: [call] }, { text: "done" }]);
  const session = new InteractiveSession({ cwd, provider, bare: true, answersPermissions: true });
  let questions = 0;
  session.on("permission_request", async (request) => {
    questions++;
    session.answerPermission(request.requestId, await promptForApproval(terminal, request));
  });
  await session.submit("go");
  await session.shutdown();
  const files = readdirSync(cwd);
  rmSync(cwd, { recursive: true, force: true });
  return { shown: String(output.read() ?? ""), questions, files };
}

describe("promptForApproval", () => {
  it("shows the call so that it cannot rewrite the terminal, and lets a person choose", async () => {
    const { shown, questions, files } = await ask("x\n2\n");
    assert.deepEqual([questions, files], [1, ["made-here"]]); // allowed for the whole session: asked once
    assert.match(shown, /^Bash: \{"command":"touch made-here # \\u001b\[2Jhidden"\}\nAsked because /);
    assert.ok(!shown.includes("\u001b"));
    assert.match(
      shown,
      /1\. Allow\n {2}2\. Allow this for the whole session\n {2}3\. Deny\nWhich\? \[3\] A number from 1 to 3: $/,
    );
  });

  it("takes nothing for a no, and nobody for a no", async () => {
    assert.deepEqual((await ask("\n")).files, []);
    assert.deepEqual((await ask("")).files, []);
  });
});
