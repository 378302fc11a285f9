import { diffLines } from "../diff.ts";
import { displayPath } from "../display-path.ts";
import { rememberFile, requireSeen } from "../file-memory.ts";
import { refuseMasks, refusePlaceholders } from "../hidden-values.ts";
import { loadFileIfPresent, saveFile } from "../load-file.ts";
import { decodeText, splitLines } from "../text-file.ts";
import type { Tool } from "../tool.ts";
import { defineTool } from "../tool.ts";

type WriteInput = { file_path: string; content: string };

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
  async access(input, workspace) {
    return { kind: "edit", resources: [await workspace.resolve(input.file_path)] };
  },
  async execute(input, { workspace, memory, standsForSecret, meetSecrets }) {
    const path = await workspace.resolve(input.file_path);
    const name = displayPath(workspace.root, path);
    const before = await loadFileIfPresent(workspace, path);
    if (before) requireSeen(memory, path, { bytes: before.bytes, name });
    const old = before ? decodeText(before.bytes)?.text : "";
    if (old) meetSecrets?.(old);
    if (before) refusePlaceholders(input.content, { before: old ?? "", name });
    else refuseMasks(input.content, standsForSecret);

    const bytes = Buffer.from(input.content, "utf8");
    const { mtimeMs } = await saveFile(workspace, path, bytes);
    rememberFile(memory, path, { bytes, mtimeMs });
    const count = splitLines(input.content).length;
    return {
      content: [
        { type: "text", text: `${before ? "Overwrote" : "Created"} ${name} (${count} ${count === 1 ? "line" : "lines"}).` },
      ],
      details: { file: path, diff: old === undefined ? [] : diffLines(old, input.content), ...(!before && { created: true }) },
    };
  },
});
