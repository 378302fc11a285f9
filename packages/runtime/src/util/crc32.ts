type Crc32 = (bytes: string | Uint8Array, previous: number) => number;

let compute: Crc32 | undefined;

/** As in zip files and PNG. `previous` is the checksum of what stands before. */
export function crc32(bytes: string | Uint8Array, previous: number = 0): number {
  compute ??= find();
  return compute(bytes, previous);
}

/** Bun has one without its `node:zlib`, which takes a thirtieth of a short run to load. */
function find(): Crc32 {
  const { Bun: bun } = globalThis as { readonly Bun?: { readonly hash: { readonly crc32: Crc32 } } }; // only there is it defined
  return bun?.hash.crc32 ?? process.getBuiltinModule("node:zlib").crc32;
}
