// Part of the standalone command: ripgrep is inside it, and a program must be a file to be started. `node:crypto` and `node:zlib` take Bun
// some milliseconds to load, and most runs search nothing.
import {
  chmodSync,
  closeSync,
  constants,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";

/** Where ripgrep is, below OUTRIDER_HOME; written there at the first search. Throws where that cannot be: then another search is taken. */
export function unpackRipgrep(inside, hash) {
  const home = process.env.OUTRIDER_HOME || join(process.env.HOME || "/nonexistent", ".outrider");
  const file = join(home, "cache", `rg-${hash.slice(0, 16)}`);
  if (holds(file, hash)) return file;
  const folder = dirname(file);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const temporary = `${file}.${process.pid}.tmp`;
  rmSync(temporary, { force: true });
  const { gunzipSync } = process.getBuiltinModule("node:zlib");
  writeFileSync(temporary, gunzipSync(readFileSync(inside)), { mode: 0o700, flag: "wx" });
  chmodSync(temporary, 0o700);
  renameSync(temporary, file);
  return file;
}

/** Only a file of our own that nobody else can write, with exactly this content: it is going to be run. */
function holds(file, hash) {
  const { createHash } = process.getBuiltinModule("node:crypto");
  try {
    const descriptor = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW);
    try {
      const { uid, mode } = fstatSync(descriptor);
      if (uid !== process.getuid() || (mode & 0o022) !== 0) return false;
      return createHash("sha256").update(readFileSync(descriptor)).digest("hex") === hash;
    } finally {
      closeSync(descriptor);
    }
  } catch {
    return false;
  }
}
