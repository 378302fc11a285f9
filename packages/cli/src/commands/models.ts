import { providerDefinitions, RuntimeError } from "@outrider/runtime";
import { loadCatalogOverride, loadUserSettings, nearest, outriderHome } from "@outrider/runtime/host";
import { askForOwnModels, listCatalog, saveListedModels } from "@outrider/runtime/admin";
import { exitCodes } from "../exit-codes.ts";

/** Models with their windows and prices: of one provider, or of all. `--json` for programs. */
export async function runModels(args: readonly string[]): Promise<number> {
  const names = args.filter((arg) => !arg.startsWith("-"));
  const unknown = args.find((arg) => arg.startsWith("-") && !["--json", "--refresh", "--help", "-h"].includes(arg));
  if (unknown) throw new RuntimeError("usage", `models has no flag ${unknown}; there are --json and --refresh`);
  if (args.includes("--help") || args.includes("-h")) {
    process.stdout.write("Usage: outrider models [PROVIDER] [--json] [--refresh]\n");
    return exitCodes.success;
  }
  if (names.length > 1) throw new RuntimeError("usage", `models takes one provider, not ${names.join(" and ")}`);
  const wanted = args.includes("--refresh") ? await refresh(names[0]) : names[0];
  const { asOf, models } = await listCatalog(wanted, await loadCatalogOverride(outriderHome(process.env)));
  if (models.length === 0) {
    const guess = nearest(
      names[0] ?? "",
      providerDefinitions.map((definition) => definition.name),
    );
    throw new RuntimeError(
      "not-found",
      `The table has no models of ${names[0]}${guess && guess !== names[0] ? `; did you mean ${guess}?` : ""}`,
      {
        hint: "What you know about its models may stand in models.json",
      },
    );
  }
  if (args.includes("--json")) {
    await write(models.map((model) => JSON.stringify(model)).join("\n"));
    return exitCodes.success;
  }
  const rows = models.map(({ provider, id, contextWindow, price }) => [
    `${provider}/${id}`,
    contextWindow ? `${Math.round(contextWindow / 1000)}k` : "?",
    dollars(price?.input),
    dollars(price?.output),
    dollars(price?.cacheRead),
  ]);
  const table = [["model", "window", "input", "output", "cached"], ...rows];
  const widths = [0, 1, 2, 3, 4].map((column) => Math.max(...table.map((row) => (row[column] ?? "").length)));
  const lines = table.map((row) =>
    row.map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0))).join("  "),
  );
  await write(`${lines.join("\n")}\n\nUS dollars per million tokens, as of ${asOf}; ? is unknown`);
  return exitCodes.success;
}

/** Asks the provider what it says about its models, and keeps it for runs to come. */
async function refresh(name: string | undefined): Promise<string> {
  const home = outriderHome(process.env);
  const { provider, models } = await askForOwnModels(name, await loadUserSettings(home), process.env);
  await saveListedModels(home, provider, models);
  process.stderr.write(
    `outrider: ${provider} says something about ${models.length} ${models.length === 1 ? "model" : "models"}; it is kept in ${home}\n`,
  );
  return provider;
}

function dollars(rate: number | undefined): string {
  return rate === undefined ? "?" : String(Number(rate.toPrecision(6)));
}

async function write(text: string): Promise<void> {
  await new Promise<void>((resolve) => {
    process.stdout.once("error", () => resolve()); // nobody reads any more
    process.stdout.write(`${text}\n`, () => resolve());
  });
}
