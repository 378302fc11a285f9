import type { Content, ContentPart } from "./atif.ts";

/** What a message or a result is made of. `data` is base64. */
export type MediaPart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image" | "audio"; readonly mediaType: string; readonly data: string };

/** A trajectory names its pictures and sounds by path and never holds them: they are kept here, by the path they are named by. */
export class MediaFiles {
  readonly #files = new Map<string, string>();
  #hasAudio = false;

  /** Path to base64. */
  get files(): ReadonlyMap<string, string> {
    return this.#files;
  }

  get hasAudio(): boolean {
    return this.#hasAudio;
  }

  /** Text stays text; as soon as there is something else, all of it is a list of parts. */
  toContent(parts: readonly MediaPart[], separator = ""): Content {
    if (parts.every((part) => part.type === "text")) return parts.map((part) => part.text).join(separator);
    return parts.map((part) => this.#toPart(part));
  }

  #toPart(part: MediaPart): ContentPart {
    if (part.type === "text") return { type: "text", text: part.text };
    const mediaType = canonicalType(part.mediaType);
    const extension = extensions[part.type].get(mediaType);
    if (extension === undefined) return { type: "text", text: `[${part.type} of type ${part.mediaType}, not in this file]` };
    if (part.type === "audio") this.#hasAudio = true;
    const path = `${part.type === "audio" ? "audio" : "images"}/${digest(part.data)}.${extension}`;
    this.#files.set(path, part.data);
    return { type: part.type, source: { media_type: mediaType, path } };
  }
}

export const imageTypes: ReadonlyMap<string, string> = new Map([
  ["image/png", "png"],
  ["image/jpeg", "jpg"],
  ["image/gif", "gif"],
  ["image/webp", "webp"],
]);

export const audioTypes: ReadonlyMap<string, string> = new Map([
  ["audio/wav", "wav"],
  ["audio/mpeg", "mp3"],
  ["audio/mp4", "m4a"],
  ["audio/aac", "aac"],
  ["audio/ogg", "ogg"],
  ["audio/flac", "flac"],
  ["audio/webm", "webm"],
  ["audio/aiff", "aiff"],
]);

const extensions = { image: imageTypes, audio: audioTypes };

const aliases: ReadonlyMap<string, string> = new Map([
  ["image/jpg", "image/jpeg"],
  ["audio/mp3", "audio/mpeg"],
  ["audio/mpga", "audio/mpeg"],
  ["audio/x-mpeg", "audio/mpeg"],
  ["audio/x-wav", "audio/wav"],
  ["audio/wave", "audio/wav"],
  ["audio/vnd.wave", "audio/wav"],
  ["audio/x-m4a", "audio/mp4"],
  ["audio/m4a", "audio/mp4"],
  ["audio/x-aac", "audio/aac"],
  ["audio/x-flac", "audio/flac"],
  ["audio/x-aiff", "audio/aiff"],
]);

/** The spelling the format uses for a media type. */
export function canonicalType(mediaType: string): string {
  const plain = mediaType.trim().toLowerCase();
  return aliases.get(plain) ?? plain;
}

/** The same content has the same name, so that a file is written once however often it is seen. */
function digest(data: string): string {
  return process.getBuiltinModule("node:crypto").createHash("sha256").update(data).digest("hex").slice(0, 32);
}
