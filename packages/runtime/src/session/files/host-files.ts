import { decide } from "../../permissions/decide.ts";
import { readingOf } from "../../permissions/rules.ts";
import { RuntimeError } from "../../protocol/errors.ts";
import { rememberFile } from "../../tools/file-memory.ts";
import { loadFile } from "../../tools/load-file.ts";
import type { ToolMemory } from "../../tools/tool.ts";
import type { Workspace } from "../../workspace/workspace.ts";
import type { SessionPolicy } from "../session-policy.ts";

export type FilePorts = { readonly workspace: Workspace; readonly memory: ToolMemory; readonly policy: SessionPolicy };

/** A file as a host gets to see it. */
export type SeenFile = { readonly path: string; readonly bytes: Uint8Array; readonly isWhole: boolean };

/** A file for the host to show, where the model may read it without a question. */
export async function readForHost(ports: FilePorts, { path, maxBytes }: { path: string; maxBytes: number }): Promise<SeenFile> {
  const { workspace } = ports;
  const real = await workspace.resolve(path);
  await checkReadable(ports, real);
  const stat = await workspace.stat(real);
  if (stat?.kind !== "file") throw new RuntimeError("not-found", `${path} is no file`);
  const bytes = await workspace.readFile(real, { maxBytes: Math.max(maxBytes, stat.size) });
  return { path: real, bytes: bytes.subarray(0, maxBytes), isWhole: bytes.length <= maxBytes };
}

/** The host has seen the file being read: the model may change it without reading it again, unless it has changed since. */
export async function noteRead(ports: FilePorts, { path, mtimeMs }: { path: string; mtimeMs: number }): Promise<void> {
  const real = await ports.workspace.resolve(path);
  await checkReadable(ports, real);
  const { bytes, stat } = await loadFile(ports, real);
  if (Math.floor(stat.mtimeMs) <= mtimeMs) rememberFile(ports.memory, real, { bytes, mtimeMs: stat.mtimeMs });
}

async function checkReadable({ workspace, policy }: FilePorts, resource: string): Promise<void> {
  const { effect, reason } = await decide(policy.current, [readingOf(resource)], (path) => workspace.resolve(path));
  if (effect !== "allow") throw new RuntimeError("usage", `Reading ${resource} is not permitted: ${reason}`);
}
