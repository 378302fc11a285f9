import { lstat, readdir, readFile, realpath } from "node:fs/promises";
import { isAbsolute, join, posix, relative } from "node:path";
import { RuntimeError } from "../protocol/errors.ts";
import { clientFiles } from "./client-files.ts";
import { defaultClientRoot } from "./client-workspace.ts";
import { type SandboxClient, shellWord } from "./sandbox-client.ts";

/** What a fresh sandbox is to hold, by path below `root`. */
export type WorkspaceManifest = {
  /** Absolute path in the sandbox; `/workspace` when absent. */
  readonly root?: string;
  readonly entries: Readonly<Record<string, WorkspaceManifestEntry>>;
};

/** Sources are paths on this machine, below the project. */
export type WorkspaceManifestEntry =
  | { readonly type: "file"; readonly content: string | Uint8Array }
  | { readonly type: "dir" }
  | { readonly type: "localFile"; readonly source: string }
  | { readonly type: "localDir"; readonly source: string }
  | { readonly type: "gitRepo"; readonly url: string; readonly ref?: string }
  /** Known, and not done: buckets would need the cloud's own libraries. */
  | { readonly type: "s3" | "gcs" | "r2" | "azure" };

const maxFiles = 10_000;
const maxBytes = 256 * 1024 * 1024;
const cloneTimeoutMs = 600_000;

/** Fills a sandbox. Everything is checked before anything is written. */
export async function applyWorkspaceManifest(
  client: SandboxClient,
  manifest: WorkspaceManifest,
  options: { readonly hostRoot: string },
): Promise<void> {
  const root = manifest.root ?? defaultClientRoot;
  if (!isAbsolute(root)) throw problem("root", `"${root}" is not an absolute path`);
  const steps: (() => Promise<void>)[] = [];
  for (const [name, entry] of Object.entries(manifest.entries))
    steps.push(await planEntry(client, { name, entry, root, ...options }));
  if (client.applyManifest) return client.applyManifest(manifest, options);
  await clientFiles(client).makeDirectory(root);
  for (const step of steps) await step();
}

type EntryFacts = { name: string; entry: WorkspaceManifestEntry; root: string; hostRoot: string };

async function planEntry(client: SandboxClient, { name, entry, root, hostRoot }: EntryFacts): Promise<() => Promise<void>> {
  const path = placeBelow(root, name);
  switch (entry.type) {
    case "file":
      return () => client.writeFile(path, entry.content);
    case "dir":
      return () => clientFiles(client).makeDirectory(path);
    case "localFile": {
      const source = await sourceBelow(hostRoot, { name, source: entry.source });
      if (!(await lstat(source)).isFile()) throw problem(name, `${entry.source} is not a file`);
      return async () => client.writeFile(path, await readFile(source));
    }
    case "localDir": {
      const source = await sourceBelow(hostRoot, { name, source: entry.source });
      const files = await filesBelow(source, name);
      return async () => {
        await clientFiles(client).makeDirectory(path);
        for (const file of files) await client.writeFile(posix.join(path, relative(source, file)), await readFile(file));
      };
    }
    case "gitRepo":
      return planClone(client, { name, path, url: entry.url, ref: entry.ref });
    default:
      throw problem(name, `entries of type "${entry.type}" are not supported`);
  }
}

function placeBelow(root: string, name: string): string {
  const path = posix.normalize(posix.join(root, name));
  const isBelow = path !== posix.normalize(root) && path.startsWith(`${posix.normalize(root).replace(/\/$/, "")}/`);
  if (posix.isAbsolute(name) || name.includes("\0") || !isBelow) throw problem(name, `the path does not lie below ${root}`);
  return path;
}

async function sourceBelow(hostRoot: string, { name, source }: { name: string; source: string }): Promise<string> {
  const top = await realpath(hostRoot);
  const real = await realpath(isAbsolute(source) ? source : join(top, source)).catch(() => undefined);
  if (real === undefined) throw problem(name, `there is no ${source}`);
  const inside = relative(top, real);
  if (inside.startsWith("..") || isAbsolute(inside)) throw problem(name, `${source} lies outside of ${hostRoot}`);
  return real;
}

/** Links are left out: they could lead anywhere on this machine. */
async function filesBelow(folder: string, name: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true }).catch(() => {
    throw problem(name, `${folder} is not a directory`);
  });
  const files = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  let bytes = 0;
  for (const file of files) bytes += (await lstat(file)).size;
  if (files.length > maxFiles || bytes > maxBytes)
    throw problem(
      name,
      `${folder} holds ${files.length} files with ${bytes} bytes; ${maxFiles} files and ${maxBytes} bytes are the limit`,
    );
  return files;
}

function planClone(
  client: SandboxClient,
  facts: { name: string; path: string; url: string; ref: string | undefined },
): () => Promise<void> {
  const { name, path, url, ref } = facts;
  if (!/^(?:https?:\/\/|ssh:\/\/|git:\/\/|[\w.-]+@[\w.-]+:)[^\s]+$/.test(url))
    throw problem(name, `"${url}" is not the address of a repository`);
  if (ref !== undefined && !/^[\w./][\w./-]*$/.test(ref)) throw problem(name, `"${ref}" is not a branch, tag or commit`);
  return async () => {
    const clone = `git clone --quiet -- ${shellWord(url)} ${shellWord(path)}`;
    const checkout = ref === undefined ? "" : ` && git -C ${shellWord(path)} checkout --quiet ${shellWord(ref)} --`;
    const { exitCode, stderr } = await client.run(clone + checkout, { timeoutMs: cloneTimeoutMs });
    if (exitCode !== 0) throw problem(name, `${url} could not be cloned: ${stderr.trim().slice(-500)}`);
  };
}

function problem(name: string, reason: string): RuntimeError {
  return new RuntimeError("config", `The workspace manifest cannot be applied: "${name}": ${reason}.`);
}
