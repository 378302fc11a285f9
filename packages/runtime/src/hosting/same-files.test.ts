import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { createScriptedProvider } from "../model/scripted.ts";
import type { JsonObject } from "../protocol/content.ts";
import { InteractiveSession } from "./interactive-session.ts";

const cwd = mkdtempSync(join(tmpdir(), "outrider-same-files-"));
after(() => rmSync(cwd, { recursive: true }));
const numbers = Array.from({ length: 6 }, (_, index) => index);

type Call = { readonly name: string; readonly input: JsonObject };

/** Sessions that make their calls at the same time; answers which of them were told that the last one was done, and what the others were told. */
async function together(callsOf: (number: number) => readonly Call[]): Promise<{ done: number[]; told: string[] }> {
  const last = await Promise.all(
    numbers.map(async (number) => {
      const replies = [...callsOf(number).map((call) => ({ calls: [call] })), { text: "done" }];
      const provider = createScriptedProvider(replies, { model: "gpt-5" });
      const tools = ["Read", "Write", "Edit", "apply_patch"];
      const session = new InteractiveSession({ cwd, provider, bare: true, permissionMode: "acceptEdits", builtinTools: tools });
      await session.submit("go");
      const [result] = session.getMessages().findLast(({ role }) => role === "tool")?.content ?? [];
      await session.shutdown();
      assert.ok(result?.type === "tool-result");
      return result;
    }),
  );
  return {
    done: numbers.filter((number) => last[number]?.isError === false),
    told: last.filter(({ isError }) => isError).map(({ content }) => (content[0]?.type === "text" ? content[0].text : "")),
  };
}

function file(name: string, content?: string): { path: string; read: Call; text: () => string } {
  const path = join(cwd, name);
  if (content !== undefined) writeFileSync(path, content);
  return { path, read: { name: "Read", input: { file_path: path } }, text: () => readFileSync(path, "utf8") };
}

describe("sessions of one process that change the same file at once", () => {
  it("lose no edit that one of them was told was made", async () => {
    const lines = file("lines.txt", numbers.map((number) => `line ${number}\n`).join(""));
    const { done, told } = await together((number) => [
      lines.read,
      { name: "Edit", input: { file_path: lines.path, old_string: `line ${number}`, new_string: `changed ${number}` } },
    ]);
    const found = numbers.filter((number) => lines.text().includes(`changed ${number}`));
    assert.deepEqual(found, done);
    assert.ok(done.length >= 1);
    for (const words of told) assert.match(words, /^lines\.txt (?:has|was) changed .*Read it again/);
  });

  it("lose no patch", async () => {
    const lines = file("patched.txt", numbers.map((number) => `line ${number}\n`).join(""));
    const { done } = await together((number) => {
      const patch = [
        "*** Begin Patch",
        "*** Update File: patched.txt",
        "@@",
        `-line ${number}`,
        `+changed ${number}`,
        "*** End Patch",
      ];
      return [lines.read, { name: "apply_patch", input: { input: patch.join("\n") } }];
    });
    const found = numbers.filter((number) => lines.text().includes(`changed ${number}`));
    assert.deepEqual(found, done);
    assert.ok(done.length >= 1);
  });

  it("overwrite it once, and create it once", async () => {
    const whole = file("whole.txt", "old\n");
    const overwritten = await together((number) => [
      whole.read,
      { name: "Write", input: { file_path: whole.path, content: `whole ${number}\n` } },
    ]);
    assert.deepEqual([overwritten.done.length, whole.text()], [1, `whole ${overwritten.done[0]}\n`]);
    const fresh = file("fresh.txt");
    const created = await together((number) => [
      { name: "Write", input: { file_path: fresh.path, content: `fresh ${number}\n` } },
    ]);
    assert.deepEqual([created.done.length, fresh.text()], [1, `fresh ${created.done[0]}\n`]);
  });
});
