import { isJsonObject, type JsonObject, type JsonValue } from "../protocol/content.ts";

/** Without these there is no request; what is wrong with them is not mended by leaving them out. */
const needed: ReadonlySet<string> = new Set([
  ...["model", "messages", "input", "contents", "system", "instructions", "systemInstruction", "tools", "stream"],
  ...["anthropic_version", "generationConfig", "max_tokens"],
]);

/** The field of the body that a refusal names: `temperature: Extra inputs are not permitted`, `does not support the effort parameter`. */
export function findField(complaints: readonly string[], sent: string): string | undefined {
  const body = JSON.parse(sent) as JsonValue; // we wrote it
  if (!isJsonObject(body)) return undefined;
  const ways = waysIn(body, "", 0).sort((a, b) => b.length - a.length);
  const [way] = complaints.flatMap((complaint) => fieldIn(complaint, ways) ?? []);
  return way === undefined ? undefined : wholeField(way, complaints);
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

/** What a server advises to send is not what it refuses. */
const advice = /[.;,]\s+(?:please\s+)?(?:use|try|consider|set|pass|send|specify)\s.*/is;
const nameForm = /[a-z_][\w-]*(?:\.[\w-]+)*/gi;

/** The first name in the complaint that is one of a field, and is complained about. */
function fieldIn(complaint: string, ways: readonly string[]): string | undefined {
  const text = withNames(complaint.replace(advice, ""), ways);
  for (const { 0: name, index } of text.matchAll(nameForm)) {
    const way = ways.find((candidate) => isNameOf(plainName(name), plainName(candidate)));
    if (way !== undefined && isBlamed(text, { name, index })) return way;
  }
  return undefined;
}

/** "Thinking level" and "reasoning effort" stand for `thinkingLevel` and `reasoning.effort`. */
function withNames(text: string, ways: readonly string[]): string {
  return ways.reduce((named, way) => {
    const last = plainName(way.slice(way.lastIndexOf(".") + 1));
    const name = [last, plainName(way)].find((candidate) => /[._]/.test(candidate));
    return name === undefined ? named : named.replace(new RegExp(`\\b${name.replace(/[._]/g, "[ -]")}\\b`, "gi"), name);
  }, text);
}

/** Google writes `thinking_level` of what it takes as `thinkingLevel`. */
function plainName(name: string): string {
  return name.replace(/(?<=[a-z])[A-Z]/g, (letter) => `_${letter}`).toLowerCase();
}

/** The whole way, its end (`effort`), or a way on from it (`thinking.type.enabled`). Everything has a type. */
function isNameOf(name: string, way: string): boolean {
  return name === way || name.startsWith(`${way}.`) || (name !== "type" && way.endsWith(`.${name}`));
}

const verdict =
  "(?:un(?:supported|known|recogni[sz]ed|expected)|invalid|deprecated|not (?:an? )?(?:support|permit|allow|recogni[sz]|accept|valid|available|take|compatible)|extra |only )";

/** In quotes or as the subject it is meant; otherwise a word of refusal has to stand in its sentence, and beside what may be a plain word. */
function isBlamed(text: string, { name, index }: { name: string; index: number }): boolean {
  const before = text.slice(0, index);
  const after = text.slice(index + name.length);
  if (/['"`]$/.test(before) && /^['"`]/.test(after)) return true;
  if (before === "" && /^(?:$|:)/.test(after)) return true;
  const reach = /[._]/.test(name) ? "[^.]*" : "[^.]{0,40}";
  return new RegExp(`${verdict}${reach}$`, "i").test(before) || new RegExp(`^${reach}${verdict}`, "i").test(after);
}

/** Without its type or schema a field says nothing; a limit goes only where another field has its place. */
function wholeField(way: string, complaints: readonly string[]): string | undefined {
  if (way === "max_tokens") return complaints.some((text) => text.includes("max_completion_tokens")) ? way : undefined;
  return way.replace(/\.(?:type|schema|json_schema)$/, "");
}
