import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { now } from "./model-process.mjs";
import { summarize } from "./statistics.mjs";

const command = join(dirname(import.meta.dirname), "packages/cli/bin/outrider.js");
const atOnce = 4;

/** Tasks of one answer each: a batch, against `xargs -P` of the command, both with so many at once. Time for each task. */
export async function measureBatch({ node, quick }) {
  const tasks = quick ? 40 : 200;
  const folder = mkdtempSync(join(tmpdir(), "outrider-bench-batch-"));
  try {
    mkdirSync(join(folder, "work"));
    writeFileSync(join(folder, "script.json"), '[{"text":"Done."}]');
    const model = `scripted/${join(folder, "script.json")}`;
    const ids = Array.from({ length: tasks }, (_, index) => `task-${index + 1}`);
    writeFileSync(
      join(folder, "tasks.jsonl"),
      ids.map((id) => JSON.stringify({ id, prompt: `Do ${id}`, cwd: "work", model })).join("\n"),
    );
    writeFileSync(join(folder, "ids"), `${ids.join("\n")}\n`);
    const env = { PATH: process.env.PATH, HOME: folder, OUTRIDER_HOME: join(folder, "home") };
    const bare = ["xargs", "-P", String(atOnce), "-I", "{}", node, command, "-p", "Do {}", "--model", model, "--bare", "--quiet"];
    const floors = [];
    const ours = [];
    for (let round = 0; round < (quick ? 2 : 5); round++) {
      floors.push((await time(bare, { cwd: join(folder, "work"), env, input: join(folder, "ids") })) / tasks);
      const out = join(folder, `out-${round}`);
      const batch = [
        node,
        command,
        "batch",
        join(folder, "tasks.jsonl"),
        "--out",
        out,
        "--concurrency",
        String(atOnce),
        "--bare",
        "--quiet",
      ];
      ours.push((await time(batch, { cwd: folder, env })) / tasks);
    }
    const [floor, mine] = [summarize(floors), summarize(ours)];
    const ratio = mine.median / floor.median;
    const what = `a task of a batch of ${tasks}, ${atOnce} at once, with journal, trajectory and result; floor: xargs -P of the command`;
    return { name: "batch", what, unit: "ms", floor, ours: mine, ratio, target: 1, ok: ratio <= 1 };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function time([file, ...args], { cwd, env, input }) {
  const startedAt = now();
  const withInput = input ? ["sh", ["-c", 'exec "$0" "$@" < "$INPUT"', file, ...args]] : [file, args];
  const child = spawn(...withInput, {
    cwd,
    env: { ...env, ...(input && { INPUT: input }) },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let errors = "";
  child.stderr.setEncoding("utf8").on("data", (text) => {
    errors += text;
  });
  const code = await new Promise((resolve) => child.on("close", resolve));
  if (code !== 0) throw new Error(`${file} ended with ${code}: ${errors.slice(0, 500)}`);
  return now() - startedAt;
}
