import { closeSync, fsync, openSync } from "node:fs";

/** Makes the names in a folder last: a file that was synced is lost all the same if its folder does not know it after a power cut. */
export async function syncFolder(path: string): Promise<void> {
  const folder = openSync(path, "r");
  try {
    await new Promise<void>((resolve, reject) => fsync(folder, (error) => (error ? reject(error) : resolve())));
  } catch (error) {
    if (!unsupported.has(String((error as NodeJS.ErrnoException).code))) throw error; // fsync fails with nothing else
  } finally {
    closeSync(folder);
  }
}

/** Some file systems keep their folders themselves and refuse. */
const unsupported: ReadonlySet<string> = new Set(["EINVAL", "EPERM", "ENOTSUP", "EISDIR"]);
