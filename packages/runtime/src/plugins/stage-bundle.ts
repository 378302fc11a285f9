import { createHash } from "node:crypto";
import { constants, copyFileSync, chmodSync, readFileSync, realpathSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import { makeFolder } from "../util/make-folder.ts";
import { RuntimeError } from "../protocol/errors.ts";
import { isInside } from "../util/is-inside.ts";
import { archiveFiles, maxArchive } from "./archive-entries.ts";
import { type BundleEntry, hashBundle, listBundle } from "./content-hash.ts";
import { fetchGit, type GitWays } from "./fetch-git.ts";
import { npmPackage } from "./fetch-npm.ts";
import { fetchUrl } from "./fetch-url.ts";
import type { PluginSource } from "./plugin-source.ts";

/** Files that were fetched and looked at, and that nobody uses yet. */
export type StagedBundle = {
  readonly path: string;
  readonly contentHash: string;
  readonly commit?: string | undefined;
};

/** Copies a source to a new folder, without what is no part of a bundle. Refuses whatever would be another thing elsewhere. */
export async function stageBundle(source: PluginSource, folder: string, ways: GitWays): Promise<StagedBundle> {
  const path = join(folder, "bundle");
  makeFolder(path);
  const commit = await fill(source, { folder, path, ways });
  const entries = listBundle(path);
  refuseAmbiguous(entries);
  for (const entry of entries) if (entry.type === "link") refuseLeaving(path, entry);
  return { path, contentHash: hashBundle(path, entries), commit };
}

type Filling = { readonly folder: string; readonly path: string; readonly ways: GitWays };

async function fill(source: PluginSource, { folder, path, ways }: Filling): Promise<string | undefined> {
  switch (source.type) {
    case "folder":
      copyBundle(existingFolder(source.path), path);
      return undefined;
    case "archive":
      unpack(await readArchive(source, ways.signal), path);
      return undefined;
    case "npm":
      unpack(await npmPackage(source, ways.signal), path);
      return undefined;
    case "file":
      throw new RuntimeError("usage", `${source.location} is a marketplace, and no plugin`);
    case "git": {
      const clone = join(folder, "clone");
      const commit = await fetchGit(source, clone, ways);
      const top = source.path === undefined ? clone : join(clone, source.path);
      if (!statSync(top, { throwIfNoEntry: false })?.isDirectory() || !isInside(realpathSync(clone), realpathSync(top)))
        throw new RuntimeError("not-found", `${source.url} has no folder ${source.path}`);
      copyBundle(top, path);
      return commit;
    }
  }
}

/** Contents and what may be executed; the repository, owners, times and other bits of the mode stay behind. */
export function copyBundle(from: string, to: string): void {
  for (const entry of listBundle(from, { withoutGit: true })) {
    const target = join(to, entry.name);
    makeFolder(dirname(target), 0o755);
    if (entry.type === "link") symlinkSync(entry.target, target);
    else {
      copyFileSync(join(from, entry.name), target, constants.COPYFILE_EXCL);
      chmodSync(target, entry.executable ? 0o755 : 0o644);
    }
  }
}

function unpack(archive: Uint8Array, to: string): void {
  for (const { name, bytes, executable } of archiveFiles(archive)) {
    const target = join(to, name);
    try {
      makeFolder(dirname(target), 0o755);
      writeFileSync(target, bytes, { flag: "wx", mode: executable ? 0o755 : 0o644 });
    } catch (error) {
      throw new RuntimeError(
        "config",
        `The archive is refused: ${name} is in it twice (${(error as NodeJS.ErrnoException).code})`,
      ); // fs throws nothing else
    }
  }
}

async function readArchive(
  { location, sha256 }: Extract<PluginSource, { type: "archive" }>,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const bytes = isAbsolute(location) ? readLocal(location) : await fetchUrl(location, { maxBytes: maxArchive, signal });
  const found = createHash("sha256").update(bytes).digest("hex");
  if (sha256 !== undefined && found !== sha256.toLowerCase())
    throw new RuntimeError("config", `${location} has the SHA-256 ${found}, and ${sha256} was promised`);
  return bytes;
}

function readLocal(path: string): Uint8Array {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat?.isFile()) throw new RuntimeError("not-found", `There is no archive ${path}`);
  if (stat.size > maxArchive) throw new RuntimeError("config", `${path} is larger than ${maxArchive / 1024 / 1024} MB`);
  return readFileSync(path);
}

function existingFolder(path: string): string {
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory())
    throw new RuntimeError("not-found", `There is no folder ${path}`);
  return realpathSync(path);
}

/** Two names that are one on some file systems would be another bundle there. */
function refuseAmbiguous(entries: readonly BundleEntry[]): void {
  const seen = new Map<string, string>();
  for (const { name } of entries) {
    const key = name.normalize("NFC").toLowerCase();
    const other = seen.get(key);
    if (other !== undefined) throw refused(`${other} and ${name} are one name on some systems`);
    seen.set(key, name);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
    if (/[\u0000-\u001f\u007f\\]/.test(name) || name.length > 1_000)
      throw refused(`the name ${JSON.stringify(name.slice(0, 100))}`);
  }
}

function refuseLeaving(root: string, { name, target }: Extract<BundleEntry, { type: "link" }>): void {
  const real = isAbsolute(target) ? undefined : realOf(join(root, name));
  if (real === undefined || !isInside(realpathSync(root), real)) throw refused(`the link ${name} leads out of it, to ${target}`);
}

function realOf(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    return undefined;
  }
}

function refused(what: string): RuntimeError {
  return new RuntimeError("config", `The plugin is refused: ${what}`);
}
