import type { Tool } from "../tools/tool.ts";
import { checkInput, type InputCheck } from "../tools/input.ts";

/** Input is checked against the tool's own schema; where that is at fault itself, against as much of it as the model was shown. */
export async function checkCallInput(tool: Tool, input: unknown): Promise<InputCheck> {
  if (tool.checkInput) return await tool.checkInput(input);
  const checked = await checkInput(tool.inputSchema, input);
  if (checked.ok || !checked.uncheckable) return checked;
  const { toSendableSchema } = await import("../model/sendable/tool-schema.ts");
  const { schema, names } = toSendableSchema(tool.inputSchema);
  return await checkInput(schema, names.inputToWire(input));
}
