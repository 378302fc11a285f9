import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startModelServer } from "../packages/runtime/src/testing/model-server.ts";
import { createRandom, Tally } from "./report.ts";

const tasks = 40;
const steps = 3;
const atOnce = 4;

/** A batch that is ended with SIGKILL at so many random moments: one result per task, and no call that had ended is made again. */
export async function killBatches({ command, kills, seed }: { command: string; kills: number; seed: number }): Promise<Tally> {
  const tally = new Tally("batches");
  const random = createRandom(seed);
  let killed = 0;
  let batches = 0;
  while (killed < kills && batches < kills * 2) {
    batches++;
    killed += await killBatch({ command, most: Math.min(15, kills - killed), random, tally });
  }
  tally.count("kills", killed);
  tally.count(`batches of ${tasks} tasks`, batches);
  return tally;
}

type Round = {
  readonly command: string;
  readonly most: number;
  readonly random: (below: number) => number;
  readonly tally: Tally;
};

async function killBatch({ command, most, random, tally }: Round): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "outrider-torture-batch-"));
  const effects = new Map<string, number>();
  const outside = createServer((request, response) => {
    effects.set(request.url ?? "", (effects.get(request.url ?? "") ?? 0) + 1);
    response.end("done\n");
  });
  await new Promise<void>((resolve) => outside.listen(0, "127.0.0.1", resolve));
  const { port } = outside.address() as AddressInfo; // it listens on a port
  const model = await startModelServer({ keepsRequests: false, replies: ({ body }) => answer(body, `http://127.0.0.1:${port}`) });
  const env = {
    PATH: process.env["PATH"] ?? "",
    HOME: folder,
    OUTRIDER_HOME: join(folder, "home"),
    ANTHROPIC_API_KEY: "torture",
    ANTHROPIC_BASE_URL: model.url,
  };
  const lines = Array.from({ length: tasks }, (_, at) => ({
    id: `t${at + 1}`,
    prompt: `TASK t${at + 1}`,
    allowedTools: ["Bash"],
  }));
  writeFileSync(join(folder, "tasks.jsonl"), lines.map((line) => JSON.stringify(line)).join("\n"));
  const out = join(folder, "out");
  const flags = ["--out", out, "--concurrency", String(atOnce), "--quiet", ...(random(2) === 0 ? ["--processes", "2"] : [])];
  let killed = 0;
  try {
    let isBegun = false;
    for (let round = 0; round < most * 4 + 4; round++) {
      const first = [command, "batch", join(folder, "tasks.jsonl"), ...flags];
      const args = isBegun ? [command, "batch", "--resume", ...flags] : first;
      isBegun = true;
      const child = spawn(process.execPath, args, { cwd: folder, env, stdio: "ignore" });
      const timer = killed < most ? setTimeout(() => child.kill("SIGKILL"), 300 + random(2_500)) : undefined;
      const code = await new Promise<number | null>((resolve) => child.on("close", resolve));
      clearTimeout(timer);
      if (code === null) killed++;
      else if (code === 66)
        isBegun = false; // killed before there was a batch
      else break;
    }
    judge({ out, effects, tally });
    return killed;
  } finally {
    await model.close();
    outside.closeAllConnections();
    outside.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

function answer(
  body: unknown,
  url: string,
): { text?: string; calls?: { name: string; input: object; callId: string }[]; delayMs: number } {
  const messages: { role: string; content: unknown }[] = Object(body).messages;
  const [, task] = /TASK ([\w-]+)/.exec(JSON.stringify(messages[0])) ?? [];
  const called = messages.filter(
    ({ role, content }) => role === "assistant" && JSON.stringify(content).includes("tool_use"),
  ).length;
  if (called >= steps) return { text: `Task ${task} is done.`, delayMs: 50 };
  const command = `curl -s ${url}/${task}/${called + 1}`;
  return { calls: [{ name: "Bash", input: { command }, callId: `call_${task}_${called + 1}` }], delayMs: 50 };
}

function judge({ out, effects, tally }: { out: string; effects: ReadonlyMap<string, number>; tally: Tally }): void {
  const results = readLines(join(out, "results.jsonl"));
  for (let task = 1; task <= tasks; task++) {
    const own = results.filter(({ unit_id }) => unit_id === `t${task}`);
    if (own.length !== 1 || own[0]?.["status"] !== "passed")
      tally.violate(`t${task} has ${own.length} results: ${JSON.stringify(own).slice(0, 300)}`);
    const ended = readLines(join(out, "journals", `t${task}.jsonl`)).filter(({ type }) => type === "tool.ended");
    for (let step = 1; step <= steps; step++) {
      const count = effects.get(`/t${task}/${step}`) ?? 0;
      const isFinished = ended.some(({ callId }) => callId === `call_t${task}_${step}`);
      if (isFinished ? count !== 1 : count > 1) tally.violate(`t${task}, step ${step}: ${count} effects`);
    }
  }
}

function readLines(path: string): Record<string, unknown>[] {
  return readFileSync(path, "utf8")
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}
