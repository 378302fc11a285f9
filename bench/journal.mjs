import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { summarize } from "./statistics.mjs";

const root = dirname(import.meta.dirname);
const openSeconds = 5;

export const journalRows = ["append", "open-log"];

/** The session store of the built library, in processes of its own. */
export function measureJournal({ node, quick, isWanted }) {
  const rows = [];
  if (isWanted("append")) rows.push(appendRow(measure(node, "append", quick ? 300 : 3000)));
  if (isWanted("open-log")) rows.push(openRow(measure(node, "open", quick ? 20e6 : 200e6), quick));
  return rows;
}

/** What is ours is what comes on top of the disk's own time: a faster disk must not make us look slower. */
function appendRow({ floor, ours }) {
  const beyond = ours.median - floor.median;
  const what = "append an event, beyond the sync";
  return { name: "append", what, unit: "ms", ours: { ...ours, median: beyond }, target: 1, ok: beyond <= 1 };
}

function openRow({ floor, ours }, quick) {
  const ratio = ours.median / floor.median;
  const ok = ratio <= 2 && ours.median <= openSeconds * 1000;
  return { name: "open-log", what: `open a log of ${quick ? 20 : 200} MB`, unit: "ms", floor, ours, ratio, target: 2, ok };
}

function measure(node, what, size) {
  const folder = mkdtempSync(join(tmpdir(), "outrider-bench-journal-"));
  try {
    const runtime = pathToFileURL(join(root, "packages/runtime/dist/index.js")).href;
    const args = [join(import.meta.dirname, "journal-child.mjs"), what, runtime, folder, String(size)];
    const { floor, ours } = JSON.parse(execFileSync(node, args, { encoding: "utf8", maxBuffer: 1 << 24 }));
    return { floor: summarize(floor), ours: summarize(ours) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
