import { crc32, deflateSync } from "node:zlib";

/** A PNG of one colour, or of noise that does not get smaller. Base64. */
export function png(width: number, height: number, { noise = false }: { noise?: boolean } = {}): string {
  const rows = Buffer.alloc(height * (width * 3 + 1));
  if (noise) {
    let state = 1;
    for (let at = 0; at < rows.length; at++) {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
      rows[at] = at % (width * 3 + 1) === 0 ? 0 : state >>> 16;
    }
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 2, 0, 0, 0], 8);
  const pieces = [piece("IHDR", header), piece("IDAT", deflateSync(rows, { level: 1 })), piece("IEND", Buffer.alloc(0))];
  return Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), ...pieces]).toString("base64");
}

function piece(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const framed = Buffer.alloc(body.length + 8);
  framed.writeUInt32BE(data.length, 0);
  framed.set(body, 4);
  framed.writeUInt32BE(crc32(body), body.length + 4);
  return framed;
}

/** One of each kind that models look at, made by other programs. Base64. */
export const images = {
  png: "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  gif: "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7",
  webp: "UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA",
  jpeg: "/9j/4AAQSkZJRgABAQEASABIAAD/2wBDAP//////////////////////////////////////////////////////////////////////////////////////wAALCAABAAEBAREA/8QAFAABAAAAAAAAAAAAAAAAAAAAA//EABQQAQAAAAAAAAAAAAAAAAAAAAD/2gAIAQEAAD8AN//Z",
} as const;
