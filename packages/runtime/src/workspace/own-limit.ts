import { accessSync, constants, readFileSync } from "node:fs";
import { join } from "node:path";
import { isOwnProcess } from "./process-guard.ts";

/** Where the programs of the guard are looked for: not where a project's settings may lead. */
export const guardPath = "/usr/bin:/bin:/usr/local/bin:/usr/sbin:/sbin:/run/current-system/sw/bin";

/** Why something that a command starts may outlive this process, should that be killed. Undefined when nothing can. */
export function whyProcessesMayStay(limits: string | undefined = readLimits()): string | undefined {
  if (process.platform !== "linux") return "that is seen to on Linux only";
  if (!isOwnProcess()) return "the program that uses the library has processes of its own";
  if (chooseLimit(limits) === undefined) return "the hard limit of file locks (ulimit -H -x) is too low to mark them with it";
  return hasProgram("prlimit") ? undefined : "there is no program prlimit (package util-linux) to mark them with";
}

/** Undefined where it may not be that high. */
export function chooseLimit(limits: string | undefined, random: () => number = Math.random): string | undefined {
  const [, hard] = /^Max file locks\s+\S+\s+(\S+)/m.exec(limits ?? "") ?? [];
  const isFree = hard === "unlimited" || Number(hard) >= 2 ** 40;
  return isFree ? String(2 ** 39 + Math.floor(random() * 2 ** 39)) : undefined;
}

export function readLimits(): string | undefined {
  try {
    return readFileSync("/proc/self/limits", "latin1");
  } catch {
    return undefined;
  }
}

function hasProgram(name: string): boolean {
  return guardPath.split(":").some((folder) => {
    try {
      accessSync(join(folder, name), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
