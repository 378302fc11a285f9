import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { makeFolder } from "../../util/make-folder.ts";
import { describeSelf, isOwnerAlive, parseOwner } from "../../journal/lock-owner.ts";
import { RuntimeError } from "../../protocol/errors.ts";
import { isRecord } from "../../util/is-record.ts";
import { replaceFileSync } from "../../util/replace-file.ts";

/** Where a server is, for programs of the same user. */
export type ServerPlace = { readonly url: string; readonly pid: number };

/** Where servers of a user keep their files. */
export function serverFolder(outriderHome: string): string {
  return join(outriderHome, "server");
}

/** The server that runs; undefined when none does. */
export function findServer(folder: string): ServerPlace | undefined {
  try {
    const text = readFileSync(join(folder, "server.json"), "utf8");
    const owner = parseOwner(text);
    const value: unknown = JSON.parse(text);
    if (!owner || isOwnerAlive(owner) === false || !isRecord(value) || typeof value["url"] !== "string") return undefined;
    return { url: value["url"], pid: owner.pid };
  } catch {
    return undefined; // none was ever started, or it is being replaced
  }
}

/** One server for each folder: two would not know of each other's sessions. */
export function refuseSecond(folder: string): void {
  const running = findServer(folder);
  if (running && running.pid !== process.pid)
    throw new RuntimeError("config", `A server runs already: ${running.url} (process ${running.pid})`, {
      hint: "outrider stop ends it; another OUTRIDER_HOME has sessions of its own",
    });
}

/** Tells others where this process listens. Answers how to take it back. */
export function announceServer(folder: string, url: string): () => void {
  makeFolder(folder);
  const path = join(folder, "server.json");
  replaceFileSync(path, `${JSON.stringify({ ...describeSelf("server"), url })}\n`);
  return () => {
    if (findServer(folder)?.pid === process.pid) rmSync(path, { force: true });
  };
}
