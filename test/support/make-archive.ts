import { crc32, deflateRawSync, gzipSync } from "node:zlib";

export type MadeEntry = { readonly name: string; readonly text: string; readonly type?: string; readonly mode?: number };

/** A zip archive as zip makes it, with whatever names and modes. */
export function zipOf(entries: readonly MadeEntry[]): Buffer {
  const locals: Buffer[] = [];
  const listed: Buffer[] = [];
  let at = 0;
  for (const { name, text, mode = 0o100644 } of entries) {
    const [bytes, encoded] = [Buffer.from(text), Buffer.from(name)];
    const packed = deflateRawSync(bytes);
    const head = Buffer.alloc(30);
    head.writeUInt32LE(0x04034b50, 0);
    head.writeUInt16LE(8, 8);
    head.writeUInt32LE(crc32(bytes), 14);
    head.writeUInt32LE(packed.length, 18);
    head.writeUInt32LE(bytes.length, 22);
    head.writeUInt16LE(encoded.length, 26);
    const row = Buffer.alloc(46);
    row.writeUInt32LE(0x02014b50, 0);
    row.writeUInt16LE(8, 10);
    row.writeUInt32LE(crc32(bytes), 16);
    row.writeUInt32LE(packed.length, 20);
    row.writeUInt32LE(bytes.length, 24);
    row.writeUInt16LE(encoded.length, 28);
    row.writeUInt32LE((mode << 16) >>> 0, 38);
    row.writeUInt32LE(at, 42);
    locals.push(head, encoded, packed);
    listed.push(row, encoded);
    at += head.length + encoded.length + packed.length;
  }
  const list = Buffer.concat(listed);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(list.length, 12);
  end.writeUInt32LE(at, 16);
  return Buffer.concat([...locals, list, end]);
}

/** The same as a compressed tar archive. */
export function tgzOf(entries: readonly MadeEntry[]): Buffer {
  const blocks = entries.flatMap(({ name, text, type = "0", mode = 0o644 }) => {
    const bytes = Buffer.from(type === "0" ? text : "");
    const head = Buffer.alloc(512);
    head.write(name, 0, 100);
    head.write(`${(mode & 0o7777).toString(8).padStart(7, "0")}\0`, 100);
    head.write(`${bytes.length.toString(8).padStart(11, "0")}\0`, 124);
    head.write(type, 156);
    if (type !== "0") head.write("/etc/passwd", 157);
    head.write("ustar\0" + "00", 257);
    head.write("        ", 148);
    const sum = head.reduce((total, byte) => total + byte, 0);
    head.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
    return [head, bytes, Buffer.alloc((512 - (bytes.length % 512)) % 512)];
  });
  return gzipSync(Buffer.concat([...blocks, Buffer.alloc(1024)]));
}
