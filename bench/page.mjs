import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { summarize } from "./statistics.mjs";

const command = join(dirname(import.meta.dirname), "packages/cli/bin/outrider.js");
const browserPath = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find((path) => existsSync(path));

export const pageRows = ["report-page", "report-memory"];

/** A report of 10,000 steps against one of a single step, from the start of the navigation until a key is answered. */
export async function measurePage({ node, quick, isWanted }) {
  const what =
    "open a report of 10000 steps until a key is answered, against one of a single step and the time to parse its data";
  const memory = "memory of its script, above that of a single step";
  if (!browserPath)
    return pageRows.filter(isWanted).map((name) => ({ name, what, unit: "ms", target: 1.5, skipped: "needs Chromium" }));
  const folder = mkdtempSync(join(tmpdir(), "outrider-page-"));
  const { chromium } = await import("playwright-core");
  const browser = await chromium.launch({
    executablePath: browserPath,
    args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--enable-precise-memory-info"],
  });
  try {
    const [small, large] = [1, 10_000].map((steps) => writeReport(node, folder, steps));
    const floors = [];
    const times = [];
    const heaps = [];
    await look(browser, small); // the first page of a browser is slower
    for (let round = 0; round < (quick ? 3 : 9); round++) {
      const [empty, whole] = [await look(browser, small), await look(browser, large)];
      floors.push(empty.readyMs + whole.parseMs);
      times.push(whole.readyMs);
      heaps.push((whole.heapBytes - empty.heapBytes) / 1e6);
    }
    const [floor, ours] = [summarize(floors), summarize(times)];
    const ratio = ours.median / floor.median;
    const heap = summarize(heaps);
    return [
      { name: "report-page", what, unit: "ms", floor, ours, ratio, target: 1.5, ok: ratio <= 1.5 },
      { name: "report-memory", what: memory, unit: "MB", ours: heap, target: 60, ok: heap.median <= 60 },
    ].filter(({ name }) => isWanted(name));
  } finally {
    await browser.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** With calls, edits and words as a long run has them. */
function writeReport(node, folder, steps) {
  const [input, output] = [join(folder, `${steps}.jsonl`), join(folder, `${steps}.html`)];
  const lines = Array.from({ length: steps }, (_, at) =>
    JSON.stringify({
      type: "assistant",
      timestamp: new Date(1_767_323_045_000 + at * 1000).toISOString(),
      message: {
        id: `m${at}`,
        model: "m",
        usage: { input_tokens: 1000 + at, output_tokens: 50 },
        content: [
          { type: "text", text: `Step ${at + 1} **says** a little more than nothing, in \`Markdown\`.` },
          { type: "tool_use", id: `t${at}`, name: "Bash", input: { command: `grep -rn word-${at} src | head -20` } },
        ],
      },
    }),
  );
  writeFileSync(input, [...lines, JSON.stringify({ type: "result", subtype: "success", result: "All done." })].join("\n"));
  execFileSync(node, [command, "report", input, "-o", output], { stdio: "pipe", env: { PATH: process.env.PATH, HOME: folder } });
  return output;
}

/** Ready is when the page has answered a key: it is drawn, and its script has time. */
async function look(browser, file) {
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    await page.goto(pathToFileURL(file).href, { waitUntil: "load" });
    // A page does not listen yet when it has loaded: the key is pressed until it is answered.
    await page.waitForFunction(() => {
      document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "2", bubbles: true }));
      return document.querySelector("#t-changes")?.getAttribute("aria-selected") === "true";
    });
    return await page.evaluate(() => {
      const readyMs = performance.now();
      const data = document.getElementById("run")?.textContent ?? "null";
      const began = performance.now();
      JSON.parse(data);
      return { readyMs, parseMs: performance.now() - began, heapBytes: performance.memory.usedJSHeapSize };
    });
  } finally {
    await context.close();
  }
}
