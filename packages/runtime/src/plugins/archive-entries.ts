import { crc32, gunzipSync, inflateRawSync } from "node:zlib";
import { RuntimeError } from "../protocol/errors.ts";
import { bundleLimits } from "./content-hash.ts";

/** A file in an archive. Folders are made of names; everything else that an archive can hold is refused. */
export type ArchiveFile = { readonly name: string; readonly bytes: Uint8Array; readonly executable: boolean };

/** What an archive may be in bytes before it is opened. */
export const maxArchive: number = 256 * 1024 * 1024;

/** The files of a zip or tar archive, compressed or not. Throws for names that lead out, for links and devices, and for what would be too much. */
export function archiveFiles(archive: Uint8Array): ArchiveFile[] {
  const buffer = Buffer.from(archive.buffer, archive.byteOffset, archive.byteLength);
  if (buffer.length < 22) throw wrong("it is cut off");
  if (buffer.length > maxArchive) throw wrong(`it has more than ${maxArchive / 1024 / 1024} MB`);
  const files = buffer.readUInt16LE(0) === 0x4b50 ? zipFiles(buffer) : tarFiles(unzipped(buffer));
  if (files.length === 0) throw wrong("it holds no files");
  return withoutWrapper(files);
}

function unzipped(buffer: Buffer): Buffer {
  if (buffer.readUInt16BE(0) !== 0x1f8b) return buffer;
  try {
    return gunzipSync(buffer, { maxOutputLength: bundleLimits.bytes * 2 });
  } catch (error) {
    throw wrong(error instanceof Error ? error.message : String(error));
  }
}

class Counted {
  readonly files: ArchiveFile[] = [];
  #bytes = 0;

  /** What is left of the room for a bundle. */
  get room(): number {
    return bundleLimits.bytes - this.#bytes;
  }

