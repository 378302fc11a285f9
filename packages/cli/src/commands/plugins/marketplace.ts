import { RuntimeError } from "@outrider/runtime";
import { describeSource, type MarketplaceEntry } from "@outrider/runtime/plugins";
import { exitCodes } from "../../exit-codes.ts";
import { print, visible } from "../../terminal/visible.ts";
import type { Desk } from "./install.ts";

const usage = "plugins marketplace add SOURCE|list|update [NAME]|remove NAME|search [WORD…]";

export async function runMarketplace(desk: Desk, words: readonly string[]): Promise<number> {
  const [action = "list", name, ...more] = words;
  const { marketplaces } = desk;
  switch (action) {
    case "add": {
      if (name === undefined || more.length > 0) break;
      const made = await marketplaces.add(desk.toSource(name));
      return await say(desk, made, `The marketplace ${made.name} is added: ${marketplaces.entries(made.name).length} plugins`);
    }
    case "list":
      if (name !== undefined) break;
      return await list(desk);
    case "update": {
      if (more.length > 0) break;
      const names = name === undefined ? marketplaces.list().map((one) => one.name) : [name];
      for (const one of names) await say(desk, await marketplaces.update(one), `The marketplace ${one} is up to date`);
      return exitCodes.success;
    }
    case "remove":
    case "rm":
      if (name === undefined || more.length > 0) break;
      await marketplaces.remove(name);
      return await say(desk, { removed: name }, `The marketplace ${name} is removed; plugins that came from it stay`);
    case "search":
      return await search(desk, words.slice(1));
    default:
  }
  throw new RuntimeError("usage", `plugins marketplace does not take ${visible(words.join(" "))}\n${usage}`);
}

async function list(desk: Desk): Promise<number> {
  const all = desk.marketplaces.list();
  const lines = all.map(({ name, source, lastUpdated = "not fetched" }) => `${name}  ${lastUpdated}  ${describeSource(source)}`);
  return await say(desk, all, lines.join("\n") || "No marketplace was added");
}

async function search(desk: Desk, words: readonly string[]): Promise<number> {
  const { entries, problems } = desk.marketplaces.search(words);
  for (const problem of problems) process.stderr.write(`outrider: ${visible(problem)}\n`);
  const rows = entries.map(({ value: _, ...entry }) => entry);
  return await say(desk, rows, entries.map(lineOf).join("\n") || "Nothing was found");
}

function lineOf({ name, marketplace, version, category, description }: MarketplaceEntry): string {
  return [`${name}@${marketplace}`, version, category && `[${category}]`, description].filter(Boolean).join("  ");
}

async function say({ json }: Desk, value: unknown, text: string): Promise<number> {
  await print(json ? `${JSON.stringify(value, null, 2)}\n` : `${text.split("\n").map(visible).join("\n")}\n`);
  return exitCodes.success;
}
