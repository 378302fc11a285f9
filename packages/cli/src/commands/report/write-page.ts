import { existsSync } from "node:fs";
import { RuntimeError } from "@outrider/runtime";
import { replaceFileSync } from "@outrider/runtime/host";
import { exitCodes } from "../../exit-codes.ts";
import { print, visible } from "../../terminal/visible.ts";

/** To a file that is not there yet, or to stdout for `-`. */
export async function writePage(path: string, html: string, { isForced }: { isForced: boolean }): Promise<number> {
  if (path === "-") {
    await print(html);
    return exitCodes.success;
  }
  if (existsSync(path) && !isForced) throw new RuntimeError("usage", `${path} exists already`, { hint: "--force overwrites it" });
  try {
    replaceFileSync(path, html);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new RuntimeError("storage-failed", `Cannot write ${path}: ${reason}`, { hint: "Choose another -o" });
  }
  process.stderr.write(`Written to ${visible(path)}\n`);
  return exitCodes.success;
}
