import { readlinkSync, realpathSync } from "node:fs";
import { basename, dirname, join, parse, resolve as resolvePath } from "node:path";
import { RuntimeError } from "../protocol/errors.ts";
import { codeOf, fileFailure } from "./file-failure.ts";

const maxLinks = 40;

/**
 * Like realpath(3), but the last parts need not exist, and a link that leads to nothing yet is followed as a write would follow it.
 * Synchronous inside, like every look at a single file: it takes microseconds, the way through the thread pool many times that.
 */
export function realPath(path: string): string {
  const real = follow(path, 0);
  if (real !== path) requireSameForAll(path);
  return real;
}

function follow(path: string, links: number): string {
  try {
    return realpathSync.native(path);
  } catch (error) {
    const code = codeOf(error);
    if (code !== "ENOENT" && code !== "ENOTDIR") throw fileFailure(path, { verb: "resolved", error });
    if (links > maxLinks) throw fileFailure(path, { verb: "resolved", error: { code: "ELOOP" } });
  }
  if (path === parse(path).root) return path;
  const target = targetOf(path);
  const parent = follow(dirname(path), links);
  return target === undefined ? join(parent, basename(path)) : follow(resolvePath(parent, target), links + 1);
}

/** Links in the folder of a process: where they lead depends on who follows them, this process or a command it starts. */
const ownLink = /^\/proc\/(?:\d+|self|thread-self)(?:\/task\/\d+)?\/(?:cwd|root|exe|(?:fd|map_files)\/[^/]+)$/;

/** `/proc/self/cwd/x` is one file to us and another to a command in another folder, so no answer about it would hold. */
function requireSameForAll(path: string): void {
  let current = "/";
  const names = path.split("/");
  for (let steps = 0; names.length > 0 && steps < 10_000; steps++) {
    const next = join(current, names.shift() ?? "");
    if (ownLink.test(next))
      throw new RuntimeError(
        "usage",
        `${path} leads through ${next}, which is another place for every process. Name the file itself.`,
      );
    const target = targetOf(next);
    if (target !== undefined) names.unshift(...target.split("/"));
    if (target === undefined) current = next;
    else if (target.startsWith("/")) current = "/";
  }
}

function targetOf(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined; // no link
  }
}
