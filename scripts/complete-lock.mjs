// Completes package-lock.json after a dependency change: where a registry shows only some platforms' binaries, npm writes a lock
// that lacks the others, and `npm ci` then refuses it. Optional platform packages that are missing get an entry without a hash.
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const path = join(dirname(fileURLToPath(import.meta.url)), "../package-lock.json");
const lock = JSON.parse(readFileSync(path, "utf8"));
const platform =
  /-(android|darwin|linux|win32|freebsd|openbsd|openharmony|netbsd|sunos|aix)-([a-z0-9]+?)(?:-(gnu\w*|musl\w*|msvc|eabi))?$/;
let added = 0;
for (const [place, entry] of Object.entries({ ...lock.packages })) {
  for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
    const at = `node_modules/${name}`;
    if (lock.packages[at] || !place.startsWith("node_modules/")) continue;
    const [, os, cpu, abi] = platform.exec(name) ?? [];
    const isWeb = name.endsWith("-wasm32-wasi");
    if (!os && !isWeb) throw new Error(`${name} names no platform: add it to the lock by hand`);
    const libc = abi?.startsWith("musl") ? "musl" : abi?.startsWith("gnu") ? "glibc" : undefined;
    lock.packages[at] = {
      version,
      cpu: [isWeb ? "wasm32" : cpu],
      ...(entry.dev && { dev: true }),
      ...(libc && os === "linux" && { libc: [libc] }),
      optional: true,
      ...(os && { os: [os] }),
    };
    added++;
  }
}
lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1)));
writeFileSync(path, `${JSON.stringify(lock, null, 2)}\n`);
console.log(`package-lock.json: ${added} platform packages added`);
