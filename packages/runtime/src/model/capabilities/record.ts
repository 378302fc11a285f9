/** How capable and how dear a model is among those of its maker. */
export type Tier = "frontier" | "large" | "medium" | "small" | "open";

/** What a model takes and does not take, as its maker says. `tables` hold one line for each; `models.json` may say otherwise. */
export type ModelRecord = {
  readonly id: string;
  /** Whose model it is. */
  readonly maker: string;
  readonly tier: Tier;
  readonly released?: string;
  /** The day it is switched off. */
  readonly retires?: string;
  readonly contextWindow: number;
  /** The window of its long variant, where that has to be asked for: `NAME[1m]`. */
  readonly longWindow?: number;
  /** As much of the window as is used unless somebody says otherwise: beyond it requests are refused, or cost a multiple. */
  readonly workingWindow?: number;
  readonly maxOutputTokens: number;
  /** The kinds of thinking its wire can ask it for; none where it cannot think, or does as it likes. */
  readonly thinking: readonly string[];
  /** Least and most tokens of a thinking budget, where its wire takes a number. */
  readonly budget?: readonly [least: number, most: number];
  /** The words it takes for how hard to think, the least first. */
  readonly efforts: readonly string[];
  /** What is asked for when nobody says how hard it should think: only where its own choice is none, or the dearest. */
  readonly usualEffort?: string;
  /** `idle`: only while it does not think. */
  readonly temperature: "any" | "idle" | "none";
  /** Least and most of it; 0 to 2 when absent. */
  readonly temperatures?: readonly [least: number, most: number];
  readonly stopSequences: boolean;
  /** Keeps to a JSON Schema by itself. */
  readonly nativeSchema: boolean;
  readonly images: boolean;
  readonly pdf: boolean;
  /** May call several tools in one answer; where that is said otherwise, it is told to call one at a time. */
  readonly parallelCalls: boolean;
  readonly editTool: "replace" | "patch";
  /** May be told that it has to call a tool. */
  readonly forcedToolChoice: boolean;
  /** Goes on from words that were put into its mouth. */
  readonly prefill: boolean;
  /** What of its thinking has to be sent back. `bound`: as it was, behind exactly what it followed. */
  readonly sendBack: "nothing" | "signed" | "bound" | "encrypted" | "text";
  /** Tools over Chat Completions: `unworded` = without an effort, `off` = with the effort "none", `never` = over Responses only. */
  readonly chatTools: "any" | "unworded" | "off" | "never";
  /** Not in the table: what is known of its newest kin holds for it. */
  readonly guessed?: true;
};

/** One maker's models: what they have in common, and a line for each, the newest of a tier before the older ones. */
export type RecordTable = {
  readonly maker: string;
  readonly common: Omit<ModelRecord, "id" | "maker" | "tier">;
  readonly lines: string;
  /** The line whose rules an id follows that has none of its own. */
  kinOf?(id: string): string | undefined;
};

/** The day the tables were written. */
export const recordsAsOf = "2026-11-15";

const found = new WeakMap<RecordTable, Map<string, ModelRecord | undefined>>();

/** What is known about a model, by its id as any host of it writes it. Only its own line is read. */
export function findRecord(table: RecordTable, model: string): ModelRecord | undefined {
  const known = found.get(table) ?? new Map<string, ModelRecord | undefined>();
  found.set(table, known);
  if (!known.has(model)) known.set(model, lookUp(table, plainId(model)));
  return known.get(model);
}

/** Every record of a table, in its order. */
export function listRecords(table: RecordTable): ModelRecord[] {
  return table.lines
    .trim()
    .split("\n")
    .map((line) => readLine(table, line));
}

/** `us.anthropic.claude-x-v1:0`, `anthropic/claude-x`, `claude-x@20250929`, `models/gemini-x` and `claude-x[1m]` without what hosts add. */
function plainId(model: string): string {
  const id = model.trim().toLowerCase().replace(longSuffix, "");
  const name = id.replace(/^(?:[a-z]+\.)?anthropic\./, "").replace(/^~?(?:[\w.-]+\/)+(?=(?:claude|gpt-\d|gemini)-?)/, "");
  return name
    .replace(/^models\//, "")
    .replace(/(?<=^claude.*)-v\d+(?::\d+)?$/, "")
    .replace(/[-@](?:20\d{6}|20\d\d-\d\d-\d\d)$/, "");
}

const longSuffix = /\[1m\]$/i;

/** Is the long variant of a model meant? */
export function isLong(model: string): boolean {
  return longSuffix.test(model);
}

export function withoutLong(model: string): string {
  return model.replace(longSuffix, "");
}

function lookUp(table: RecordTable, id: string): ModelRecord | undefined {
  const own = lineOf(table, id) ?? lineOf(table, id.replace(/(?<=claude.*\d)\.(?=\d)/, "-"));
  if (own) return readLine(table, own);
  const kin = table.kinOf?.(id);
  const line = kin === undefined ? undefined : lineOf(table, kin);
  if (!line) return undefined;
  const { retires: _, released: __, ...rules } = readLine(table, line);
  return { ...rules, id, guessed: true };
}

function lineOf({ lines }: RecordTable, id: string): string | undefined {
  const text = `\n${lines.trim()}\n`;
  const start = text.toLowerCase().indexOf(`\n${id} `);
  return start === -1 ? undefined : text.slice(start + 1, text.indexOf("\n", start + 1));
}

/** `id tier name=value…`: numbers, words, lists with commas, and yes or no. */
function readLine({ maker, common }: RecordTable, line: string): ModelRecord {
  const [id = "", tier = "", ...fields] = line.split(" ");
  const own = fields.map((field) => {
    const at = field.indexOf("=");
    return [field.slice(0, at), readValue(field.slice(0, at), field.slice(at + 1))];
  });
  return { ...common, ...Object.fromEntries(own), id, maker, tier: tier as Tier }; // our own tables, which a test reads whole
}

const lists: ReadonlySet<string> = new Set(["thinking", "efforts"]);

function readValue(name: string, text: string): unknown {
  if (lists.has(name)) return text === "" ? [] : text.split(",");
  if (name === "budget" || name === "temperatures") return text.split("-").map(Number);
  if (/^\d+$/.test(text)) return Number(text);
  return text === "yes" || text === "no" ? text === "yes" : text;
}
