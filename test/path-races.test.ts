import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { runToolCall } from "../packages/runtime/src/engine/tool-call.ts";
import { PermissionGate } from "../packages/runtime/src/permissions/gate.ts";
import type { JsonObject, ToolResultPart } from "../packages/runtime/src/protocol/content.ts";
import { createBuiltinTools } from "../packages/runtime/src/tools/builtin/builtin-tools.ts";
import { createToolMemory } from "../packages/runtime/src/tools/tool.ts";
import { createLocalWorkspace } from "../packages/runtime/src/workspace/local.ts";
import type { Workspace } from "../packages/runtime/src/workspace/workspace.ts";

/** When the link is swapped: after the decision, or later, when the tool has looked where the path leads and is about to use it. */
type Moment = "after the decision" | "before readFile" | "before writeFile";

const secret = "the secret outside";
const original = "old line\n";

type Scene = { readonly project: string; readonly outside: string; readonly swap: () => void };

/** `project/folder/file.txt` is approved; the swap makes the file, or its folder, a link to the same name outside. */
function setUp(what: "file" | "folder"): Scene & { readonly top: string } {
  const top = realpathSync(mkdtempSync(join(tmpdir(), "outrider-races-")));
  const project = join(top, "project");
  const outside = join(top, "outside");
  mkdirSync(join(project, "folder"), { recursive: true });
  mkdirSync(outside);
  writeFileSync(join(project, "folder/file.txt"), original);
  writeFileSync(join(outside, "file.txt"), `${original}${secret}\n`);
  const place = join(project, what === "file" ? "folder/file.txt" : "folder");
  const swap = (): void => {
    renameSync(place, join(top, "moved"));
    symlinkSync(what === "file" ? join(outside, "file.txt") : outside, place);
  };
  return { top, project, outside, swap };
}

/** Runs the call, with the read that Write and Edit need before it, and swaps once at the moment. */
async function race({ project, swap }: Scene, moment: Moment, call: { name: string; input: JsonObject }): Promise<string> {
  let armed = false;
  const swapAt = (now: Moment): void => {
    if (!armed || now !== moment) return;
    armed = false;
    swap();
  };
  const local = createLocalWorkspace({ root: project, env: {}, overflowDirectory: join(project, "../overflow") });
  const workspace: Workspace = {
    ...local,
    readFile: (...args) => {
      swapAt("before readFile");
      return local.readFile(...args);
    },
    writeFile: (...args) => {
      swapAt("before writeFile");
      return local.writeFile(...args);
    },
  };
  const run = async (name: string, input: JsonObject): Promise<ToolResultPart> =>
    await runToolCall(
      {
        tools,
        workspace,
        memory,
        policy: () => ({
          mode: "acceptEdits",
          allow: [],
          ask: [],
          deny: [],
          base: { root: local.root, home: undefined },
          readable: [],
          trusted: async () => false,
        }),
        gate: new PermissionGate(),
        answerable: false,
        outputLimit: 30_000,
        emit: () => {},
        flush: async () => swapAt("after the decision"),
        signal: new AbortController().signal,
        newId: () => "id",
        clock: () => 0,
      },
      { type: "tool-call", callId: "c", name, input },
    );
  const tools = new Map(createBuiltinTools({}).map((tool) => [tool.name, tool]));
  const memory = createToolMemory();
  try {
    if (call.name !== "Read") await run("Read", { file_path: "folder/file.txt" });
    armed = true;
    const result = await run(call.name, call.input);
    assert.equal(armed, false, "the moment came");
    return JSON.stringify(result.content);
  } finally {
    await local.close();
  }
}

const calls: Record<string, { input: JsonObject; moments: Moment[] }> = {
  Read: { input: { file_path: "folder/file.txt" }, moments: ["after the decision", "before readFile"] },
  Write: {
    input: { file_path: "folder/file.txt", content: "new\n" },
    moments: ["after the decision", "before readFile", "before writeFile"],
  },
  Edit: {
    input: { file_path: "folder/file.txt", old_string: "old line", new_string: "new line" },
    moments: ["after the decision", "before readFile", "before writeFile"],
  },
};

/** Windows that are still open: the read path is not bound to what was approved, and `writeFile` follows links once more. */
const stillOpen = (name: string, moment: Moment): boolean => name === "Read" || moment === "before writeFile";

describe("a path that is swapped for a link to elsewhere while a tool is at work", () => {
  for (const [name, { input, moments }] of Object.entries(calls))
    for (const moment of moments)
      for (const what of ["file", "folder"] as const)
        it(`${name}: the ${what}, ${moment}`, { todo: stillOpen(name, moment) }, async () => {
          const scene = setUp(what);
          try {
            const told = await race(scene, moment, { name, input });
            assert.ok(!told.includes(secret), "nothing outside is read");
            assert.equal(
              readFileSync(join(scene.outside, "file.txt"), "utf8"),
              `${original}${secret}\n`,
              "nothing outside is changed",
            );
          } finally {
            rmSync(scene.top, { recursive: true, force: true });
          }
        });
});
