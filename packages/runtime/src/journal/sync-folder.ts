import { open } from "node:fs/promises";
import { codeOf } from "./storage-failure.ts";

/** Makes the names in a folder last: a file that was synced is lost all the same if its folder does not know it after a power cut. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } catch (error) {
    if (!unsupported.includes(codeOf(error) ?? "")) throw error;
  } finally {
    await folder.close();
  }
}

/** Some file systems keep their folders themselves and refuse. */
const unsupported = ["EINVAL", "EPERM", "ENOTSUP", "EISDIR"];
