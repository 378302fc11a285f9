import { maxPixels, type Pixels } from "./pixels.ts";
import { decodePng } from "./png.ts";

/** What PNG and plain BMP hold; undefined for what is not understood. */
export function toPixels(bytes: Buffer): Pixels | undefined {
  try {
    return bytes.toString("latin1", 0, 2) === "BM" ? decodeBmp(bytes) : decodePng(bytes);
  } catch {
    return undefined; // damaged: it is told in words
  }
}

/** 24 or 32 bits a pixel and not compressed, as nearly all are. */
function decodeBmp(bytes: Buffer): Pixels | undefined {
  const [width, signedHeight, bits, compression] = [
    bytes.readInt32LE(18),
    bytes.readInt32LE(22),
    bytes.readUInt16LE(28),
    bytes.readUInt32LE(30),
  ];
  const height = Math.abs(signedHeight);
  if (
    (bits !== 24 && bits !== 32) ||
    (compression !== 0 && compression !== 3) ||
    width < 1 ||
    height < 1 ||
    width * height > maxPixels
  )
    return undefined;
  const step = bits / 8;
  const rowLength = Math.ceil((width * step) / 4) * 4;
  const from = bytes.readUInt32LE(10);
  if (from + rowLength * height > bytes.length) return undefined;
  const data = new Uint8Array(width * height * 4);
  for (let y = 0; y < height; y++) {
    const row = from + (signedHeight > 0 ? height - 1 - y : y) * rowLength; // mostly from the bottom up
    for (let x = 0; x < width; x++) {
      const source = row + x * step;
      const target = (y * width + x) * 4;
      data[target] = bytes[source + 2] ?? 0;
      data[target + 1] = bytes[source + 1] ?? 0;
      data[target + 2] = bytes[source] ?? 0;
      data[target + 3] = 255;
    }
  }
  return { width, height, data };
}
