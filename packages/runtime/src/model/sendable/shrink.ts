import type { Pixels } from "./pixels.ts";

/** The picture with no side longer than `side`; each of its pixels is the mean of those it stands for. Itself where it is small enough. */
export function shrink(pixels: Pixels, side: number): Pixels {
  const factor = Math.max(pixels.width, pixels.height) / side;
  if (factor <= 1) return pixels;
  const width = Math.max(1, Math.round(pixels.width / factor));
  const height = Math.max(1, Math.round(pixels.height / factor));
  const data = new Uint8Array(width * height * 4);
  for (let y = 0; y < height; y++) {
    const [top, bottom] = span(y, height, pixels.height);
    for (let x = 0; x < width; x++) {
      const [left, right] = span(x, width, pixels.width);
      average(pixels, { left, right, top, bottom }, data, (y * width + x) * 4);
    }
  }
  return { width, height, data };
}

function span(index: number, count: number, length: number): [from: number, to: number] {
  const from = Math.floor((index * length) / count);
  return [from, Math.max(from + 1, Math.floor(((index + 1) * length) / count))];
}

type Box = { readonly left: number; readonly right: number; readonly top: number; readonly bottom: number };

function average({ width, data }: Pixels, { left, right, top, bottom }: Box, target: Uint8Array, at: number): void {
  let [red, green, blue, opacity] = [0, 0, 0, 0];
  for (let y = top; y < bottom; y++) {
    for (let from = (y * width + left) * 4; from < (y * width + right) * 4; from += 4) {
      red += data[from] ?? 0;
      green += data[from + 1] ?? 0;
      blue += data[from + 2] ?? 0;
      opacity += data[from + 3] ?? 0;
    }
  }
  const count = (right - left) * (bottom - top);
  target[at] = red / count;
  target[at + 1] = green / count;
  target[at + 2] = blue / count;
  target[at + 3] = opacity / count;
}
