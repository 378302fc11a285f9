import type { BatchProgress } from "@outrider/fleet";
import { visible } from "../../terminal/visible.ts";

export type BatchWatch = { onProgress(progress: BatchProgress): void; say(line: string): void; stop(): void };

/** How a batch is seen on stderr: a line that moves on a terminal, and a line for each end anywhere. */
export function watchBatch({ isQuiet, isAnimated }: { isQuiet: boolean; isAnimated: boolean }): BatchWatch {
  if (isQuiet) return { onProgress: () => {}, say: () => {}, stop: () => {} };
  const stream = process.stderr;
  const counts = { total: 0, before: 0, running: 0, passed: 0, failed: 0, spentUsd: 0 };
  const startedAt = Date.now();
  const line = (): string => {
    const done = counts.passed + counts.failed;
    const left = counts.total - counts.before - done;
    const eta = done === 0 || left === 0 ? "" : ` · about ${spoken(((Date.now() - startedAt) / done) * left)} left`;
    const cost = counts.spentUsd > 0 ? ` · $${counts.spentUsd.toFixed(4)}` : "";
    return `${counts.before + done}/${counts.total} done · ${counts.running} running · ${counts.failed} failed${cost}${eta}`;
  };
  const erase = (): void => void (isAnimated && stream.write("\r\u001b[K"));
  const draw = (): void =>
    void (isAnimated && stream.write(`\r\u001b[K${line().slice(0, Math.max(20, (stream.columns ?? 80) - 1))}`));
  const say = (text: string): void => {
    erase();
    stream.write(`${text}\n`);
    draw();
  };
  const timer = isAnimated ? setInterval(draw, 500) : undefined;
  timer?.unref();
  return {
    onProgress(progress) {
      switch (progress.type) {
        case "begun":
          counts.total = progress.total;
          counts.before = progress.finished;
          return say(`${progress.total} to run${progress.finished > 0 ? `, ${progress.finished} of them done before` : ""}`);
        case "started":
          counts.running++;
          return draw();
        case "again":
          counts.running--;
          return say(`again   ${visible(progress.unit.id)}: ${progress.failure}, attempt ${progress.attempt}`);
        case "asks":
          return say(`asks    ${visible(progress.question.id)}: ${visible(progress.question.reason)}`);
        case "finished": {
          const { result, spentUsd } = progress;
          if (result.failure !== "cancelled") counts.running = Math.max(0, counts.running - 1);
          counts[result.passed ? "passed" : "failed"]++;
          counts.spentUsd = Math.max(counts.spentUsd, spentUsd);
          const why = result.passed ? "" : `: ${String(result["failure"])}${wordsOf(result)}`;
          const done = counts.before + counts.passed + counts.failed;
          return say(
            `${result.status.padEnd(9)} ${visible(result.unit_id)} (${done}/${counts.total}, ${spoken(result.wall_ms)})${visible(why)}`,
          );
        }
      }
    },
    say,
    stop() {
      clearInterval(timer);
      erase();
    },
  };
}

/** Of a task that could not be done: what was wrong. That of a check, a limit or a person says it already. */
function wordsOf({ status, errors }: Extract<BatchProgress, { type: "finished" }>["result"]): string {
  const [first] = status === "error" && Array.isArray(errors) ? errors : [];
  return typeof first === "string" ? ` (${first.split("\n")[0]?.slice(0, 200)})` : "";
}

function spoken(ms: number): string {
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  return ms < 3_600_000 ? `${Math.round(ms / 60_000)} min` : `${(ms / 3_600_000).toFixed(1)} h`;
}
