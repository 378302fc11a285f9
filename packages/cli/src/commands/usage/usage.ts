import { join } from "node:path";
import { RuntimeError } from "@outrider/runtime";
import { listSpending } from "@outrider/runtime/admin";
import { loadCallPrice } from "@outrider/runtime/atif";
import { findProjectRoot, loadCatalogOverride, outriderHome } from "@outrider/runtime/host";
import { exitCodes } from "../../exit-codes.ts";
import { positiveInteger } from "../../flags/numbers.ts";
import { parseOwnWords } from "../../flags/words.ts";
import { isColoured } from "../../terminal/paint.ts";
import { print, visible } from "../../terminal/visible.ts";
import { dayOf, parseSince } from "./days.ts";
import { isWay, reportUsage, type Spent, waysToGroup } from "./usage-report.ts";
import { describeUsage } from "./usage-text.ts";

const usage = `Usage: outrider usage [--by day|model|project] [--since WHEN] [--limit N] [--json]

Tokens and costs of all stored sessions, including subagents and summaries, each counted once.

  --by day|model|project  a row for each day (the default), model or project
  --since WHEN            only from then on: 7d, 12h, 8w, today, or a day like 2026-11-01
  --limit N               show N rows (31) and sum up the others; --json has them all
  --json                  print JSON for programs

Days are in your time zone. Prices are those of outrider models at the time of each answer.
`;

/** What did this cost me? */
export async function runUsage(args: readonly string[]): Promise<number> {
  if (args.includes("--help") || args.includes("-h")) {
    await print(usage);
    return exitCodes.success;
  }
  const words = parseOwnWords(args, {
    switches: ["--json"],
    values: ["--by", "--since", "--limit"],
    command: "usage",
    usage,
  });
  const by = words.value("--by") ?? "day";
  if (!isWay(by)) throw new RuntimeError("usage", `--by takes ${waysToGroup.join(", ")}, not ${JSON.stringify(by)}`);
  const since = words.value("--since");
  const from = since === undefined ? undefined : parseSince(since, new Date());
  const limit = positiveInteger("--limit", words.value("--limit") ?? "31");
  const home = outriderHome(process.env);
  const unreadable: string[] = [];
  const sessions = await listSpending(join(home, "sessions"), {
    onSkipped: (id, { message }) => {
      unreadable.push(id);
      process.stderr.write(`outrider: not counted: ${visible(message)}\n`);
    },
  });
  const priceOf = await loadCallPrice(await loadCatalogOverride(home));
  const projects = new Map<string, string>();
  const projectOf = (cwd: string): string => {
    const known = projects.get(cwd) ?? findProjectRoot(cwd, process.env["HOME"] ?? "");
    projects.set(cwd, known);
    return known;
  };
  const spent = sessions.flatMap(({ id, cwd, calls }) =>
    calls
      .filter(({ at }) => from === undefined || Date.parse(at) >= from.getTime())
      .map((call): Spent => {
        const { model, usage: tokens } = call.message;
        const key = { day: dayOf(call.at), model: `${model.provider}/${model.id}`, project: projectOf(cwd) };
        return { session: id, key, usage: tokens, costUsd: priceOf(call) };
      }),
  );
  const report = reportUsage(spent, by);
  if (words.has("--json")) {
    await print(`${JSON.stringify({ ...report, since: from?.toISOString() ?? null, unreadable }, null, 2)}\n`);
    return exitCodes.success;
  }
  const { stdout } = process;
  await print(describeUsage(report, { limit, columns: stdout.columns ?? 100, coloured: isColoured(stdout), since }));
  return exitCodes.success;
}
