import { readFileSync } from "node:fs";
import { join } from "node:path";
import { lookAt } from "./host-files.ts";

/** The bits that make a file run with the rights of its owner, and of its group. */
const setUser = 0o4000;
const setGroup = 0o2000;
/** Of `open`: only with one of these does it look at the mode. */
const makesFile = 0o100 | 0o20000000;

/** System calls of one kind of processor: where in their arguments the mode is, and for those that open a file the flags. */
type Calls = {
  readonly arch: number;
  readonly modeAt: Readonly<Record<number, number>>;
  readonly opensAt: Readonly<Record<number, readonly [flags: number, mode: number]>>;
  /** Programs for a second set of numbers are told by this bit. */
  readonly otherBit?: number;
};

/** The same on every processor: their modes stand where no filter can look, and programs do without them. */
const openHow = 437;
const ringSetup = 425;
const chmodBySecond = 452;

const x64: Calls = {
  arch: 0xc000003e,
  modeAt: { 85: 1, 90: 1, 91: 1, 133: 1, 259: 2, 268: 2, [chmodBySecond]: 2 },
  opensAt: { 2: [1, 2], 257: [2, 3] },
  otherBit: 0x40000000,
};
const x32: Calls = {
  arch: 0x40000003,
  modeAt: { 8: 1, 15: 1, 94: 1, 14: 1, 297: 2, 306: 2, [chmodBySecond]: 2 },
  opensAt: { 5: [1, 2], 295: [2, 3] },
};
const arm64: Calls = { arch: 0xc00000b7, modeAt: { 33: 2, 52: 1, 53: 2, [chmodBySecond]: 2 }, opensAt: { 56: [2, 3] } };
const arm32: Calls = {
  arch: 0x40000028,
  modeAt: { 8: 1, 15: 1, 94: 1, 14: 1, 324: 2, 333: 2, [chmodBySecond]: 2 },
  opensAt: { 5: [1, 2], 322: [2, 3] },
};
const processors: Readonly<Partial<Record<string, readonly Calls[]>>> = { x64: [x64, x32], arm64: [arm64, arm32] };

export type ModeFilter = {
  /** As `process.arch` has it. */
  readonly processor: string;
  /** Folders here hand their group on: git and others set the bit again and again. */
  readonly sharesGroups: boolean;
};

/**
 * What the kernel asks before each system call of a program in the box: nothing makes a file there that runs with the rights of its owner
 * or group, for whoever starts it outside. Undefined for a processor whose numbers we do not know.
 */
export function modeFilter({ processor, sharesGroups }: ModeFilter): Buffer | undefined {
  const known = processors[processor];
  if (known === undefined) return undefined;
  const blocks = known.map((calls) => ({ arch: calls.arch, code: blockOf(calls, sharesGroups ? setUser : setUser | setGroup) }));
  const code = [
    load(4),
    ...blocks.flatMap(({ arch, code: block }) => [unlessEqual(arch, block.length), ...block]),
    answer.unknown, // numbers of another processor
  ];
  return Buffer.concat(code);
}

/** Can this kernel filter system calls? */
export function filtersCalls(): boolean {
  try {
    return readFileSync("/proc/sys/kernel/seccomp/actions_avail", "utf8").includes("errno");
  } catch {
    return false;
  }
}

export function sharesGroups(roots: readonly string[]): boolean {
  const places = roots.flatMap((root) => [root, join(root, ".git"), join(root, ".git/objects")]);
  return places.some((path) => ((lookAt(path)?.mode ?? 0) & setGroup) !== 0);
}

function blockOf({ modeAt, opensAt, otherBit }: Calls, chmodBits: number): Buffer[] {
  const noted = (number: string, body: readonly Buffer[]): Buffer[] => [unlessEqual(Number(number), body.length), ...body];
  return [
    load(0),
    ...(otherBit === undefined ? [] : [unlessAtLeast(otherBit, 1), answer.unknown]),
    ...[openHow, ringSetup].flatMap((number) => noted(String(number), [answer.unknown])),
    ...Object.entries(modeAt).flatMap(([number, at]) => noted(number, refuseWith(chmodBits, at))),
    ...Object.entries(opensAt).flatMap(([number, [flags, mode]]) =>
      noted(number, [load(argument(flags)), unlessSet(makesFile, 3 + 1), ...refuseWith(setUser | setGroup, mode), answer.yes]),
    ),
    answer.yes,
  ];
}

function refuseWith(bits: number, at: number): Buffer[] {
  return [load(argument(at)), unlessSet(bits, 1), answer.no, answer.yes];
}

/** Where the lower half of an argument stands in what the filter is given. */
function argument(at: number): number {
  return 16 + 8 * at;
}

const load = (offset: number): Buffer => instruction(0x20, 0, offset);
/** These skip the next `count` where it is not so. */
const unlessEqual = (value: number, count: number): Buffer => instruction(0x15, count, value);
const unlessAtLeast = (value: number, count: number): Buffer => instruction(0x35, count, value);
const unlessSet = (bits: number, count: number): Buffer => instruction(0x45, count, bits);

function instruction(code: number, ifNot: number, value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt16LE(code, 0);
  bytes.writeUInt8(ifNot, 3);
  bytes.writeUInt32LE(value >>> 0, 4);
  return bytes;
}

const answer = {
  yes: instruction(0x06, 0, 0x7fff0000),
  /** EPERM */
  no: instruction(0x06, 0, 0x00050001),
  /** ENOSYS */
  unknown: instruction(0x06, 0, 0x00050026),
} as const;
