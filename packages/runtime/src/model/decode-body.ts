import { pipeline, Readable, type Transform } from "node:stream";
import { constants, createBrotliDecompress, createInflate, createUnzip } from "node:zlib";
import { RuntimeError } from "../protocol/errors.ts";

/** What has come is passed on at once, and not when a block of the compressed data is full. */
const decoders: Readonly<Record<string, () => Transform>> = {
  gzip: () => createUnzip({ flush: constants.Z_SYNC_FLUSH }),
  deflate: () => createInflate({ flush: constants.Z_SYNC_FLUSH }),
  br: () => createBrotliDecompress({ flush: constants.BROTLI_OPERATION_FLUSH }),
};

/** A body as it was before its `content-encoding`, a list with the last one applied at its end. */
export function decodeBody(body: AsyncIterable<Uint8Array>, encodings: string): AsyncIterable<Uint8Array> {
  const names = encodings
    .toLowerCase()
    .split(",")
    .map((name) => name.trim().replace(/^x-/, ""));
  return names.filter((name) => name !== "" && name !== "identity").reduceRight(decodeOne, body);
}

async function* decodeOne(body: AsyncIterable<Uint8Array>, encoding: string): AsyncGenerator<Uint8Array> {
  const decoder = decoders[encoding]?.();
  if (!decoder) {
    for await (const _ of body) break; // lets go of the connection
    throw new RuntimeError("provider-protocol", `The answer is encoded with ${encoding}, which nobody asked for`, {
      hint: "A proxy or gateway in between compresses answers: let it send them as they are, or with gzip or br",
    });
  }
  // Failures on either side reach the reader of the decoder; when it stops reading, both sides are let go.
  pipeline(Readable.from(body, { objectMode: false }), decoder, () => {});
  try {
    for await (const chunk of decoder) yield chunk;
  } catch (error) {
    if (!isDecoderError(error)) throw error;
    throw new RuntimeError("provider-unavailable", `The answer broke off in its ${encoding} encoding`, {
      retryable: true,
      cause: error,
    });
  }
}

function isDecoderError(error: unknown): boolean {
  return error instanceof Error && "code" in error && /^(?:Z_|ERR_|BROTLI)/i.test(String(error.code));
}
