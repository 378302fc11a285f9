import { readFileSync, readlinkSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { findBubblewrap } from "./find-bubblewrap.ts";
import { makeFolder } from "../util/make-folder.ts";

export type KnownSandbox = { readonly works: true } | { readonly works: false; readonly reason: string };

/**
 * Does bubblewrap work for this project? Trying it out takes a start of two programs, so that a yes is remembered in `memoryFile` for as
 * long as nothing has changed that decides it. A no is tried out each time: somebody may have mended it.
 */
export async function knowSandbox(root: string, memoryFile: string | undefined): Promise<KnownSandbox> {
  const key = memoryFile === undefined ? undefined : ground(root);
  if (memoryFile !== undefined && key !== undefined && read(memoryFile) === key) return { works: true };
  const { detectSandboxFor } = await import("./detect-sandbox.ts");
  const found = await detectSandboxFor(root);
  if (!found.available) return { works: false, reason: found.reason };
  if (memoryFile !== undefined && key !== undefined) remember(memoryFile, key);
  return { works: true };
}

/** What decides whether there can be a box: the program, the kernel's switches, and the limits this process is under. */
function ground(root: string): string | undefined {
  const program = findBubblewrap();
  if (program === undefined) return undefined;
  const { mtimeMs, size } = statSync(program);
  const limits = /^(?:NoNewPrivs|Seccomp|Seccomp_filters|CapEff|CapBnd):.*$/gm;
  return JSON.stringify([
    ...[program, mtimeMs, size, process.getuid?.(), process.getuid?.() === 0 && statSync(root).uid],
    ...["kernel/random/boot_id", "kernel/apparmor_restrict_unprivileged_userns", "kernel/unprivileged_userns_clone"].map((name) =>
      read(`/proc/sys/${name}`),
    ),
    ...["user/max_user_namespaces", "user/max_mnt_namespaces", "user/max_pid_namespaces"].map((name) =>
      read(`/proc/sys/${name}`),
    ),
    ...["user", "mnt"].map((name) => linkOf(`/proc/self/ns/${name}`)),
    read("/proc/self/attr/current"),
    read("/proc/self/status")?.match(limits),
  ]);
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8").trim();
  } catch {
    return undefined;
  }
}

function linkOf(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

function remember(path: string, key: string): void {
  try {
    makeFolder(dirname(path));
    writeFileSync(path, key, { mode: 0o600 });
  } catch {
    return; // then the next start tries it out again
  }
}
