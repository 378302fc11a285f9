import type { JsonObject, JsonValue, Message, ToolDefinition } from "../protocol/content.ts";
import { defined } from "../util/defined.ts";

/** A request as far as it is compared. */
export type RecordedRequest = {
  readonly model: string;
  readonly system: string;
  readonly tools: readonly ToolDefinition[];
  readonly messages: readonly Message[];
  /** Limits, temperature, answer schema. Absent where they are not known; then they are not compared. */
  readonly settings?: JsonObject;
};

/** Empty when they are the same; else a readable text for each place where they differ: what stood there, and what stands there now. */
export function differencesBetween(recorded: RecordedRequest, now: RecordedRequest): string[] {
  const found: string[] = [];
  compare(recorded.model, now.model, { at: "model", found });
  if (recorded.settings) compare(recorded.settings, now.settings ?? {}, { at: "settings", found });
  compare(recorded.system, now.system, { at: "system", found });
  compareTools(recorded.tools, now.tools, found);
  compare(recorded.messages, now.messages, { at: "messages", found });
  return found;
}

/** By name: one tool more or less must not make all after it look changed. */
function compareTools(recorded: readonly ToolDefinition[], now: readonly ToolDefinition[], found: string[]): void {
  const before = found.length;
  const names = new Set([...recorded, ...now].map((tool) => tool.name));
  for (const name of names) {
    const [then, today] = [recorded, now].map((tools) => tools.find((tool) => tool.name === name));
    if (then && today) compare(then, today, { at: `tools.${name}`, found });
    else found.push(`  tools.${name} ${then ? "was offered, and is not now" : "is offered now, and was not"}`);
  }
  if (found.length > before) return;
  compare(recorded.map((tool) => tool.name).join(", "), now.map((tool) => tool.name).join(", "), { at: "order of tools", found });
}

type Place = {
  readonly at: string;
  readonly found: string[];
  /** The tool whose call or result this is a part of. */
  readonly tool?: string;
};

function compare(then: unknown, now: unknown, place: Place): void {
  if (then === now) return;
  const { at, found } = place;
  if (typeof then === "string" && typeof now === "string") {
    if (!sameText(then, now, place.tool)) found.push(`  ${describe(place)}${textDifference(then, now)}`);
    return;
  }
  if (!isContainer(then) || !isContainer(now) || Array.isArray(then) !== Array.isArray(now)) {
    found.push(`  ${describe(place)}\n    - ${inJson(then)}\n    + ${inJson(now)}`);
    return;
  }
  const tool = toolOf(then) ?? toolOf(now) ?? place.tool;
  for (const key of new Set([...Object.keys(then), ...Object.keys(now)])) {
    const inside = Array.isArray(then) ? `${at}[${key}]` : `${at}.${key}`;
    compare(then[key], now[key], { at: inside, found, ...defined({ tool }) });
  }
}

function isContainer(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

function toolOf({ type, name }: Record<string, unknown>): string | undefined {
  if (typeof name !== "string") return undefined;
  return type === "tool-result" ? `result of ${name}` : type === "tool-call" ? `call of ${name}` : undefined;
}

function describe({ at, tool }: Place): string {
  return tool ? `${at} (${tool})` : at;
}

/** The same for a test: equal, or different only in what no two runs have in common. */
function sameText(then: string, now: string, tool: string | undefined): boolean {
  return sameButHidden(then, now) || sameButCut(then, now) || (inAnyOrder(tool) && sortedLines(then) === sortedLines(now));
}

/** Where a key was hidden in the recording, anything may stand now. */
function sameButHidden(then: string, now: string): boolean {
  const [first = "", ...rest] = then.split(/\[redacted(?::[\w.-]+)?\]/);
  const last = rest.pop();
  if (last === undefined || !now.startsWith(first)) return false;
  let from = first.length;
  for (const piece of rest) {
    const at = now.indexOf(piece, from);
    if (at === -1) return false;
    from = at + piece.length;
  }
  return now.length - last.length >= from && now.endsWith(last);
}

/** A long output is cut to a size that includes the path of the file it is kept in, so a longer path leaves less of it. */
function sameButCut(then: string, now: string): boolean {
  const [a, b] = [cutOf(then), cutOf(now)];
  if (!a || !b || a.where !== b.where || Math.abs(a.length - b.length) > 2) return false;
  const heads = a.head.startsWith(b.head) || b.head.startsWith(a.head);
  return heads && (a.tail.endsWith(b.tail) || b.tail.endsWith(a.tail));
}

function cutOf(text: string): { head: string; tail: string; where: string; length: number } | undefined {
  const found = /^… (\d+) characters omitted; (.*) …$/m.exec(text);
  if (!found) return undefined;
  const head = text.slice(0, found.index).replace(/\n$/, ""); // the line end before the notice may be ours
  const tail = text.slice(found.index + found[0].length + 1);
  return { head, tail, where: found[2] ?? "", length: head.length + Number(found[1]) + tail.length };
}

/** These list the files that changed last first, and a copy of a project has other times. */
function inAnyOrder(tool: string | undefined): boolean {
  return tool === "result of Glob" || tool === "result of Grep";
}

function sortedLines(text: string): string {
  return text.split("\n").sort().join("\n");
}

const maxLines = 3;
const maxWidth = 160;

/** The lines that differ, without those before and after that do not. */
function textDifference(then: string, now: string): string {
  const [before, after] = [then.split("\n"), now.split("\n")];
  let start = 0;
  while (start < Math.min(before.length, after.length) && before[start] === after[start]) start++;
  let same = 0;
  const most = Math.min(before.length, after.length) - start;
  while (same < most && before.at(-1 - same) === after.at(-1 - same)) same++;
  const gone = before.slice(start, before.length - same);
  const come = after.slice(start, after.length - same);
  const from = Math.max(0, firstDifference(gone[0] ?? "", come[0] ?? "") - maxWidth / 2);
  const where = before.length > 1 || after.length > 1 ? `, line ${start + 1}` : "";
  return [where, ...shown("-", gone, from), ...shown("+", come, from)].join("\n");
}

function firstDifference(a: string, b: string): number {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at++;
  return at;
}

function shown(sign: string, lines: readonly string[], from: number): string[] {
  const cut = lines.slice(0, maxLines).map((line, index) => `    ${sign} ${excerpt(line, index === 0 ? from : 0)}`);
  if (lines.length > maxLines) cut.push(`    ${sign} … ${lines.length - maxLines} more lines`);
  return cut;
}

function excerpt(line: string, from: number): string {
  const part = line.slice(from, from + maxWidth);
  return `${from > 0 ? "…" : ""}${part}${from + maxWidth < line.length ? "…" : ""}`;
}

function inJson(value: unknown): string {
  return value === undefined ? "(nothing)" : excerpt(JSON.stringify(value), 0);
}

/** Whether two JSON values are the same; quick where they share their parts. */
export function sameJson(a: JsonValue | object | undefined, b: JsonValue | object | undefined): boolean {
  if (a === b) return true;
  if (!isContainer(a) || !isContainer(b)) return false;
  const [names, others] = [Object.keys(a), Object.keys(b)];
  return names.length === others.length && names.every((name) => sameJson(a[name] as JsonValue, b[name] as JsonValue)); // parts of JSON are JSON
}
