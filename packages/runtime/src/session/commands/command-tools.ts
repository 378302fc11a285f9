import { join } from "node:path";
import type { CommandResult, SystemCommand } from "../../commands/command.ts";
import { commandToolName } from "../../commands/registry.ts";
import { RuntimeError } from "../../protocol/errors.ts";

import { defineTool, type Tool } from "../../tools/tool.ts";

export type ExecuteCommand = (command: SystemCommand, args: string, signal: AbortSignal) => Promise<CommandResult>;

/** Commands that a model may run, each as a tool of its own. Two that would have one name are refused. */
export function createCommandTools(commands: readonly SystemCommand[], execute: ExecuteCommand): Tool[] {
  const byName = new Map<string, SystemCommand>();
  return commands
    .filter(({ modelInvocable }) => modelInvocable)
    .map((command) => {
      const name = commandToolName(command.name);
      const other = byName.get(name);
      if (other)
        throw new RuntimeError("config", `The commands ${other.name} and ${command.name} would both be the tool ${name}`);
      byName.set(name, command);
      return toTool(command, name, execute);
    });
}

const memoryForModels =
  "The project's memory, which later sessions are told. `list` and `show TOPIC` read it. `add user|feedback|project|reference TOPIC TEXT` " +
  "proposes one short fact that is worth knowing in every later session, such as a decision or a preference of the user; a person approves it.";

function toTool(command: SystemCommand, name: string, execute: ExecuteCommand): Tool {
  const isRead = command.safety === "read";
  return defineTool<{ args: string }>({
    name,
    description: name === commandToolName("memory") ? memoryForModels : command.description,
    inputSchema: {
      type: "object",
      properties: { args: { type: "string", description: command.argumentHint ?? "What a person would type behind its name" } },
      required: ["args"],
    },
    concurrent: false,
    facts: { kind: isRead ? "note" : "edit", ofConversation: true },
    async access({ args }, workspace) {
      return isRead ? { kind: "note", resources: [args] } : { kind: "edit", resources: [join(workspace.root, name)] }; // like a new file in the project
    },
    async execute({ args }, { signal }) {
      const { success, message } = await execute(command, args, signal);
      return { content: [{ type: "text", text: message }], isError: !success };
    },
  });
}
