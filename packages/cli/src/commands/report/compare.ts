import { existsSync } from "node:fs";
import { join } from "node:path";
import { RuntimeError } from "@outrider/runtime";
import { nearest } from "@outrider/runtime/host";
import { compareRuns } from "@outrider/web";
import * as assets from "@outrider/web/assets/compare";
import { exitCodes } from "../../exit-codes.ts";
import { takeOwnWords } from "../../flags/words.ts";
import { print } from "../../terminal/visible.ts";
import { loadRun } from "./load-run.ts";
import { toPage } from "./page-html.ts";
import { writePage } from "./write-page.ts";

const usage = `Usage:
  outrider compare A B [-o compare.html] [--force]
                       compare two runs: how they ended, what they used, where they differ, what they changed
  outrider compare BATCH BATCH [--json]
                       compare two folders of outrider batch, task by task, and say whether the difference is more than chance

A and B are sessions or files, as outrider report takes them. Without -o the page is written to compare.html here; -o - writes to stdout.

Exit codes: 0 written · 64 wrong usage · 66 no such session or file · 78 tells of no run, or cannot be written
`;

const flags = { switches: ["--help", "-h", "--force", "--json"], values: ["--output", "-o"] };

/** Two runs as a page. */
export async function runCompare(args: readonly string[]): Promise<number> {
  const words = takeOwnWords(args, flags);
  if (words.has("--help") || words.has("-h")) {
    await print(usage);
    return exitCodes.success;
  }
  const flag = words.rest.find((word) => word.startsWith("-"));
  if (flag !== undefined) throw misuse(`compare has no flag ${flag}`, nearest(flag, [...flags.switches, ...flags.values]));
  const [first, second, ...more] = words.rest;
  if (first === undefined || second === undefined || more.length > 0) throw misuse("compare takes two sessions or files");
  if (isBatch(first) && isBatch(second)) return await compareBatches(first, second, words.has("--json"));
  const [a, b] = [(await loadRun(first)).run, (await loadRun(second)).run];
  const html = toPage(`${a.id.slice(0, 8)} and ${b.id.slice(0, 8)} · Outrider`, assets, {
    data: JSON.stringify({ a, b, comparison: compareRuns(a, b) }),
  });
  return await writePage(words.value("--output") ?? words.value("-o") ?? "compare.html", html, {
    isForced: words.has("--force"),
  });
}

function isBatch(word: string): boolean {
  return existsSync(join(word, "queue.jsonl"));
}

async function compareBatches(a: string, b: string, asJson: boolean): Promise<number> {
  const { asOurs, loadFleet } = await import("../batch/load-fleet.ts");
  try {
    const fleet = await loadFleet();
    const comparison = fleet.compareBatches(a, b);
    await print(asJson ? `${JSON.stringify(comparison)}\n` : fleet.comparisonText(comparison));
    return exitCodes.success;
  } catch (error) {
    throw asOurs(error);
  }
}

function misuse(message: string, guess?: string): RuntimeError {
  return new RuntimeError("usage", `${message}${guess === undefined ? "" : `; did you mean ${guess}?`}\n${usage}`);
}
