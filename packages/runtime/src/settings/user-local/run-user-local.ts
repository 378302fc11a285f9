import type { JsonValue } from "../../protocol/content.ts";
import { RuntimeError } from "../../protocol/errors.ts";
import { UserLocalMemory, type UserLocalMemoryProjection } from "./memory.ts";
import { listUserLocalStorage, type UserLocalPlace } from "./storage.ts";

export const userLocalUsage =
  "storage list; memory list; memory inspect|disable|delete CATEGORY KEY; memory set CATEGORY KEY VALUE [--summary TEXT] [--source TEXT]";

/** `/user-local` and `outrider user-local`: answers the text and the same as data. */
export async function runUserLocal(
  words: readonly string[],
  place: UserLocalPlace,
): Promise<{ message: string; data: unknown; format: "json" | "text" }> {
  const { format, ...wish } = takeFlags(words);
  return { ...(await answer(wish, place)), format };
}

type Wish = { readonly rest: readonly string[]; readonly summary: string | undefined; readonly source: string | undefined };

async function answer({ rest, summary, source }: Wish, place: UserLocalPlace): Promise<{ message: string; data: unknown }> {
  const [what, action = "list", category = "", key = "", ...value] = rest;
  if (what === "storage" && action === "list" && category === "") {
    const storage = listUserLocalStorage(place);
    const lines = storage.categories.map(({ category: name, items, location }) => `${name}: ${items.length} in ${location}`);
    return { message: [`Root: ${storage.root}`, ...lines].join("\n"), data: storage };
  }
  const memory = new UserLocalMemory(place);
  if (what === "memory" && action === "list" && category === "") {
    const items = memory.list();
    return { message: items.map(describe).join("\n") || "Nothing is remembered for the user", data: { items } };
  }
  if (what !== "memory" || key === "") throw new RuntimeError("usage", `user-local takes ${userLocalUsage}`);
  if (action === "set" && value.length > 0) {
    const item = await memory.set({ category, key, value: toValue(value.join(" ")), summary, source });
    return { message: describe(item), data: item };
  }
  if (value.length > 0) throw new RuntimeError("usage", `user-local takes ${userLocalUsage}`);
  if (action === "inspect") {
    const item = memory.inspect(category, key);
    return { message: JSON.stringify(item, null, 2), data: item };
  }
  if (action === "disable") {
    const item = await memory.disable(category, key);
    return { message: describe(item), data: item };
  }
  if (action === "delete") {
    memory.delete(category, key);
    return { message: `${category} ${key} is deleted`, data: { deleted: true, category, key } };
  }
  throw new RuntimeError("usage", `user-local takes ${userLocalUsage}`);
}

function describe({ category, key, valueSummary, enabled, summary }: UserLocalMemoryProjection): string {
  return `${category} ${key} = ${valueSummary}${enabled ? "" : " (off)"}${summary === "" ? "" : `: ${summary}`}`;
}

/** JSON where it is some, text elsewhere. */
function toValue(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue; // what JSON.parse makes is JSON
  } catch {
    return text;
  }
}

function takeFlags(words: readonly string[]): Wish & { readonly format: "json" | "text" } {
  const rest: string[] = [];
  const found: Record<string, string | undefined> = {};
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? "";
    if (["--summary", "--source", "--format"].includes(word)) found[word.slice(2)] = words[++at];
    else rest.push(word);
  }
  const { format = "text" } = found;
  if (format !== "json" && format !== "text") throw new RuntimeError("usage", `--format is json or text, not ${format}`);
  return { rest, format, summary: found["summary"], source: found["source"] };
}
