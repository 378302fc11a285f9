import { RuntimeError } from "../protocol/errors.ts";
import { ToolFailure } from "./tool.ts";

/** What the machine refuses (no permission, disk full) is no bug of the tool: the workspace's words go to the model. */
export async function orToolFailure<T>(effect: Promise<T>): Promise<T> {
  try {
    return await effect;
  } catch (error) {
    if (error instanceof RuntimeError) throw new ToolFailure(error.message, { cause: error });
    throw error;
  }
}
