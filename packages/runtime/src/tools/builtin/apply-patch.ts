import { forgives } from "../forgiven/later.ts";
import type { JsonObject } from "../../protocol/content.ts";
import { checkInput } from "../input.ts";
import { filesOfPatch, withPaths } from "../patch/patch-files.ts";
import { defineTool, type Tool } from "../tool.ts";
import { applyPatchFacts } from "./facts.ts";

const inputSchema: JsonObject = {
  type: "object",
  properties: {
    input: { type: "string", minLength: 1, description: "The whole patch, from *** Begin Patch to *** End Patch." },
  },
  required: ["input"],
  additionalProperties: false,
};

/** In the place of Edit and Write for models that were taught this language. */
export const applyPatchTool: Tool = defineTool<{ input: string }>({
  name: "apply_patch",
  description: [
    "Changes files by a patch: adds, updates, moves and deletes any number of them. All is done or, where a part does not fit, nothing.",
    "*** Begin Patch",
    "*** Update File: src/a.py",
    "@@ def greet():",
    " a line that stays",
    "-a line that goes",
    "+a line that comes",
    "*** Add File: src/b.py",
    "+every line of a new file",
    "*** Delete File: src/c.py",
    "*** End Patch",
    "Give about three lines that stay above and below each change; @@ with a line of the file (a class, a function) tells alike places apart: a change that fits in several is refused. " +
      "*** Move to: PATH behind Update File renames it, *** End of File says that a change is at the end. Paths are relative to the working " +
      "directory, or absolute. The answer shows the changed lines: there is no need to read the files again.",
  ].join("\n"),
  inputSchema,
  // Before it is judged: what is no patch names no files that could be.
  async checkInput(input) {
    const checked = await checkInput(inputSchema, input);
    if (!checked.ok) return checked;
    const { parsePatch } = await import("../patch/parse-patch.ts");
    const parsed = parsePatch((input as { input: string }).input); // the schema has just said so
    return parsed.type === "patch" ? checked : { ok: false, message: `Nothing was changed. ${parsed.problem}` };
  },
  concurrent: false,
  forgives: forgives("patch"),
  facts: applyPatchFacts,
  checksMasks: true,
  placed: async ({ input }, here) => ({ input: await withPaths(input, here) }),
  async access({ input }, workspace) {
    const paths = [...new Set(filesOfPatch(input))];
    return { kind: "edit", resources: await Promise.all(paths.map((path) => workspace.resolve(path))) };
  },
  // Loaded when it runs: many runs change nothing.
  execute: async (input, context) => (await import("../patch/run-patch.ts")).runPatch(input, context),
});
