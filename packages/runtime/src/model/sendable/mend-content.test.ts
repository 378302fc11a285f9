import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { crc32, deflateSync } from "node:zlib";
import { images, png } from "../../../../../test/border/images.ts";
import { isJsonObject } from "../../protocol/content.ts";
import { inspectImage } from "./inspect-image.ts";
import { mendContent } from "./mend-content.ts";
import { decodePng, encodePng } from "./png.ts";
import { toSendableContent } from "./sendable-content.ts";

const image = (mediaType: string, data: string): { type: "image"; mediaType: string; data: string } => ({
  type: "image",
  mediaType,
  data,
});

function sizeOf(part: object | undefined): string {
  if (!isJsonObject(part) || typeof part["data"] !== "string") return JSON.stringify(part);
  const facts = inspectImage(Buffer.from(part["data"], "base64"));
  return facts.type === "image" ? `${facts.mediaType} ${facts.width}×${facts.height}` : facts.type;
}

/** Two pixels by two without a palette: red and half clear green, then black and white. */
const colours = [255, 0, 0, 255, 0, 255, 0, 128, 0, 0, 0, 255, 255, 255, 255, 255];

/** A PNG by hand: each row with its filter before it. */
function pngOf(
  header: { width: number; height: number; depth: number; colour: number },
  rows: number[],
  extra: [string, number[]][] = [],
): Buffer {
  const piece = (type: string, data: Uint8Array): Buffer => {
    const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
    const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
    length.writeUInt32BE(data.length);
    sum.writeUInt32BE(crc32(body));
    return Buffer.concat([length, body, sum]);
  };
  const ihdr = Buffer.alloc(13);
  ihdr.writeUInt32BE(header.width, 0);
  ihdr.writeUInt32BE(header.height, 4);
  ihdr.set([header.depth, header.colour, 0, 0, 0], 8);
  const pieces = extra.map(([type, data]) => piece(type, Uint8Array.from(data)));
  return Buffer.concat([
    Buffer.from("\x89PNG\r\n\x1a\n", "latin1"),
    piece("IHDR", ihdr),
    ...pieces,
    piece("IDAT", deflateSync(Buffer.from(rows))),
    piece("IEND", Buffer.alloc(0)),
  ]);
}

describe("pixels of a PNG", () => {
  const rows: [what: string, bytes: Buffer, pixels: number[]][] = [
    [
      "with opacity",
      pngOf({ width: 2, height: 2, depth: 8, colour: 6 }, [0, ...colours.slice(0, 8), 0, ...colours.slice(8)]),
      colours,
    ],
    [
      "told by their neighbours",
      pngOf({ width: 2, height: 2, depth: 8, colour: 0 }, [1, 10, 5, 2, 1, 1]),
      [10, 15, 11, 16].flatMap((grey) => [grey, grey, grey, 255]),
    ],
    [
      "told by the mean and the nearest",
      pngOf({ width: 2, height: 3, depth: 8, colour: 0 }, [0, 10, 20, 3, 5, 5, 4, 1, 1]),
      [10, 20, 10, 20, 11, 21].flatMap((grey) => [grey, grey, grey, 255]),
    ],
    [
      "of a palette of one bit",
      pngOf(
        { width: 2, height: 1, depth: 1, colour: 3 },
        [0, 0b01000000],
        [
          ["PLTE", [1, 2, 3, 4, 5, 6]],
          ["tRNS", [7]],
        ],
      ),
      [1, 2, 3, 7, 4, 5, 6, 255],
    ],
    ["grey in four bits", pngOf({ width: 2, height: 1, depth: 4, colour: 0 }, [0, 0x0f]), [0, 0, 0, 255, 255, 255, 255, 255]],
    ["grey with opacity", pngOf({ width: 1, height: 1, depth: 8, colour: 4 }, [0, 9, 8]), [9, 9, 9, 8]],
    ["of sixteen bits", pngOf({ width: 1, height: 1, depth: 16, colour: 2 }, [0, 1, 99, 2, 99, 3, 99]), [1, 2, 3, 255]],
  ];
  for (const [what, bytes, pixels] of rows) {
    it(`are read ${what}`, () => assert.deepEqual([...(decodePng(bytes)?.data ?? [])], pixels));
  }

  it("are the same after they were written", () => {
    const data = Uint8Array.from(colours);
    assert.deepEqual(decodePng(encodePng({ width: 2, height: 2, data })), { width: 2, height: 2, data });
  });
});

