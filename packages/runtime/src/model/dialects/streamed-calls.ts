import { parseJson } from "./json-fields.ts";

/** One tool call in the making. `wireId` and `name` are empty until the server sends them. */
export type StreamedCall = { wireId: string; name: string; json: string };

export type CallPiece = {
  readonly index: number | undefined;
  readonly id: string;
  readonly name: string;
  /** The next characters of the arguments. */
  readonly json: string;
};

/**
 * Puts the pieces of parallel tool calls together, however a server counts, names and cuts them:
 * by index as OpenAI does, all at index 0, without any index, whole calls at once, ids or names late, repeated or missing.
 */
export class StreamedCalls {
  readonly #calls: StreamedCall[] = [];
  readonly #byIndex = new Map<number, StreamedCall>();

  /** The call that the piece was added to. */
  add(piece: CallPiece): StreamedCall {
    const call = this.#find(piece) ?? this.#begin(piece.index);
    call.wireId ||= piece.id;
    call.name ||= piece.name;
    call.json += piece.json;
    return call;
  }

  #find({ index, ...piece }: CallPiece): StreamedCall | undefined {
    const call = index === undefined ? this.#named(piece.id) : this.#byIndex.get(index);
    return call && continues(call, piece) ? call : undefined;
  }

  /** Without an index a piece belongs to the call whose id it has, or to the last one. */
  #named(id: string): StreamedCall | undefined {
    return this.#calls.findLast((call) => id === "" || call.wireId === id);
  }

  #begin(index: number | undefined): StreamedCall {
    const call = { wireId: "", name: "", json: "" };
    this.#calls.push(call);
    if (index !== undefined) this.#byIndex.set(index, call);
    return call;
  }
}

export function isWholeJson(text: string): boolean {
  return parseJson(text) !== undefined;
}

/** A name again, with anything that does not fit the call so far, begins another call. */
function continues(call: StreamedCall, { id, name, json }: Omit<CallPiece, "index">): boolean {
  if (!name || !call.name) return true;
  if (name !== call.name) return false;
  if (id && call.wireId && id !== call.wireId) return false;
  return !json || !isWholeJson(call.json);
}
