import { crc32 } from "../../util/crc32.ts";
import { maxPixels, type Pixels } from "./pixels.ts";

type Header = { readonly width: number; readonly height: number; readonly depth: number; readonly colour: number };

/** How many values a pixel has, by the kind of colour. */
const channels: Readonly<Record<number, number>> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };

/** Undefined for an interlaced picture and for one that is too large. Throws for a damaged one. */
export function decodePng(bytes: Buffer): Pixels | undefined {
  const header: Header = {
    width: bytes.readUInt32BE(16),
    height: bytes.readUInt32BE(20),
    depth: bytes.readUInt8(24),
    colour: bytes.readUInt8(25),
  };
  const { width, height } = header;
  const values = channels[header.colour];
  if (values === undefined || bytes.readUInt8(28) !== 0 || width * height > maxPixels) return undefined;
  const { pixels, palette, opacity } = piecesOf(bytes);
  const rowLength = Math.ceil((width * values * header.depth) / 8);
  const zlib = process.getBuiltinModule("node:zlib");
  const rows = zlib.inflateSync(pixels, { maxOutputLength: (rowLength + 1) * height + 1 });
  if (rows.length < (rowLength + 1) * height) return undefined;
  unfilter(rows, { rowLength, height, step: Math.max(1, (values * header.depth) / 8) });
  return { width, height, data: toColours(rows, { ...header, values, rowLength, palette, opacity }) };
}

function piecesOf(bytes: Buffer): { pixels: Buffer; palette: Buffer | undefined; opacity: Buffer | undefined } {
  const pixels: Buffer[] = [];
  let palette: Buffer | undefined;
  let opacity: Buffer | undefined;
  for (let at = 8; at + 8 <= bytes.length; ) {
    const length = bytes.readUInt32BE(at);
    const type = bytes.toString("latin1", at + 4, at + 8);
    const data = bytes.subarray(at + 8, at + 8 + length);
    if (type === "IDAT") pixels.push(data);
    if (type === "PLTE") palette = data;
    if (type === "tRNS") opacity = data;
    at += 12 + length;
  }
  return { pixels: Buffer.concat(pixels), palette, opacity };
}

/** Each row says how it was told by its neighbours: to the left, above, or both. In place. */
function unfilter(rows: Buffer, { rowLength, height, step }: { rowLength: number; height: number; step: number }): void {
  for (let y = 0; y < height; y++) {
    const start = y * (rowLength + 1) + 1;
    const kind = rows[start - 1];
    const above = y === 0 ? -1 : start - rowLength - 1;
    for (let x = 0; x < rowLength; x++) {
      const a = x >= step ? (rows[start + x - step] ?? 0) : 0;
      const b = above < 0 ? 0 : (rows[above + x] ?? 0);
      const c = above < 0 || x < step ? 0 : (rows[above + x - step] ?? 0);
      const value = rows[start + x] ?? 0;
      if (kind === 1) rows[start + x] = value + a;
      else if (kind === 2) rows[start + x] = value + b;
      else if (kind === 3) rows[start + x] = value + ((a + b) >> 1);
      else if (kind === 4) rows[start + x] = value + nearestOf(a, b, c);
      else if (kind !== 0) throw new Error("There is no such filter");
    }
  }
}

function nearestOf(a: number, b: number, c: number): number {
  const guess = a + b - c;
  const da = Math.abs(guess - a);
  const db = Math.abs(guess - b);
  const dc = Math.abs(guess - c);
  if (da <= db && da <= dc) return a;
  return db <= dc ? b : c;
}

type Layout = Header & {
  readonly values: number;
  readonly rowLength: number;
  readonly palette: Buffer | undefined;
  readonly opacity: Buffer | undefined;
};

function toColours(rows: Buffer, layout: Layout): Uint8Array {
  const { width, height, depth, colour, values, rowLength, palette, opacity } = layout;
  const data = new Uint8Array(width * height * 4);
  const most = 2 ** Math.min(depth, 8) - 1;
  const valueAt = (row: number, index: number): number => {
    if (depth === 8) return rows[row + index] ?? 0;
    if (depth === 16) return rows[row + index * 2] ?? 0; // its upper half
    const bit = index * depth;
    return ((rows[row + (bit >> 3)] ?? 0) >> (8 - depth - (bit & 7))) & most;
  };
  const scale = colour === 3 ? 1 : 255 / most;
  for (let y = 0; y < height; y++) {
    const row = y * (rowLength + 1) + 1;
    for (let x = 0; x < width; x++) {
      const at = (y * width + x) * 4;
      const first = valueAt(row, x * values) * scale;
      if (colour === 3) {
        for (let part = 0; part < 3; part++) data[at + part] = palette?.[first * 3 + part] ?? 0;
        data[at + 3] = opacity?.[first] ?? 255;
        continue;
      }
      const isGrey = values < 3;
      data[at] = first;
      data[at + 1] = isGrey ? first : valueAt(row, x * values + 1);
      data[at + 2] = isGrey ? first : valueAt(row, x * values + 2);
      data[at + 3] = values % 2 === 0 ? valueAt(row, x * values + values - 1) : 255;
    }
  }
  return data;
}

/** Each row told by its left neighbour, which makes screens and drawings small. */
export function encodePng({ width, height, data }: Pixels): Buffer {
  const rows = Buffer.alloc(height * (width * 4 + 1));
  for (let y = 0; y < height; y++) {
    const start = y * (width * 4 + 1);
    rows[start] = 1;
    for (let x = 0; x < width * 4; x++) {
      const from = y * width * 4 + x;
      rows[start + 1 + x] = (data[from] ?? 0) - (x < 4 ? 0 : (data[from - 4] ?? 0));
    }
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 6, 0, 0, 0], 8);
  const pixels = process.getBuiltinModule("node:zlib").deflateSync(rows);
  const signature = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");
  return Buffer.concat([signature, piece("IHDR", header), piece("IDAT", pixels), piece("IEND", Buffer.alloc(0))]);
}

function piece(type: string, data: Buffer): Buffer {
  const framed = Buffer.alloc(data.length + 12);
  framed.writeUInt32BE(data.length, 0);
  framed.write(type, 4, "latin1");
  framed.set(data, 8);
  framed.writeUInt32BE(crc32(framed.subarray(4, data.length + 8)), data.length + 8);
  return framed;
}
