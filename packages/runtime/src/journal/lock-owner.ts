import { readFileSync, readlinkSync, statSync, unlinkSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { randomUuid } from "../util/unique-ids.ts";
import { doorOf, knock } from "./lock-door.ts";

/** Who holds a lock. `boot` and `space` name the kernel and the process namespace in which `pid` means something. */
export type Owner = {
  pid: number;
  host: string;
  /** Of the process, in the kernel's own clock; tells it from a later one with the same id. */
  started: string;
  boot: string;
  space: string;
  /** The same in milliseconds since 1970, where there is no such clock. */
  startedAt: number;
  token: string;
};

/** Locks of processes that cannot be seen from here are stale after this silence; their owners beat every five seconds. */
const silenceMs = 30_000;

export function describeSelf(token: string): Owner {
  return {
    pid: process.pid,
    host: hostname(),
    started: readStat(process.pid)?.started ?? "",
    boot: bootId(),
    space: processSpace(),
    startedAt: Math.round(Date.now() - process.uptime() * 1000),
    token,
  };
}

/** Undefined for what is no whole record. Older versions wrote fewer fields. */
export function parseOwner(text: string): Owner | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== "object" || value === null || !("pid" in value) || !("token" in value)) return undefined;
    return { host: "", started: "", boot: "", space: "", startedAt: 0, ...value } as Owner; // written by us alone, in one go
  } catch {
    return undefined;
  }
}

/** `freeInMs`: nobody can see from here whether the owner lives; if it does not, its lock is free after this long. */
export type OwnerState = { readonly isAlive: boolean; readonly freeInMs?: number };

/** Whether the owner of the lock at `path` may still write. Where nobody can know, its last sign of life decides. */
export async function lookAtOwner(owner: Owner, path: string): Promise<OwnerState> {
  const isSeen = isOwnerAlive(owner);
  if (isSeen !== undefined) return { isAlive: isSeen };
  const answer = isOfThisKernel(owner) ? await knock(doorOf(path, owner.token)) : undefined;
  if (answer !== undefined) return { isAlive: answer };
  const freeInMs = Math.min(silenceMs, silenceMs - silenceOf(path));
  return { isAlive: freeInMs > 0, freeInMs };
}

/** Undefined where its process cannot be seen from here: on another machine, in another container. */
export function isOwnerAlive(owner: Owner): boolean | undefined {
  const isOfThisSpace = owner.space === "" || owner.space === processSpace();
  return isOfThisKernel(owner) && isOfThisSpace ? isRunning(owner) : undefined;
}

function isOfThisKernel({ boot, host }: Owner): boolean {
  return boot !== "" ? boot === bootId() : host === hostname();
}

/** Are there processes on this machine that cannot see ours? Then a lock of ours needs a door. */
export function isContained(space: string = processSpace()): boolean {
  return space !== "" && space !== outermostSpace;
}

/** What every Linux kernel calls the process namespace it boots with. */
const outermostSpace = "pid:[4026531836]";

function isRunning(owner: Owner): boolean {
  try {
    process.kill(owner.pid, 0);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ESRCH") return false;
  }
  const stat = readStat(owner.pid);
  if (!stat) return owner.startedAt === 0 || startsTogether(owner);
  if (stat.state === "Z" || stat.state === "X") return false; // dead, and nobody has asked for its exit code
  return owner.started === "" || stat.started === owner.started;
}

function readStat(pid: number): { state: string | undefined; started: string | undefined } | undefined {
  const stat = readIfThere(`/proc/${pid}/stat`);
  if (stat === undefined) return undefined;
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return { state: fields[0], started: fields[19] };
}

/** Without /proc: `ps` knows when a process was started, to the second. Only asked when a lock is in the way. */
function startsTogether(owner: Owner): boolean {
  const { stdout } = process
    .getBuiltinModule("node:child_process")
    .spawnSync("ps", ["-o", "lstart=", "-p", String(owner.pid)], { encoding: "utf8", env: { ...process.env, LC_ALL: "C" } });
  const started = Date.parse((stdout ?? "").trim());
  return Number.isNaN(started) || Math.abs(started - owner.startedAt) < 3000;
}

/** How long ago the lock was last touched, by the clock of the file system it is on, which may not be ours. */
function silenceOf(path: string): number {
  const probe = `${path}.${randomUuid()}.now`;
  try {
    const touched = statSync(path).mtimeMs;
    writeFileSync(probe, "");
    const now = statSync(probe).mtimeMs;
    unlinkSync(probe);
    return now - touched;
  } catch {
    return 0; // it cannot be judged, so it holds
  }
}

function bootId(): string {
  return readIfThere("/proc/sys/kernel/random/boot_id")?.trim() ?? "";
}

function processSpace(): string {
  try {
    return readlinkSync("/proc/self/ns/pid");
  } catch {
    return "";
  }
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
