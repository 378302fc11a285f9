import { lstatSync, readdirSync } from "node:fs";
import { type FileHandle, open, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { syncFolder } from "../util/sync-folder.ts";
import { RuntimeError } from "../protocol/errors.ts";
import { randomUuid } from "../util/unique-ids.ts";
import { type FileState, readContent } from "./file-state.ts";
import { storageFailure } from "./storage-failure.ts";
import { makeFolder } from "../util/make-folder.ts";

export type BlobOptions = { readonly folder: string; readonly maxFileBytes: number; readonly sync: boolean };

const temporary = ".tmp";

/** Copies of files, named by the SHA-256 of their bytes. */
export class Blobs {
  readonly #options: BlobOptions;

  constructor(options: BlobOptions) {
    this.#options = options;
  }

  /** What is at `path`; a regular file's bytes are kept, and are on the disk when this resolves. */
  async save(path: string): Promise<FileState> {
    const { folder, maxFileBytes } = this.#options;
    let copy: { path: string; file: FileHandle } | undefined;
    try {
      const state = await readContent(path, {
        maxBytes: maxFileBytes,
        take: async (piece) => {
          copy ??= await this.#startCopy();
          if (piece) await writeWhole(copy.file, piece);
          else await copy.file.truncate(0);
        },
      });
      if (state.kind !== "file" || this.has(state)) return state;
      copy ??= await this.#startCopy(); // an empty file has no pieces
      if (this.#options.sync) await copy.file.sync();
      await rename(copy.path, join(folder, state.hash));
      if (this.#options.sync) await syncFolder(folder);
      return state;
    } catch (error) {
      throw storageFailure(`${path} cannot be kept for undoing, so it was not changed`, error);
    } finally {
      await copy?.file.close();
      if (copy) await rm(copy.path, { force: true }).catch(() => {}); // what is left is cleaned up when checkpoints expire
    }
  }

  has({ hash, size }: { readonly hash: string; readonly size: number }): boolean {
    return lstatSync(join(this.#options.folder, hash), { throwIfNoEntry: false })?.size === size;
  }

  /** Writes the kept bytes to a new file at `path`, with their mode. Rejects when they are no longer the bytes that were kept. */
  async copyTo(state: FileState & { kind: "file" }, path: string): Promise<void> {
    const from = join(this.#options.folder, state.hash);
    const file = await open(path, "ax", 0o600);
    try {
      const read = await readContent(from, {
        maxBytes: Number.POSITIVE_INFINITY,
        take: async (piece) => (piece ? writeWhole(file, piece) : file.truncate(0)),
      });
      if (read.kind !== "file" || read.hash !== state.hash)
        throw new RuntimeError("storage-failed", `The kept copy ${from} is damaged or gone`);
      if (state.mode !== undefined) await file.chmod(state.mode);
      if (this.#options.sync) await file.sync();
    } finally {
      await file.close();
    }
  }

  /** Every copy with its size; also what a crash left unfinished. */
  list(): { hash: string; size: number }[] {
    return namesIn(this.#options.folder).map((hash) => ({
      hash,
      size: lstatSync(join(this.#options.folder, hash), { throwIfNoEntry: false })?.size ?? 0,
    }));
  }

  async remove(hash: string): Promise<void> {
    await rm(join(this.#options.folder, hash), { force: true });
  }

  async #startCopy(): Promise<{ path: string; file: FileHandle }> {
    makeFolder(this.#options.folder);
    const path = join(this.#options.folder, randomUuid() + temporary);
    // Appending, so that a truncated copy starts again at its beginning.
    return { path, file: await open(path, "ax", 0o600) };
  }
}

async function writeWhole(file: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let written = 0; written < bytes.length; ) written += (await file.write(bytes, written)).bytesWritten;
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
