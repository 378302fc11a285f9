import { type JsonObject, type JsonValue, isJsonObject } from "../../protocol/content.ts";
import type { ModelEvent } from "../model.ts";
import { listIn } from "./responses-answer.ts";
import { numberIn, stringIn } from "./json-fields.ts";

/** Where the wire says an item is; either may be missing, and some servers get one of them wrong. */
export type Address = { readonly id: string; readonly index: number | undefined };

/** `pieces` by kind and place within the item; `raw` is the whole item, once it came. */
type Words = { readonly type: "message" | "reasoning"; readonly pieces: Map<string, string>; raw: JsonObject | undefined };
/** `callId` is what we call it, `givenId` what the wire does; `shown` is how much of `json` was streamed on. */
export type Call = {
  readonly type: "function_call";
  callId: string | undefined;
  givenId: string;
  name: string;
  json: string;
  shown: number;
};
type Other = { readonly type: "other"; readonly kind: string; raw: JsonObject | undefined };
export type Item = { readonly address: Address; done: boolean } & (Words | Call | Other);

type WordRule = { readonly item: "message" | "reasoning"; readonly place: string; readonly field: string };

/** Per kind of words: what they belong to, where their place in it is written, and where the whole of them. */
export const wordRules: Readonly<Record<string, WordRule>> = {
  output_text: { item: "message", place: "content_index", field: "text" },
  refusal: { item: "message", place: "content_index", field: "refusal" },
  reasoning_summary_text: { item: "reasoning", place: "summary_index", field: "text" },
  reasoning_text: { item: "reasoning", place: "content_index", field: "text" },
};

export function addressOf(payload: JsonObject, raw: JsonObject = {}): Address {
  return { id: stringIn(raw, "id") || stringIn(payload, "item_id"), index: numberIn(payload, "output_index") };
}

/** Takes out of `items` the one that `raw` is the whole of: by its ids, else by its place, else by the order of its kind. */
export function takeMatch(items: Item[], raw: JsonObject, index: number): Item | undefined {
  const same = items.filter((item) => kindOf(item) === raw["type"]);
  const match =
    same.find((item) => item.type === "function_call" && item.givenId !== "" && item.givenId === raw["call_id"]) ??
    same.find(({ address }) => address.id !== "" && address.id === raw["id"]) ??
    same.find(({ address }) => address.index === index) ??
    same[0];
  if (match) items.splice(items.indexOf(match), 1);
  return match;
}

export function kindOf(item: Item): string {
  return item.type === "other" ? item.kind : item.type;
}

export function newItem(kind: string): Words | Call | Other {
  switch (kind) {
    case "message":
    case "reasoning":
      return { type: kind, pieces: new Map(), raw: undefined };
    case "function_call":
      return { type: kind, callId: undefined, givenId: "", name: "", json: "", shown: 0 };
    default:
      return { type: "other", kind, raw: undefined };
  }
}

export function isWords(item: Item): item is Item & Words {
  return item.type === "message" || item.type === "reasoning";
}

export function pieceKey(kind: string, place: JsonValue | undefined): string {
  return `${kind}:${typeof place === "number" ? place : 0}`;
}

/** The words of a whole item, keyed as their deltas are. */
export function piecesIn(raw: JsonObject): { key: string; whole: string }[] {
  const toPiece = (kind: string, piece: JsonObject, place: number): { key: string; whole: string } => ({
    key: pieceKey(kind, place),
    whole: stringIn(piece, wordRules[kind]?.field ?? ""),
  });
  return [
    ...listIn(raw, "summary").map((piece, place) => toPiece("reasoning_summary_text", piece, place)),
    ...listIn(raw, "content").map((piece, place) => toPiece(stringIn(piece, "type"), piece, place)),
  ];
}

export function addToPiece(item: Words, key: string, text: string): ModelEvent[] {
  if (!text) return [];
  const before = item.pieces.get(key) ?? "";
  const isNext = item.type === "reasoning" && !before && item.pieces.size > 0;
  item.pieces.set(key, before + text);
  if (item.type === "message") return [{ type: "text.delta", text }];
  return [{ type: "reasoning.delta", text: isNext ? `${pieceBreak}${text}` : text }];
}

/** Between two pieces of reasoning: each is a paragraph with a title of its own. */
export const pieceBreak = "\n\n";

/** The whole of a piece has the last word; what of it had not been streamed is now. */
export function completePiece(item: Words, key: string, whole: string): ModelEvent[] {
  const before = item.pieces.get(key) ?? "";
  if (whole.startsWith(before)) return addToPiece(item, key, whole.slice(before.length));
  if (whole) item.pieces.set(key, whole);
  return [];
}

export function completeCall(call: Call, raw: JsonObject): void {
  call.givenId ||= stringIn(raw, "call_id");
  call.name ||= stringIn(raw, "name");
  const given = raw["arguments"];
  const whole = isJsonObject(given) ? JSON.stringify(given) : stringIn(raw, "arguments");
  if (!whole) return;
  if (!whole.startsWith(call.json)) call.shown = whole.length; // what was streamed cannot be taken back
  call.json = whole;
}

/** `cut`: the answer broke off in this item, so that a call without a single argument byte is not a call without arguments. */
