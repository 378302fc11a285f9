import { closeSync, constants, fstatSync, lstatSync, openSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { RuntimeError } from "../protocol/errors.ts";
import { codeOf } from "./file-failure.ts";

// Flags Node has no names for: O_PATH of Linux, O_NOFOLLOW_ANY of macOS.
const onlyThePlace = 0o10000000;
const noLinkAnywhere = 0x20000000;

const isLinux = process.platform === "linux";

/** For `open`: fails on a link in the last place, on macOS in any place. `requireItself` sees to the rest. */
export const noFollow: number = process.platform === "darwin" ? noLinkAnywhere : constants.O_NOFOLLOW;

/**
 * Throws unless what was opened is what stands at this real path. Linux is asked for the name of what was opened, which no swap
 * can falsify; elsewhere the path is looked at again, so that only links swapped there and back in microseconds go unseen.
 */
export function requireItself(fd: number, path: string): void {
  const name = nameOf(fd);
  // A file that another one took the place of while we held it was the right one.
  const isItself = name === undefined ? standsAt(fd, path) : name === path || name === `${path} (deleted)`;
  if (!isItself) throw leadsElsewhere(path);
}

/** Throws when the path is or goes through a link. A look only: what is opened afterwards is checked again. */
export function requireNoLink(path: string): void {
  if (!isReal(path)) throw leadsElsewhere(path);
}

export function leadsElsewhere(path: string): RuntimeError {
  return new RuntimeError("usage", `${path} has become a link or lies behind one: links are not followed here.`);
}

export type HeldDirectory = {
  /** A path to it that leads to the same directory whatever is renamed meanwhile; where the system has none, its own path. */
  readonly place: string;
  /** Throws when it is no longer at its path. */
  check(): void;
  close(): void;
};

/** The directory at this real path, held so that files in it can be reached without going through the path again. */
export function holdDirectory(path: string): HeldDirectory {
  const fd = openDirectory(path);
  const check = (): void => requireItself(fd, path);
  try {
    check();
  } catch (error) {
    closeSync(fd);
    throw error;
  }
  return { place: nameOf(fd) === undefined ? path : linkTo(fd), check, close: () => closeSync(fd) };
}

function openDirectory(path: string): number {
  try {
    return openSync(path, constants.O_DIRECTORY | noFollow | (isLinux ? onlyThePlace : constants.O_RDONLY));
  } catch (error) {
    const mayBeLink = ["ELOOP", "ENOTDIR"].includes(codeOf(error));
    if (mayBeLink && lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) throw leadsElsewhere(path);
    throw error;
  }
}

/** Undefined where the system does not tell. */
function nameOf(fd: number): string | undefined {
  if (!isLinux) return undefined;
  try {
    return readlinkSync(linkTo(fd));
  } catch {
    return undefined; // no /proc here
  }
}

function linkTo(fd: number): string {
  return `/proc/self/fd/${fd}`;
}

function standsAt(fd: number, path: string): boolean {
  if (!isReal(path)) return false;
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  const opened = fstatSync(fd, { bigint: true }); // after `found`: whether it was replaced by that time shows here
  const wasReplaced = opened.nlink === 0n;
  return (wasReplaced || (found?.ino === opened.ino && found.dev === opened.dev)) && isReal(path);
}

/** Some file systems keep names in another Unicode form than they were given in. */
function isReal(path: string): boolean {
  return realpathSync.native(path).normalize() === path.normalize();
}
