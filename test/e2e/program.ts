import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { projectRoot, tempFolder } from "./command.ts";

/** A program of somebody who has installed the library. */
export async function program(
  text: string,
  { cwd, home, env }: { readonly cwd: string; readonly home: string; readonly env: Record<string, string> },
): Promise<void> {
  const folder = tempFolder("program");
  const file = join(folder, "program.mjs");
  writeFileSync(file, text.replace('"@outrider/runtime"', JSON.stringify(join(projectRoot, "packages/runtime/dist/index.js"))));
  const child = spawn(process.execPath, [file], {
    cwd,
    env: { PATH: process.env["PATH"] ?? "", HOME: dirname(home), ...env },
    stdio: ["ignore", "inherit", "inherit"],
  });
  await new Promise((resolve) => child.on("close", resolve));
}
