import { RuntimeError } from "../protocol/errors.ts";
import { ToolFailure } from "./tool.ts";

/**
 * What the machine refuses (no permission, disk full) is no bug of the tool: the workspace's words go to the model.
 * That a change cannot be recorded is not the model's to mend.
 */
export async function orToolFailure<T>(effect: Promise<T>): Promise<T> {
  try {
    return await effect;
  } catch (error) {
    if (error instanceof RuntimeError && error.code !== "storage-failed") throw new ToolFailure(error.message, { cause: error });
    throw error;
  }
}
