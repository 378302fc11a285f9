import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { fitInput } from "../engine/fit-input.ts";
import { createScriptedProvider } from "../model/scripted.ts";
import { type JsonObject, textOf } from "../protocol/content.ts";
import { builtinAgents } from "../tasks/agent-definition.ts";
import { applyPatchTool } from "../tools/builtin/apply-patch.ts";
import { createBuiltinTools } from "../tools/builtin/builtin-tools.ts";
import { monitorTool } from "../tools/builtin/monitor.ts";
import { createScheduleTools } from "../tools/builtin/schedule-tools.ts";
import { sendMessageTool } from "../tools/builtin/send-message.ts";
import { createTaskTools } from "../tools/builtin/task-tools.ts";
import { createTaskTool } from "../tools/builtin/task.ts";
import { InteractiveSession } from "./interactive-session.ts";

const cwd = realpathSync(mkdtempSync(join(tmpdir(), "outrider-rejections-")));
mkdirSync(join(cwd, "src/deep"), { recursive: true });
writeFileSync(join(cwd, "src/a.ts"), "const a = 1;\nconst b = 1;\nconst a = 1;\n");
writeFileSync(join(cwd, "src/deep/b.tsx"), "x\n");
writeFileSync(join(cwd, "seen.ts"), "one\ntwo\none\n");
writeFileSync(join(cwd, "data.bin"), Buffer.from([0, 1, 2, 0]));
const cell = { cell_type: "code", id: "c1", source: ["1"], metadata: {}, outputs: [] };
writeFileSync(join(cwd, "n.ipynb"), JSON.stringify({ cells: [cell], metadata: {}, nbformat: 4, nbformat_minor: 5 }));
after(() => rmSync(cwd, { recursive: true, force: true }));

const patch = (lines: string): JsonObject => ({ input: `*** Begin Patch\n${lines}\n*** End Patch` });

/** Calls that cannot do what they say, in this order, and what of the answer says what to send instead. */
const rows: readonly (readonly [tool: string, input: JsonObject, remedy: RegExp])[] = [
  ["Read", { file_path: "src/b.tsx" }, /Did you mean src\/deep\/b\.tsx\?$/],
  ["Read", { file_path: "nothing/like.it" }, /Use Glob to find the file/],
  ["Read", { file_path: "data.bin" }, /A command such as file, strings or xxd/],
  ["Read", { file_path: "src/a.ts", offset: 99 }, /Use an offset up to 3/],
  ["Read", { file_path: "https://example.org/a" }, /a file path is expected/],
  ["Read", { file_path: "src/a.ts", pages: "1" }, /Use offset and limit/],
  ["Read", { file_path: "/dev/zero" }, /Name another file/],
  ["Read", { file_path: "a\u0000b" }, /without/],
  ["Read", { file_path: "seen.ts" }, /1\tone/], // no rejection: what follows needs a file that was read
  ["Write", { file_path: "src", content: "x" }, /is a directory\. Use Glob to list/],
  ["Write", { file_path: "src/a.ts", content: "x" }, /Read it first/],
  ["Edit", { file_path: "src/a.ts", old_string: "const a", new_string: "x" }, /Read it first/],
  ["Edit", { file_path: "seen.ts", old_string: "one", new_string: "x" }, /replace_all/],
  ["Edit", { file_path: "seen.ts", old_string: "nothing like it", new_string: "x" }, /Read the part of the file/],
  ["Edit", { file_path: "seen.ts", old_string: "two", new_string: "two" }, /Give in new_string/],
  ["Edit", { file_path: "seen.ts", old_string: "", new_string: "x" }, /give the text to replace in old_string/],
  ["Edit", { file_path: "none.ts", old_string: "a", new_string: "b" }, /Use Glob|Did you mean/],
  ["NotebookEdit", { notebook_path: "none.ipynb", new_source: "x" }, /Did you mean n\.ipynb/],
  ["NotebookEdit", { notebook_path: "n.ipynb", cell_id: "zz", new_source: "x" }, /Read it first/],
  ["Grep", { pattern: "(" }, /put a \\ before it/],
  ["Grep", { pattern: "x", path: "nowhere" }, /Use Glob to find the right path/],
  ["Grep", { pattern: "x", type: "klingon" }, /Use glob instead, or one of/],
  ["Glob", { pattern: "src/b.tsx" }, /Did you mean src\/deep\/b\.tsx\?$/],
  ["Glob", { pattern: "src/*.rs" }, /use src\/\*\*\/\*\.rs/],
  ["Glob", { pattern: "*", path: "nowhere" }, /Leave path out/],
  ["Bash", { command: "a\u0000b" }, /Send it without/],
  ["Bash", { command: "sleep 5", timeout: 50 }, /give a timeout of up to 600000 ms, or run it with run_in_background/],
  ["WebFetch", { url: "nope", prompt: "x" }, /Give the full address/],
  ["WebFetch", { url: "http://127.0.0.1:1/", prompt: "x" }, /Give a public one/],
  ["WebFetch", { url: "file:///etc/passwd", prompt: "x" }, /starts with https:/],
  ["Task", { description: "x", prompt: "y", subagent_type: "klingon" }, /The agents are: general-purpose/],
  ["TaskOutput", { task_id: "zz" }, /No task was started/],
  ["SendMessage", { to: "zz", message: "x" }, /None was started/],
  ["apply_patch", { input: "nonsense" }, /A patch is: \*\*\* Begin Patch/],
  ["apply_patch", patch("*** Update File: seen.ts\n@@\n-nothing\n+x"), /Read the part of the file/],
  ["apply_patch", patch("*** Update File: none.ts\n@@\n-a\n+x"), /Use Glob|Did you mean/],
  ["apply_patch", patch("*** Add File: seen.ts\n+x"), /Use Update File/],
  ["Nonsense", {}, /The tools are: .*Read/],
];

