import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFileStore } from "../packages/runtime/src/journal/file-store.ts";
import type { AgentEvent } from "../packages/runtime/src/protocol/events.ts";
import { createRandom, Tally } from "./report.ts";

/** Cuts a real log at every byte and damages it at random; it opens at its longest valid prefix, and what is appended then is valid. */
export async function damageLogs(options: { log: Buffer; corruptions: number; seed: number }): Promise<Tally[]> {
  const folder = mkdtempSync(join(tmpdir(), "outrider-torture-log-"));
  const path = join(folder, "s1.jsonl");
  const store = createFileStore(folder, { sync: "never" });
  writeFileSync(path, options.log);
  const events = await store.read("s1");
  const lineEnds = endsOf(options.log);
  const begins = [...events.keys(), events.length].map((length) => JSON.stringify(events.slice(0, length)));
  const cuts = new Tally("log cut at every byte");
  const damages = new Tally("log damaged at random");
  if (events.length !== lineEnds.length)
    cuts.violate(`the whole log has ${lineEnds.length} lines but opens with ${events.length} events`);

  const expectPrefix = async (bytes: Buffer, whole: number, { tally, label }: { tally: Tally; label: string }): Promise<void> => {
    writeFileSync(path, bytes);
    tally.count("logs");
    try {
      const found = await store.read("s1");
      if (found.length < whole) tally.violate(`${label}: ${found.length} events of ${whole}`);
      if (JSON.stringify(found) !== begins[found.length]) tally.violate(`${label}: events that were never stored`);
      if (tally.counts["logs"] && tally.counts["logs"] % 20 === 0) await appendAfter(found, { tally, label });
    } catch (error) {
      tally.violate(`${label} throws ${error instanceof Error ? error.stack : error}`);
    }
  };
  const appendAfter = async (found: readonly AgentEvent[], { tally, label }: { tally: Tally; label: string }): Promise<void> => {
    const writer = await store.open("s1");
    const next: AgentEvent = {
      type: "warning.raised",
      seq: (found.at(-1)?.seq ?? 0) + 1,
      at: "",
      sessionId: "s1",
      message: "next",
    };
    await writer.append([next]);
    await writer.close();
    const again = await store.open("s1");
    await again.close();
    if (JSON.stringify([...again.events]) !== JSON.stringify([...found, next]))
      tally.violate(`${label}: not whole after an append`);
    tally.count("appended to");
  };

  try {
    for (let cut = 0; cut <= options.log.length; cut++) {
      const whole = lineEnds.filter((end) => end - 1 <= cut).length;
      await expectPrefix(options.log.subarray(0, cut), whole, { tally: cuts, label: `cut at ${cut}` });
    }
    const random = createRandom(options.seed);
    for (let round = 0; round < options.corruptions; round++) {
      let bytes: Buffer = options.log;
      for (let changes = 1 + random(3); changes > 0; changes--) bytes = change(bytes, random);
      const same = firstDifference(options.log, bytes);
      const whole = lineEnds.filter((end) => end <= same).length;
      await expectPrefix(bytes, whole, { tally: damages, label: `round ${round}` });
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return [cuts, damages];
}

function change(bytes: Buffer, random: (below: number) => number): Buffer {
  const at = random(bytes.length + 1);
  switch (random(7)) {
    case 0:
      return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1 + random(200))]);
    case 1:
      return Buffer.concat([
        bytes.subarray(0, at),
        Buffer.from(Array.from({ length: 1 + random(50) }, () => random(256))),
        bytes.subarray(at),
      ]);
    case 2:
      return Buffer.concat([bytes.subarray(0, at), Buffer.alloc(1 + random(5000)), bytes.subarray(at + random(5000))]); // a hole of zeros
    case 3:
      return swapLines(bytes, random);
    case 4: {
      const end = at + random(2000);
      return Buffer.concat([bytes.subarray(0, end), bytes.subarray(at, end), bytes.subarray(end)]); // a piece twice
    }
    default: {
      const copy = Buffer.from(bytes);
      if (at < copy.length) copy[at] = (copy[at] ?? 0) ^ (1 << random(8));
      return copy;
    }
  }
}

function swapLines(bytes: Buffer, random: (below: number) => number): Buffer {
  const ends = endsOf(bytes);
  const lines = ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
  const [one, other] = [random(lines.length), random(lines.length)];
  [lines[one], lines[other]] = [lines[other] ?? Buffer.alloc(0), lines[one] ?? Buffer.alloc(0)];
  return Buffer.concat([...lines, bytes.subarray(ends.at(-1) ?? 0)]);
}

function endsOf(bytes: Buffer): number[] {
  const ends: number[] = [];
  for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, at + 1)) ends.push(at + 1);
  return ends;
}

function firstDifference(one: Buffer, other: Buffer): number {
  const length = Math.min(one.length, other.length);
  for (let at = 0; at < length; at++) if (one[at] !== other[at]) return at;
  return length;
}

/** The log of a real session, for `damageLogs`. */
export function readLog(path: string): Buffer {
  return readFileSync(path);
}
