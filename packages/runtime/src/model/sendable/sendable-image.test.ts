import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { images, png } from "../../../../../test/border/images.ts";
import { inspectImage } from "./inspect-image.ts";
import { toSendableImage } from "./sendable-image.ts";

const base64 = (text: string): string => Buffer.from(text, "latin1").toString("base64");
const shown = (mediaType: string, data: string): object => toSendableImage({ type: "image", mediaType, data });
const words = (mediaType: string, data: string): string => {
  const part = toSendableImage({ type: "image", mediaType, data });
  return part.type === "text" ? part.text : `an image, ${part.mediaType}`;
};

describe("an image on its way to a model", () => {
  for (const [name, data] of Object.entries(images)) {
    it(`is shown as it is when it is a whole ${name}`, () => {
      const part = { type: "image", mediaType: `image/${name}`, data } as const;
      assert.equal(toSendableImage(part), part);
    });

    it(`has the type of its bytes, which are a ${name}'s`, () => {
      assert.deepEqual(shown("image/svg+xml", data), { type: "image", mediaType: `image/${name}`, data });
      assert.deepEqual(shown("image/png", `data:image/gif;base64,${data}`), { type: "image", mediaType: `image/${name}`, data });
      const broken = `${data.slice(0, 20)}\n${data.slice(20)}`.replaceAll("+", "-").replaceAll("/", "_");
      assert.deepEqual(shown("IMAGE/JPG", broken), { type: "image", mediaType: `image/${name}`, data });
    });

    it(`is not shown when it is half a ${name}`, () => {
      const bytes = Buffer.from(data, "base64");
      const cut = bytes.subarray(0, Math.floor(bytes.length / 2));
      assert.match(words(`image/${name}`, cut.toString("base64")), /in truth (PNG|GIF|WebP|JPEG), \d+ bytes.*damaged or cut off/);
    });
  }

  it("is not shown when one of its bytes is another", () => {
    const bytes = Buffer.from(images.png, "base64");
    bytes[45] = (bytes[45] ?? 0) ^ 1;
    assert.equal(inspectImage(bytes).type, "broken");
  });

  it("is shown when only what nobody needs of it is missing or damaged", () => {
    const gif = Buffer.from(images.gif, "base64").subarray(0, -1);
    assert.equal(inspectImage(gif).type, "image");
    const [png, text] = [Buffer.from(images.png, "base64"), Buffer.from("\0\0\0\x01tEXt!\0\0\0\0", "latin1")];
    assert.equal(inspectImage(Buffer.concat([png.subarray(0, 33), text, png.subarray(33)])).type, "image");
  });

  const others: [kind: string, mediaType: string, data: string, told: RegExp][] = [
    [
      "SVG",
      "image/svg+xml",
      base64('<svg xmlns="http://www.w3.org/2000/svg"/>'),
      /image\/svg\+xml, in truth SVG, 41 bytes.*PNG, JPEG, GIF and WebP/,
    ],
    ["SVG that says it is a PNG", "image/png", base64('<?xml version="1.0"?><svg/>'), /said to be image\/png, in truth SVG/],
    ["nothing", "image/png", "", /0 bytes.*it is empty/],
    ["TIFF", "image/tiff", base64("II*\0aaaa"), /in truth TIFF/],
    ["HEIC", "image/heic", base64("\0\0\0\x18ftypheicaaaa"), /in truth HEIC/],
    ["AVIF", "image/avif", base64("\0\0\0\x18ftypavifaaaa"), /in truth AVIF/],
    ["a PDF that says it is a PNG", "image/png", base64("%PDF-1.7"), /in truth a PDF document/],
    ["no base64 at all", "image/png", "%%%", /0 bytes/],
    ["random bytes", "image/png", base64("hello there"), /no image that is known/],
    ["too wide", "image/png", png(8_001, 1), /8001×1 pixels.*more than 8000 pixels/],
    ["too large", "image/png", png(1_300, 1_300, { noise: true }), /1300×1300 pixels, 4\.8 MB.*more than 5 MB in base64/],
  ];
  for (const [kind, mediaType, data, told] of others) {
    it(`is told in words when it is ${kind}`, () => assert.match(words(mediaType, data), told));
  }
});