  add(file: ArchiveFile): void {
    this.#bytes += file.bytes.length;
    this.files.push({ ...file, name: safeName(file.name) });
    if (this.files.length > bundleLimits.files) throw wrong(`it has more than ${bundleLimits.files} files`);
    if (this.#bytes > bundleLimits.bytes) throw wrong(`it holds more than ${bundleLimits.bytes / 1024 / 1024} MB`);
  }
}

/** By the list at the end, which is what every other program goes by. */
function zipFiles(buffer: Buffer): ArchiveFile[] {
  const end = buffer.lastIndexOf(Buffer.from("PK\x05\x06", "latin1"));
  if (end < 0 || end + 22 > buffer.length) throw wrong("it is cut off");
  const found = new Counted();
  let at = buffer.readUInt32LE(end + 16);
  for (let count = buffer.readUInt16LE(end + 10); count > 0; count--) {
    if (at + 46 > buffer.length || buffer.readUInt32LE(at) !== 0x02014b50) throw wrong("its list of files is broken");
    const [flags, method, sum] = [buffer.readUInt16LE(at + 8), buffer.readUInt16LE(at + 10), buffer.readUInt32LE(at + 16)];
    const [packed, size] = [buffer.readUInt32LE(at + 20), buffer.readUInt32LE(at + 24)];
    const [nameLength, extra, comment] = [28, 30, 32].map((offset) => buffer.readUInt16LE(at + offset));
    const mode = buffer.readUInt32LE(at + 38) >>> 16;
    const local = buffer.readUInt32LE(at + 42);
    const name = buffer.toString("utf8", at + 46, at + 46 + (nameLength ?? 0));
    at += 46 + (nameLength ?? 0) + (extra ?? 0) + (comment ?? 0);
    const kind = mode & 0o170000;
    if (kind !== 0 && kind !== 0o100000 && kind !== 0o040000)
      throw wrong(`${JSON.stringify(name)} is neither a file nor a folder`);
    if (name.endsWith("/")) {
      safeName(name.slice(0, -1));
      continue;
    }
    if (flags & 1) throw wrong(`${JSON.stringify(name)} is encrypted`);
    if (size > found.room || local + 30 > buffer.length) throw wrong(`${JSON.stringify(name)} is too large`);
    const start = local + 30 + buffer.readUInt16LE(local + 26) + buffer.readUInt16LE(local + 28);
    const bytes = inflate(buffer.subarray(start, start + packed), { method, size, name });
    if (crc32(bytes) !== sum) throw wrong(`${JSON.stringify(name)} is damaged`);
    found.add({ name, bytes, executable: (mode & 0o100) !== 0 });
  }
  return found.files;
}

function inflate(packed: Buffer, { method, size, name }: { method: number; size: number; name: string }): Buffer {
  if (method !== 0 && method !== 8) throw wrong(`${JSON.stringify(name)} is packed in a way that is not known here`);
  let bytes = packed;
  try {
    if (method === 8) bytes = inflateRawSync(packed, { maxOutputLength: size + 1 });
  } catch {
    throw wrong(`${JSON.stringify(name)} cannot be unpacked`);
  }
  if (bytes.length !== size) throw wrong(`${JSON.stringify(name)} has not the size that it says`);
  return bytes;
}

function tarFiles(buffer: Buffer): ArchiveFile[] {
  const found = new Counted();
  let longName: string | undefined;
  for (let at = 0; at + 512 <= buffer.length; ) {
    const head = buffer.subarray(at, at + 512);
    if (head.every((byte) => byte === 0)) break;
    checkSum(head);
    const size = octal(head, 124, 12);
    const type = String.fromCharCode(head[156] ?? 0);
    const body = buffer.subarray(at + 512, at + 512 + size);
    if (body.length !== size) throw wrong("it is cut off");
    at += 512 + Math.ceil(size / 512) * 512;
    if (type === "L") longName = text(body);
    else if (type === "x") longName = paxPath(body) ?? longName;
    else if (type === "g") continue;
    else {
      const prefix = text(head.subarray(345, 500));
      const short = text(head.subarray(0, 100));
      const isUstar = head.toString("latin1", 257, 262) === "ustar";
      const name = longName ?? (isUstar && prefix !== "" ? `${prefix}/${short}` : short);
      longName = undefined;
      if (type === "5") safeName(name.replace(/\/$/, ""));
      else if (type === "0" || type === "\0") found.add({ name, bytes: body, executable: (octal(head, 100, 8) & 0o100) !== 0 });
      else throw wrong(`${JSON.stringify(name)} is neither a file nor a folder`);
    }
  }
  return found.files;
}

function checkSum(head: Buffer): void {
  const sum = head.reduce((total, byte, at) => total + (at >= 148 && at < 156 ? 32 : byte), 0);
  if (sum !== octal(head, 148, 8)) throw wrong("it is no archive, or damaged");
}

function paxPath(body: Buffer): string | undefined {
  return /(?:^|\n)\d+ path=([^\n]*)\n/.exec(body.toString("utf8"))?.[1];
}

function octal(head: Buffer, at: number, length: number): number {
  const value = Number.parseInt(
    head
      .toString("latin1", at, at + length)
      .replace(/[\0 ]+$/, "")
      .trim() || "0",
    8,
  );
  if (!Number.isSafeInteger(value) || value < 0) throw wrong("it is no archive, or damaged");
  return value;
}

function text(bytes: Buffer): string {
  const end = bytes.indexOf(0);
  return bytes.toString("utf8", 0, end < 0 ? bytes.length : end);
}

/** The name as it is, if it stays below the folder on every system. */
function safeName(name: string): string {
  const plain = name.replace(/^(?:\.\/)+/, "");
  const parts = plain.split("/");
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  if (plain === "" || /[\u0000-\u001f\u007f\\]|^[A-Za-z]:/.test(plain) || parts.some((part) => ["", ".", ".."].includes(part)))
    throw wrong(`the name ${JSON.stringify(name.slice(0, 200))} leads out of it`);
  return plain;
}

/** Archives of repositories and packages have one folder around everything. */
function withoutWrapper(files: readonly ArchiveFile[]): ArchiveFile[] {
  const [first = ""] = files[0]?.name.split("/") ?? [];
  const parts = [".claude-plugin", ".outrider-plugin", "skills", "commands", "agents", "hooks", "bin", "output-styles"];
  if (parts.includes(first) || !files.every(({ name }) => name.startsWith(`${first}/`))) return [...files];
  return files.map((file) => ({ ...file, name: file.name.slice(first.length + 1) }));
}

function wrong(what: string): RuntimeError {
  return new RuntimeError("config", `The archive is refused: ${what}`);
}
