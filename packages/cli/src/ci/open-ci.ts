import { fstatSync } from "node:fs";
import { randomUuid, secretsIn } from "@outrider/runtime/host";
import { detectCi } from "./platform.ts";
import type { CiRun } from "./start-ci.ts";

/**
 * In CI the run leaves a summary, outputs and annotations where the platform looks for them. To be called before anything is printed:
 * it hides secrets. Where a host drives the run, the log is the host's: only files are left.
 */
export async function openCi(
  wanted: boolean,
  warn: (text: string) => void,
  { hosted = false, narrates = false }: { hosted?: boolean; narrates?: boolean } = {},
): Promise<CiRun | undefined> {
  const platform = wanted ? detectCi(process.env) : undefined;
  if (!platform) return undefined;
  const { startCi } = await import("./start-ci.ts");
  return startCi({
    platform,
    secrets: secretsIn(process.env),
    newToken: randomUuid,
    write: (text) => process.stderr.write(text),
    warn,
    narrates,
    isFile: { stdout: isFile(1), stderr: hosted || isFile(2) },
  });
}

/** Was a run asked for, and its report? For words that could not be understood: other commands begin with their name, and have no report. */
export function wantsReport(words: readonly string[]): boolean {
  const isRun = words[0]?.startsWith("-") || words.includes("-p") || words.includes("--print");
  return isRun === true && !words.includes("--no-ci-report");
}

function isFile(descriptor: number): boolean {
  try {
    return fstatSync(descriptor).isFile();
  } catch {
    return false; // closed
  }
}
