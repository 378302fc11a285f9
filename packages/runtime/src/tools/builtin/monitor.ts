import { isAbsolute, join } from "node:path";
import { defined } from "../../util/defined.ts";
import { defineTool, type Tool, ToolFailure } from "../tool.ts";
import { placeIn } from "../working-directory.ts";
import { monitorFacts } from "./facts.ts";

export type MonitorInput = { description: string; command?: string; path?: string; pattern?: string; timeout_ms?: number };

const longestMs = 1_800_000;

/** Wakes the model by what a program prints, or by changes of a file. */
export const monitorTool: Tool = defineTool<MonitorInput>({
  name: "Monitor",
  description: [
    "Watches something in the background and wakes you: with command, by each line that it prints (or that pattern matches); with path, when that file or folder changes.",
    "You are also told when it ends. TaskStop ends it. Print only what you must know of, such as: tail -f app.log | grep --line-buffered ERROR",
  ].join(" "),
  inputSchema: {
    type: "object",
    properties: {
      description: { type: "string", description: "What is watched, in a few words" },
      command: { type: "string", minLength: 1, description: "A command for bash; each line of its output is told" },
      path: { type: "string", minLength: 1, description: "A file or folder whose changes are told" },
      pattern: { type: "string", description: "A regular expression: only lines that match are told" },
      timeout_ms: { type: "number", minimum: 1, maximum: longestMs, description: "How long it watches; 300000 unless given" },
    },
    required: ["description"],
    additionalProperties: false,
  },
  forgives: { names: { file_path: "path", timeout: "timeout_ms", regex: "pattern" }, needed: [], unset: ["timeout_ms"] },
  concurrent: false,
  facts: monitorFacts,
  takesGit: true,
  async access({ command, path }, workspace, memory) {
    const cwd = memory && placeIn(memory, workspace).directory;
    if (command === undefined && path !== undefined) {
      const whole = isAbsolute(path) ? path : join(cwd ?? workspace.root, path);
      return { kind: "look", resources: [await workspace.resolve(whole)] };
    }
    return { kind: "run", resources: [command ?? ""], ...defined({ cwd }) };
  },
  async execute(input, context) {
    if ((input.command === undefined) === (input.path === undefined))
      throw new ToolFailure("Give either a command or a path to watch.");
    return await (await import("../run-monitor.ts")).startMonitor(input, context);
  },
});