const tools = [
  ...createBuiltinTools({ webSearch: async () => [] }),
  ...createTaskTools(),
  ...createScheduleTools(),
  ...[monitorTool, sendMessageTool, applyPatchTool, createTaskTool(builtinAgents)],
];

describe("what a model is told when a call cannot be done", () => {
  it("says what to send instead, case by case", async () => {
    const script = [...rows.map(([name, input]) => ({ calls: [{ name, input }] })), { text: "ok" }];
    const provider = createScriptedProvider(script);
    const session = new InteractiveSession({
      ...{ cwd, provider, permissionMode: "bypassPermissions", builtinAgents: true, maxTurns: rows.length + 2 },
      builtinTools: [...new Set([...rows.map(([name]) => name)])].filter((name) => name !== "Nonsense"),
    });
    await session.submit("go");
    await session.shutdown();
    const told = provider.requests.at(-1)?.messages.flatMap((message) => (message.role === "tool" ? message.content : [])) ?? [];
    assert.equal(told.length, rows.length);
    for (const [index, [name, input, remedy]] of rows.entries())
      assert.match(textOf(told[index]?.content ?? []), remedy, `${name} ${JSON.stringify(input)}`);
  });

  for (const permissionMode of ["default", "acceptEdits", "dontAsk", "plan"] as const)
    it(`says what a patch is in mode ${permissionMode} too, before it is judged`, async () => {
      const input = "--- a/seen.ts\n+++ b/seen.ts\n@@ -1,1 +1,1 @@\n-one\n+1\n";
      const provider = createScriptedProvider([{ calls: [{ name: "apply_patch", input: { input } }] }, { text: "ok" }]);
      const session = new InteractiveSession({ cwd, provider, permissionMode, builtinTools: ["apply_patch"] });
      await session.submit("go");
      await session.shutdown();
      const [told] =
        provider.requests.at(-1)?.messages.flatMap((message) => (message.role === "tool" ? message.content : [])) ?? [];
      assert.match(textOf(told?.content ?? []), /Nothing was changed\..*A patch is: \*\*\* Begin Patch/);
    });

  it("names the property and what it takes, for every tool and every property", async () => {
    let refused = 0;
    for (const tool of tools) {
      const properties = (tool.inputSchema["properties"] ?? {}) as Readonly<Record<string, JsonObject>>;
      const required = (tool.inputSchema["required"] ?? []) as readonly string[];
      const refusal = async (input: JsonObject): Promise<string | undefined> => {
        const fitted = await fitInput(tool, { type: "tool-call", callId: "c", name: tool.name, input } as never); // as an answer has it
        if (!fitted.ok) refused++;
        return fitted.ok ? undefined : fitted.message;
      };
      for (const name of required)
        assert.match((await refusal({})) ?? "", new RegExp(`"${name}".* required but missing`), `${tool.name}.${name}`);
      for (const [name, schema] of Object.entries(properties)) {
        const wrong = schema["type"] === "object" ? "text" : { an: "object" };
        const alone = (await refusal({ [name]: wrong })) ?? "";
        // Where only others are missing, this one is what is left to tell of once they are there.
        const others = Object.fromEntries(
          [...alone.matchAll(/"(\w+)"(?=[^.]*required but missing)/g)].map(([, one = ""]) => [one, "x"]),
        );
        const words = alone.includes(`"${name}"`) ? alone : ((await refusal({ ...others, [name]: wrong })) ?? "");
        const isTold = new RegExp(`"${name}["[].*(?:must be|(?:is|are) required|has to|is not a known)`).test(words);
        assert.ok(words === "" || isTold, `${tool.name}.${name}: ${words}`); // "": it was understood
      }
    }
    assert.ok(refused > 60, `${refused}`);
  });
});