describe("what enters a conversation", () => {
  it("is the same list when it is plain", async () => {
    const content = [{ type: "text" as const, text: "grüße 👋" }];
    assert.equal(await toSendableContent(content), content);
  });

  it("has whole characters", async () => {
    assert.deepEqual(await toSendableContent([{ type: "text", text: "\ud83d!" }]), [{ type: "text", text: "\ufffd!" }]);
  });

  it("has images that were too large made smaller, and says so", () => {
    const [wide, note] = mendContent([image("image/png", png(9_000, 90))]);
    assert.equal(sizeOf(wide), "image/png 2000×20");
    assert.deepEqual(note, {
      type: "text",
      text: "(The image was scaled from 9000×90 to 2000×20 pixels, since providers refuse it as it was.)",
    });
    const heavy = mendContent([image("image/png", png(2_400, 1_200, { noise: true }))]);
    assert.match(sizeOf(heavy[0]), /^image\/png \d{3,4}×\d{3}$/);
    assert.equal(heavy.length, 2);
  });

  it("has bitmaps made into PNG", () => {
    const bmp = Buffer.alloc(54 + 16);
    bmp.write("BM", 0, "latin1");
    bmp.writeUInt32LE(54, 10);
    bmp.writeUInt32LE(40, 14);
    bmp.writeInt32LE(2, 18);
    bmp.writeInt32LE(2, 22);
    bmp.writeUInt16LE(1, 26);
    bmp.writeUInt16LE(24, 28);
    bmp.set([3, 2, 1], 54 + 8); // the upper left pixel, blue first
    const [made] = mendContent([image("image/bmp", bmp.toString("base64"))]);
    assert.equal(sizeOf(made), "image/png 2×2");
    const data = made?.type === "image" ? decodePng(Buffer.from(made.data, "base64"))?.data : undefined;
    assert.deepEqual([...(data?.subarray(0, 4) ?? [])], [1, 2, 3, 255]);
  });

  it("has the source of an SVG beside the words for it", () => {
    const [words, source] = mendContent([image("image/svg+xml", Buffer.from("<svg>\u2713</svg>").toString("base64"))]);
    assert.match(words?.type === "text" ? words.text : "", /in truth SVG/);
    assert.deepEqual(source, { type: "text", text: "Its source:\n<svg>✓</svg>" });
  });

  it("has words for what cannot be made smaller", () => {
    const bytes = Buffer.from(images.jpeg, "base64");
    const large = Buffer.concat([bytes.subarray(0, -2), Buffer.alloc(5_000_000), bytes.subarray(-2)]);
    const [words] = mendContent([image("image/jpeg", large.toString("base64"))]);
    assert.match(words?.type === "text" ? words.text : "", /image\/jpeg, 1×1 pixels, 4\.8 MB.*more than 5 MB/);
  });

  it("has no more blocks than a hundred", () => {
    const many = mendContent(Array.from({ length: 5_000 }, (_, index) => ({ type: "text" as const, text: String(index) })));
    assert.equal(many.length, 1);
    const pictures = mendContent(Array.from({ length: 150 }, () => image("image/png", images.png)));
    assert.equal(pictures.length, 100);
    assert.deepEqual(pictures.at(-1), { type: "text", text: "(51 more images and texts are left out.)" });
  });
});
