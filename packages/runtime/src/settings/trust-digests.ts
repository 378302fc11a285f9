import { type Bounds, type ProjectFile, readProjectFile } from "./trust-files.ts";
import type { TrustRecord } from "./trust-store.ts";
import { messageOf } from "../util/message-of.ts";

type Pairs = TrustRecord["files"];
type Found = { readonly files: readonly ProjectFile[]; readonly problem: string | undefined };
type Digests = { readonly fingerprint: string; readonly files: Pairs; readonly problem: string | undefined };

/** What was there, in a form that can be kept and compared. */
export function takeDigests(found: Found, bounds: Bounds): Digests {
  const nothing = { fingerprint: "", files: [] };
  if (found.problem !== undefined) return { ...nothing, problem: found.problem };
  try {
    let left = bounds.bytes;
    const files = found.files.map((file): [string, string] => {
      const [digest, size] = digestOf(file, left);
      left -= size;
      return [file.name, digest];
    });
    files.sort(byName);
    return { fingerprint: sha256(files.flat()), files, problem: undefined };
  } catch (error) {
    return { ...nothing, problem: messageOf(error) };
  }
}

function digestOf({ path, link, content }: ProjectFile, maxBytes: number): [digest: string, size: number] {
  if (!content) return [sha256(["link", link ?? ""]), 0];
  const { bytes, executable } = readProjectFile(path, maxBytes);
  return [sha256([link === undefined ? "file" : "link", link ?? "", executable ? "executable" : "", bytes]), bytes.length];
}

/** Each part with its length: no two lists of parts are one text. */
function sha256(parts: readonly (string | Buffer)[]): string {
  const hash = process.getBuiltinModule("node:crypto").createHash("sha256");
  for (const part of parts) hash.update(`${Buffer.byteLength(part)}:`).update(part);
  return hash.digest("hex");
}

function byName([first]: readonly [string, string], [second]: readonly [string, string]): number {
  if (first === second) return 0;
  return first < second ? -1 : 1;
}

/** Names that were added, removed or changed. */
export function differences(before: Pairs, after: Pairs): string[] {
  const old = new Map(before);
  const now = new Map(after);
  return [...new Set([...old.keys(), ...now.keys()])].filter((name) => old.get(name) !== now.get(name)).sort();
}
