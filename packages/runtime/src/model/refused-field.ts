import { isJsonObject, type JsonObject, type JsonValue } from "../protocol/content.ts";

/** Without these there is no request; what is wrong with them is not mended by leaving them out. */
const needed: ReadonlySet<string> = new Set([
  ...["model", "messages", "input", "contents", "system", "instructions", "systemInstruction", "tools", "stream"],
  ...["anthropic_version", "generationConfig", "max_tokens"],
]);

/** The field of the body that a refusal names: `temperature: Extra inputs are not permitted`, `'reasoning.effort' is not supported`. */
export function findField(complaints: readonly string[], sent: string): string | undefined {
  const body = JSON.parse(sent) as JsonValue; // we wrote it
  if (!isJsonObject(body)) return undefined;
  const ways = waysIn(body, "", 0).sort((a, b) => b.length - a.length);
  for (const complaint of complaints) {
    const way =
      ways.find((candidate) => names(complaint, candidate)) ?? ways.find((candidate) => namesLast(complaint, candidate));
    if (way !== undefined) return wholeField(way, complaint);
  }
  return undefined;
}

/** Deeper fields belong to the message, a tool or a schema. */
const depth = 3;

function waysIn(body: JsonObject, before: string, level: number): string[] {
  return Object.entries(body).flatMap(([name, value]) => {
    if (level === 0 && needed.has(name) && name !== "generationConfig" && name !== "max_tokens") return [];
    const way = before + name;
    const inner =
      isJsonObject(value) && level + 1 < depth && !name.toLowerCase().includes("schema")
        ? waysIn(value, `${way}.`, level + 1)
        : [];
    return level === 0 && name === "generationConfig" ? inner : [way, ...inner];
  });
}

/** As a whole: at the start, in quotes, or as the only word. */
function names(complaint: string, way: string): boolean {
  return spellings(way).some((text) => {
    const form = text.replaceAll(".", "\\.");
    return new RegExp(`^${form}(?:$|[\\s:.])|['"\`]${form}['"\`]`, "i").test(complaint);
  });
}

/** By its own name alone, in quotes or with a word that says it is not wanted. */
function namesLast(complaint: string, way: string): boolean {
  const last = way.slice(way.lastIndexOf(".") + 1);
  if (last === "type") return false; // everything has one
  return spellings(last).some((text) =>
    new RegExp(
      `['"\`]${text}['"\`]|\\b${text}\\b[^.]{0,40}(?:not (?:supported|permitted|allowed)|unsupported|deprecated|unknown)`,
      "i",
    ).test(complaint),
  );
}

/** Google writes `thinking_level` and "thinking level" of what it takes as `thinkingLevel`. */
function spellings(way: string): string[] {
  const snake = way.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return [...new Set([way, snake, ...(snake === way ? [] : [snake.replaceAll("_", " ")])])];
}

/** Without its type a field says nothing; a limit goes only where another field has its place. */
function wholeField(way: string, complaint: string): string | undefined {
  if (way === "max_tokens") return complaint.includes("max_completion_tokens") ? way : undefined;
  return way.endsWith(".type") ? way.slice(0, -".type".length) : way;
}
