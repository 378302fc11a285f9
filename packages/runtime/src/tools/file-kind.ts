/** The media type of an image models can look at, told by its first bytes and never by its name. */
export function imageType(bytes: Uint8Array): string | undefined {
  if (startsWith(bytes, "89504e470d0a1a0a")) return "image/png";
  if (startsWith(bytes, "ffd8ff")) return "image/jpeg";
  if (startsWith(bytes, "474946383761") || startsWith(bytes, "474946383961")) return "image/gif";
  if (startsWith(bytes, "52494646") && startsWith(bytes.subarray(8), "57454250")) return "image/webp";
  return undefined;
}

/** What a binary file is, in words, if its first bytes say so. */
export function binaryKind(bytes: Uint8Array): string | undefined {
  const known = signatures.find(([signature, , offset]) => startsWith(bytes.subarray(offset ?? 0), signature));
  return known?.[1];
}

const signatures: readonly (readonly [signature: string, kind: string, offset?: number])[] = [
  ["255044462d", "a PDF document"],
  ["504b0304", "a ZIP archive (or an Office document, JAR or similar)"],
  ["504b0506", "an empty ZIP archive"],
  ["1f8b08", "a gzip archive"],
  ["425a68", "a bzip2 archive"],
  ["fd377a585a00", "an xz archive"],
  ["28b52ffd", "a Zstandard archive"],
  ["377abcaf271c", "a 7z archive"],
  ["526172211a07", "a RAR archive"],
  ["7573746172", "a tar archive", 257],
  ["7f454c46", "an ELF program or library"],
  ["cffaedfe", "a Mach-O program or library"],
  ["cafebabe", "a Java class or a Mach-O universal file"],
  ["0061736d", "a WebAssembly module"],
  ["53514c69746520666f726d6174203300", "an SQLite database"],
  ["49492a00", "a TIFF image"],
  ["4d4d002a", "a TIFF image"],
  ["00000100", "an icon"],
  ["66747970", "an MP4 or HEIF file", 4],
  ["4f676753", "an Ogg file"],
  ["494433", "an MP3 file"],
  ["1a45dfa3", "a Matroska or WebM file"],
  ["774f4646", "a WOFF font"],
  ["774f4632", "a WOFF2 font"],
];

function startsWith(bytes: Uint8Array, hex: string): boolean {
  return Buffer.from(bytes.subarray(0, hex.length / 2)).toString("hex") === hex;
}
