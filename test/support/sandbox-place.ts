import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  accessSync,
  constants,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join, resolve } from "node:path";
import { afterEach, beforeEach } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { detectSandbox } from "../../packages/runtime/src/workspace/detect-sandbox.ts";
import { createLocalWorkspace } from "../../packages/runtime/src/workspace/local.ts";
import { createSandboxedWorkspace, type SandboxOptions } from "../../packages/runtime/src/workspace/sandbox.ts";
import type { RunCommand, RunResult, Workspace } from "../../packages/runtime/src/workspace/workspace.ts";

// Not below /tmp, which boxes do not show: what lies outside the project must be seen, and withstand.
const checkout = resolve(process.env["OUTRIDER_ROOT"] ?? ".", ".cache");
const cache = checkout.startsWith("/tmp/") ? (["/srv", "/opt"].find(isWritable) ?? checkout) : checkout;
export const path = process.env["PATH"] ?? "/usr/bin:/bin";

export type Place = { base: string; project: string; home: string; outside: string; overflow: string };
export type Ran = { result: RunResult; output: string };

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** A machine in small: a project with a repository and settings, a home with secrets, and something else of the user's. */
function makePlace(base: string = mkdtempSync(join(cache, "sandbox-"))): Place {
  const place = {
    base,
    project: join(base, "project"),
    home: join(base, "home"),
    outside: join(base, "outside"),
    overflow: join(base, "overflow"),
  };
  for (const folder of [place.project, place.home, place.outside]) mkdirSync(folder, { recursive: true });
  mkdirSync(join(place.home, ".ssh"));
  mkdirSync(join(place.home, ".config/gh"), { recursive: true });
  writeFileSync(join(place.home, ".ssh/id_ed25519"), "SECRET-KEY\n");
  writeFileSync(join(place.home, ".config/gh/hosts.yml"), "SECRET-TOKEN\n");
  writeFileSync(join(place.home, ".bashrc"), "# mine\n");
  writeFileSync(
    join(place.home, ".gitconfig"),
    "[user]\n\tname = Ada\n\temail = ada@example.com\n[github]\n\ttoken = SECRET-TOKEN\n",
  );
  writeFileSync(join(place.outside, "file.txt"), "untouched\n");
  writeFileSync(join(place.project, "a.txt"), "one\n");
  mkdirSync(join(place.project, ".claude"));
  writeFileSync(join(place.project, ".claude/settings.json"), "{}\n");
  execFileSync("git", ["init", "-q", "-b", "main", place.project], { env: { PATH: path, HOME: place.home } });
  return place;
}

export async function openBox(
  place: Place,
  sandbox: Partial<SandboxOptions> = {},
  root: string = place.project,
): Promise<Workspace> {
  const env = { PATH: path, HOME: place.home, SSH_AUTH_SOCK: "/nowhere" };
  const local = createLocalWorkspace({ root, env, overflowDirectory: place.overflow });
  return createSandboxedWorkspace({
    sandbox: { mode: "require", ...sandbox },
    local,
    home: place.home,
    env,
    overflowDirectory: place.overflow,
    isPublicAddress: () => true,
  });
}

export async function runIn(workspace: Workspace, script: string, options: Partial<RunCommand> = {}): Promise<Ran> {
  let output = "";
  const result = await workspace.run({
    file: "bash",
    args: ["-c", `exec 2>&1\n${script}`],
    timeoutMs: 30_000,
    signal: new AbortController().signal,
    onOutput: ({ bytes }) => {
      output += Buffer.from(bytes).toString("utf8");
    },
    ...options,
  });
  return { result, output };
}

/** Every file below a directory with what it holds, except what git writes while it works. */
export function contents(folder: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" }).sort()) {
    if (/^\.git\/(?:objects|logs|refs|index|COMMIT_EDITMSG)/.test(name)) continue;
    const stats = lstatSync(join(folder, name));
    if (stats.isFile()) found[name] = readFileSync(join(folder, name), "utf8");
    else found[name] = stats.isSymbolicLink() ? `-> ${readlinkSync(join(folder, name))}` : "";
  }
  return found;
}

/** No process sleeps for this long any more. */
export async function untilGone(duration: string): Promise<void> {
  const sleepers = (): string[] =>
    readdirSync("/proc").filter((name) => {
      try {
        return readFileSync(`/proc/${name}/cmdline`, "latin1") === `sleep\0${duration}\0`;
      } catch {
        return false;
      }
    });
  for (let tries = 0; sleepers().length > 0 && tries < 500; tries++) await pause(10);
  assert.deepEqual(sleepers(), []);
}

/** For the `skip` of a suite: false where there is a sandbox. */
export async function whyNoSandbox(): Promise<string | false> {
  const availability = await detectSandbox();
  return availability.available ? false : `no sandbox on this machine: ${availability.reason}`;
}

/** Each test of the suite gets a place and a box of its own, which end with it. */
export interface BoxStage {
  place: Place;
  workspace: Workspace;
  /** One more box, with other options or in another folder. */
  open(sandbox?: Partial<SandboxOptions>, root?: string): Promise<Workspace>;
  sh(script: string, options?: Partial<RunCommand>): Promise<Ran>;
}

export function setUpBoxes(): BoxStage {
  const opened: Workspace[] = [];
  // Both are there when a test begins.
  const stage = {
    async open(sandbox: Partial<SandboxOptions> = {}, root?: string) {
      const box = await openBox(stage.place, sandbox, root);
      opened.push(box);
      return box;
    },
    sh: (script: string, options: Partial<RunCommand> = {}) => runIn(stage.workspace, script, options),
  } as BoxStage;

  beforeEach(async () => {
    stage.place = makePlace();
    stage.workspace = await stage.open();
  });

  afterEach(async () => {
    await Promise.all(opened.splice(0).map((box) => box.close()));
    rmSync(stage.place.base, { recursive: true, force: true });
  });
  return stage;
}
