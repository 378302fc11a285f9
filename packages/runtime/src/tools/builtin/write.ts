import { forgives } from "../forgiven/later.ts";
import type { WriteInput } from "../run-write.ts";
import { defineTool, type Tool } from "../tool.ts";
import { writeFacts } from "./facts.ts";

export const writeTool: Tool = defineTool<WriteInput>({
  name: "Write",
  description:
    "Writes a whole file: creates it, with its directories, or replaces everything in it. A file that exists must have been read in this " +
    "session and not have changed since. To change a part of a file use Edit.",
  inputSchema: {
    type: "object",
    properties: {
      file_path: { type: "string", minLength: 1, description: "The file: absolute, or relative to the working directory." },
      content: { type: "string", description: "All of the file's new text, written as it is." },
    },
    required: ["file_path", "content"],
    additionalProperties: false,
  },
  concurrent: false,
  forgives: forgives("write"),
  facts: writeFacts,
  checksMasks: true,
  placed: async (input, here) => ({ ...input, file_path: await here(input.file_path) }),
  async access(input, workspace) {
    return { kind: "edit", resources: [await workspace.resolve(input.file_path)] };
  },
  // Loaded when it runs: many runs change nothing.
  execute: async (input, context) => (await import("../run-write.ts")).runWrite(input, context),
});
