import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { modeFilter, sharesGroups } from "./mode-filter.ts";

const answers = new Map<number, string>([
  [0x7fff0000, "yes"],
  [0x00050001, "no"],
  [0x00050026, "unknown"],
]);
const [x64, x32, arm64, arm32] = [0xc000003e, 0x40000003, 0xc00000b7, 0x40000028];
const [create, temporary] = [0o101, 0o20200001];

/** What the kernel would do with the filter, for one system call. */
function ask(filter: Buffer, arch: number, [number, ...args]: readonly number[]): string {
  const facts = Buffer.alloc(64);
  facts.writeUInt32LE(number ?? 0, 0);
  facts.writeUInt32LE(arch, 4);
  for (const [index, value] of args.entries()) facts.writeUInt32LE(value >>> 0, 16 + 8 * index);
  let loaded = 0;
  for (let at = 0; at < filter.length; at += 8) {
    const [code, ifNot, value] = [filter.readUInt16LE(at), filter.readUInt8(at + 3), filter.readUInt32LE(at + 4)];
    assert.equal(filter.readUInt8(at + 2), 0);
    if (code === 0x06) return answers.get(value) ?? `${value}`;
    if (code === 0x20) loaded = facts.readUInt32LE(value);
    else if (code === 0x15) at += loaded === value ? 0 : ifNot * 8;
    else if (code === 0x35) at += loaded >= value ? 0 : ifNot * 8;
    else if (code === 0x45) at += (loaded & value) !== 0 ? 0 : ifNot * 8;
    else assert.fail(`unknown instruction ${code}`);
  }
  return assert.fail("no answer");
}

type Case = readonly [arch: number, call: readonly number[], answer: string];

describe("what the kernel asks before a system call in the box", () => {
  const any = 0xdeadbeef; // an address: nothing may depend on it
  /** With `mode`: all ways to give a file one, by processor. */
  const ways = (mode: number): readonly (readonly [number, readonly number[]])[] => [
    ...[85, 90, 133].map((call) => [x64, [call, any, mode]] as const),
    ...[
      [91, 3, mode],
      [259, 3, any, mode],
      [268, 3, any, mode],
      [452, 3, any, mode],
    ].map((call) => [x64, call] as const),
    ...[create, temporary].flatMap((flags) => [
      [x64, [2, any, flags, mode]] as const,
      [x64, [257, 3, any, flags, mode]] as const,
    ]),
    ...[8, 15, 94, 14].flatMap((call) => [[x32, [call, any, mode]] as const, [arm32, [call, any, mode]] as const]),
    ...[297, 306, 452].map((call) => [x32, [call, 3, any, mode]] as const),
    ...[324, 333, 452].map((call) => [arm32, [call, 3, any, mode]] as const),
    ...[create, temporary].flatMap((flags) => [
      [x32, [5, any, flags, mode]] as const,
      [x32, [295, 3, any, flags, mode]] as const,
      [arm32, [5, any, flags, mode]] as const,
      [arm32, [322, 3, any, flags, mode]] as const,
      [arm64, [56, 3, any, flags, mode]] as const,
    ]),
    ...[33, 53, 452].map((call) => [arm64, [call, 3, any, mode]] as const),
    [arm64, [52, 3, mode]],
  ];
  const others: readonly Case[] = [
    [x64, [0, 3, 0o4755, 0o4755, 0o4755], "yes"],
    [x64, [257, 3, any, 0o100000, 0o4755], "yes"], // reads: the mode is whatever stood there
    [x64, [2, any, 0o2000, 0o6755], "yes"],
    [arm64, [56, 3, any, 0, 0o4755], "yes"],
    ...[x64, x32, arm64, arm32].flatMap((arch): Case[] => [
      [arch, [437], "unknown"],
      [arch, [425], "unknown"],
      [arch, [1], "yes"],
    ]),
    [x64, [0x4000005a, any, 0o4755], "unknown"],
    [x64, [0x3fffffff], "yes"],
    [0x1234, [1], "unknown"],
  ];
  const filters = { x64: [x64, x32], arm64: [arm64, arm32] };
  for (const [processor, archs] of Object.entries(filters)) {
    const usual = modeFilter({ processor, sharesGroups: false }) ?? Buffer.alloc(0);
    const shared = modeFilter({ processor, sharesGroups: true }) ?? Buffer.alloc(0);
    const known = (arch: number): boolean => archs.includes(arch);
    it(`lets no file have the rights of its owner or group: ${processor}`, () => {
      for (const mode of [0o4755, 0o2755, 0o6000, 0o104755, 0o102711])
        for (const [arch, call] of ways(mode).filter(([one]) => known(one)))
          assert.equal(ask(usual, arch, call), "no", `${arch} ${call}`);
    });
    it(`lets folders hand their group on where some do, and files are still made without: ${processor}`, () => {
      const makes = new Set([2, 5, 56, 257, 295, 322]);
      for (const [arch, call] of ways(0o2755).filter(([one]) => known(one)))
        assert.equal(ask(shared, arch, call), makes.has(call[0] ?? 0) ? "no" : "yes", `${arch} ${call}`);
      for (const [arch, call] of ways(0o4755).filter(([one]) => known(one))) assert.equal(ask(shared, arch, call), "no");
    });
    it(`has nothing against other modes and calls: ${processor}`, () => {
      for (const [arch, call] of ways(0o101777).filter(([one]) => known(one))) assert.equal(ask(usual, arch, call), "yes");
      for (const [arch, call, answer] of others)
        assert.equal(ask(usual, arch, call), known(arch) ? answer : "unknown", `${arch} ${call}`);
    });
  }

  it("is not there for a processor that is not known", () =>
    assert.equal(modeFilter({ processor: "mips", sharesGroups: false }), undefined));

  it("knows folders that hand their group on: the project, its .git and the objects in it", () => {
    const root = mkdtempSync(join(tmpdir(), "outrider-filter-"));
    mkdirSync(join(root, ".git/objects"), { recursive: true });
    mkdirSync(join(root, "src"));
    chmodSync(join(root, "src"), 0o2755);
    const seen = [[sharesGroups([root]), sharesGroups(["/nowhere", root])]];
    for (const folder of [root, join(root, ".git"), join(root, ".git/objects")]) {
      chmodSync(folder, 0o2755);
      seen.push([sharesGroups([root]), sharesGroups(["/nowhere", root])]);
      chmodSync(folder, 0o755);
    }
    rmSync(root, { recursive: true });
    assert.deepEqual(seen, [[false, false], ...Array(3).fill([true, true])]);
  });
});
