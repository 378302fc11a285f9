import { statSync } from "node:fs";
import { type BubblewrapFeatures, bubblewrapArguments } from "./box/bubblewrap-arguments.ts";
import { bubblewrapPlaces, findBubblewrap } from "./find-bubblewrap.ts";

export type SandboxAvailability =
  | { readonly available: true; readonly path: string; readonly version: string; readonly features: BubblewrapFeatures }
  | { readonly available: false; readonly reason: string };

const probeTimeoutMs = 10_000;

let detected: Promise<SandboxAvailability> | undefined;

/** Is there a working bubblewrap? Tried out once per process: installed is not enough where the kernel forbids user namespaces. */
export function detectSandbox(): Promise<SandboxAvailability> {
  detected ??= probe();
  return detected;
}

/** The same for a project: root has no power in a box over files of others. */
export async function detectSandboxFor(root: string): Promise<SandboxAvailability> {
  const owner = statSync(root).uid;
  if (process.getuid?.() === 0 && owner !== 0) {
    const reason = `${root} belongs to another user (uid ${owner}), and in a box root has power over its own files only`;
    return { available: false, reason };
  }
  return detectSandbox();
}

async function probe(): Promise<SandboxAvailability> {
  if (process.platform !== "linux") return { available: false, reason: "bubblewrap exists for Linux only" };
  const path = findBubblewrap();
  if (path === undefined) {
    return {
      available: false,
      reason: `bubblewrap is not installed (looked for ${bubblewrapPlaces[0]} and in the usual other places)`,
    };
  }
  const versionText = await run(path, ["--version"]);
  const version = /\d+(?:\.\d+)+/.exec(versionText.output)?.[0];
  if (version === undefined)
    return { available: false, reason: `${path} does not tell its version: ${inShort(versionText.output)}` };
  const features = featuresOf(version);
  const args = bubblewrapArguments({
    mounts: [{ type: "hide", path: "/tmp" }],
    cwd: "/",
    shareNetwork: false,
    asRoot: process.getuid?.() === 0,
    features,
    unset: [],
    set: {},
    command: ["/bin/sh", "-c", ":"],
  });
  const { failed, output } = await run(path, args);
  return failed ? { available: false, reason: explain(output) } : { available: true, path, version, features };
}

/** By the release that brought them. */
export function featuresOf(version: string): BubblewrapFeatures {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const since = (wanted: number): boolean => major > 0 || minor >= wanted;
  return { tmpfsSize: since(7), disableUserNamespaces: since(8) };
}

function explain(output: string): string {
  const words = inShort(output) || "it ended without a word";
  if (/uid map|namespace|Operation not permitted|Permission denied|No permissions|unshare/i.test(words)) {
    return `the kernel does not let bubblewrap make a box (${words}); in a container it needs leave to make user namespaces, on Ubuntu 24.04 and later an AppArmor profile for bwrap`;
  }
  return `bubblewrap does not work here: ${words}`;
}

function inShort(output: string): string {
  return output.trim().split("\n").at(-1)?.slice(0, 300) ?? "";
}

function run(path: string, args: readonly string[]): Promise<{ failed: boolean; output: string }> {
  const { execFile } = process.getBuiltinModule("node:child_process");
  return new Promise((resolve) => {
    execFile(path, [...args], { timeout: probeTimeoutMs, cwd: "/", env: {} }, (error, stdout, stderr) => {
      resolve({ failed: error !== null, output: stdout + stderr });
    });
  });
}
