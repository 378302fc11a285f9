import { RuntimeError } from "../protocol/errors.ts";
import type { KeyPath } from "./json-text.ts";
import type { SettingsLayer } from "./layers.ts";

/** `file:line`, as editors and terminals take it. */
export function placeOf(layer: Pick<SettingsLayer, "path" | "lineOf">, keyPath: KeyPath): string {
  const line = layer.lineOf(keyPath);
  return line === undefined ? layer.path : `${layer.path}:${line}`;
}

export function failAt(layer: Pick<SettingsLayer, "path" | "lineOf">, keyPath: KeyPath, message: string): never {
  throw new RuntimeError("config", `${placeOf(layer, keyPath)}: ${message}`);
}

/** A key as it is shown. Names come from files nobody vouches for: a control character could rewrite what a terminal shows, and one may be a book. */
export function keyText(keyPath: KeyPath): string {
  const text = keyPath.join(".");
  const short = text.length > longestKey ? `${text.slice(0, longestKey)}…` : text;
  return short.replace(
    /[\p{Cc}\p{Cf}\u2028\u2029]/gu,
    (character) => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`,
  );
}

const longestKey = 200;
