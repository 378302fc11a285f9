import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { now } from "./model-process.mjs";

/** Runs a program to its end: when it was spawned, when it had ended, what it printed. Anything but exit code 0 is a failure. */
export async function runChild(command, { cwd, env }) {
  const spawnedAt = now();
  const child = spawn(command[0], command.slice(1), { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  return await watch(child, { command, spawnedAt });
}

/**
 * Milliseconds of processor time, user and system. bash's `time` reads what the kernel counted for the child it waited for, to its very end;
 * Node has no such call, and a module loaded into the child to ask there would change what is measured.
 */
export async function runForCpu(command, { cwd, env }) {
  const timed = ["-c", `TIMEFORMAT="%3U %3S"; exec 4>&2 2>&3; time "$@" 2>&4 3>&- 4>&-`, "bash", ...command];
  const child = spawn("bash", timed, { cwd, env, stdio: ["ignore", "pipe", "pipe", "pipe"] });
  let report = "";
  child.stdio[3].setEncoding("utf8").on("data", (text) => {
    report += text;
  });
  const run = await watch(child, { command, spawnedAt: now() });
  const [user, system] = report.trim().split(" ").map(Number);
  return { ...run, cpuMs: (user + system) * 1000 };
}

/**
 * Peak memory in megabytes. `VmHWM` only grows, so the last value before the end is the peak but for what the last millisecond added.
 * The kernel's `ru_maxrss`, which is exact, is worse here: a child starts with its parent's peak in it.
 */
export async function runForMemory(command, { cwd, env }) {
  const spawnedAt = now();
  const child = spawn(command[0], command.slice(1), { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  let peak = 0;
  const timer = setInterval(() => {
    peak = peakOf(child.pid) ?? peak;
  }, 1);
  try {
    const run = await watch(child, { command, spawnedAt });
    return { ...run, peakMb: peak / 1024 };
  } finally {
    clearInterval(timer);
  }
}

/** In kilobytes; undefined for a process that has ended, which has no memory any more. */
function peakOf(pid) {
  try {
    const line = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "latin1"));
    return line ? Number(line[1]) : undefined;
  } catch {
    return undefined;
  }
}

async function watch(child, { command, spawnedAt }) {
  let lines = 0;
  let errors = "";
  child.stdout.on("data", (chunk) => {
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) lines++;
  });
  child.stderr.setEncoding("utf8").on("data", (text) => {
    errors += text;
  });
  let endedAt = 0;
  child.on("exit", () => {
    endedAt = now();
  });
  const code = await new Promise((resolve, reject) => {
    child.on("error", reject).on("close", (exitCode, signal) => resolve(exitCode ?? signal));
  });
  if (code !== 0) throw new Error(`${command.join(" ")} ended with ${code}:\n${errors}`);
  return { spawnedAt, endedAt, lines };
}
