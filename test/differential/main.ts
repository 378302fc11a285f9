import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { differences } from "./differ.ts";
import { play, type Product, type Scenario } from "./play.ts";

/** Why a difference is none that breaks a program. `in`: only in these scenarios; `where` may end with `*`. */
type Row = {
  readonly id: string;
  readonly verdict: "harmless" | "deliberate";
  readonly where: readonly string[];
  readonly reason: string;
  readonly in?: readonly string[];
};
type Verdict = Row["verdict"] | "same" | "breaks";

type Places = { readonly project: string; readonly claude: string; readonly outrider: readonly string[] };

/** Plays every scenario with both products and prints what differs; answers the exit code. */
export async function differential(args: readonly string[], { project, claude, outrider }: Places): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      verbose: { type: "boolean", default: false },
      dump: { type: "string" },
      scenarios: { type: "string", default: join(project, "test/differential/scenarios.json") },
      jobs: { type: "string", default: "1" },
    },
  });
  const read = <T>(path: string): T => JSON.parse(readFileSync(join(project, path), "utf8"));
  const scenarios = Object.entries<Scenario>(JSON.parse(readFileSync(values.scenarios, "utf8")));
  const rows = [...read<Row[]>("test/contract/claude-differences.json"), ...read<Row[]>("test/differential/differences.json")];
  const wanted = scenarios.filter(([name]) => positionals.length === 0 || positionals.some((part) => name.includes(part)));
  const products: Product[] = [
    { name: "claude", command: [claude] },
    { name: "outrider", command: outrider },
  ];
  const mcpServer = join(project, "test/contract/tiny-mcp-server.mjs");
  const counts: Record<Verdict, number> = { same: 0, harmless: 0, deliberate: 0, breaks: 0 };
  const queue = wanted.values();
  const work = async (): Promise<void> => {
    for (const [name, scenario] of queue) await playOne(name, scenario);
  };
  const playOne = async (name: string, scenario: Scenario): Promise<void> => {
    const [old, fresh] = await Promise.all(products.map((product) => play(scenario, product, mcpServer)));
    if (!old || !fresh) return;
    if (values.dump) writeFileSync(join(values.dump, `${name}.json`), JSON.stringify({ claude: old, outrider: fresh }, null, 2));
    const found = differences(scenario, old, fresh).map((difference) => ({ difference, row: rowFor(rows, name, difference) }));
    const verdict = worst(found.map(({ row }) => row?.verdict ?? "breaks"));
    counts[verdict]++;
    say(`${verdict.padEnd(10)} ${name}`);
    for (const { difference, row } of found)
      if (!row || values.verbose) say(`             ${difference}${row ? `  (${row.id})` : ""}`);
    if (values.verbose) for (const { stderr } of [...old.runs, ...fresh.runs]) if (stderr) say(`             ${stderr.trim()}`);
  };
  await Promise.all(Array.from({ length: Number(values.jobs) }, work));
  say(
    Object.entries(counts)
      .map(([verdict, count]) => `${count} ${verdict}`)
      .join(", "),
  );
  return counts.breaks === 0 && wanted.length > 0 ? 0 : 1;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Whole frames of a conversation. The rows of the recordings, which stand for every scenario, excuse them only in those that somebody has looked at: a row names them. */
const weighty = /^frame-(?:missing|extra) (?:user|assistant|conversation_reset|system\/init|result\/\w+)$/;

function rowFor(rows: readonly Row[], scenario: string, difference: string): Row | undefined {
  const fits = (where: string): boolean =>
    where.endsWith("*") ? difference.startsWith(where.slice(0, -1)) : difference === where;
  const found = rows.find((row) => (!row.in || row.in.includes(scenario)) && row.where.some(fits));
  const isLookedAt = found?.in !== undefined || rows.some((row) => row.in?.includes(scenario));
  return weighty.test(difference) && !isLookedAt ? undefined : found;
}

function worst(verdicts: readonly Verdict[]): Verdict {
  return (["breaks", "deliberate", "harmless"] as const).find((one) => verdicts.includes(one)) ?? "same";
}
