import { requireProvider } from "../model/providers/definitions.ts";
import { parseRule } from "../permissions/rules.ts";
import type { JsonValue } from "../protocol/content.ts";
import { RuntimeError } from "../protocol/errors.ts";
import { nearest } from "../util/nearest.ts";
import type { Leaf } from "./check-layer.ts";
import { failAt, keyText } from "./layer-error.ts";

/** Throws what was expected, with the place, when a value has not the shape of its setting. Values are not quoted: one may be a key. */
export function checkShape(leaf: Leaf): void {
  const { setting, value, written, layer } = leaf;
  const { shape } = setting;
  const must = (expected: string): never => failAt(layer, written, `${keyText(written)} must be ${expected}`);
  switch (shape.type) {
    case "boolean":
      if (typeof value !== "boolean") must("true or false");
      return;
    case "text":
      if (shape.choices) return checkChoice(leaf, shape.choices);
      if (!isText(value) || (shape.pattern && !shape.pattern.test(value))) must(shape.expected ?? "a text");
      if (value === "" && setting.key !== "env.*") must("a text that is not empty");
      return checkName(leaf);
    case "number": {
      const fits = typeof value === "number" && value >= shape.least && value <= shape.most;
      if (!fits || (shape.whole && !Number.isInteger(value)))
        must(`a ${shape.whole ? "whole " : ""}number from ${shape.least} to ${shape.most}`);
      return;
    }
    case "object":
      if (typeof value !== "object" || value === null || Array.isArray(value)) must("an object");
      return;
    case "provider":
      if (!isText(value) || value === "") return must("the name of a provider");
      return rethrow(() => requireProvider(value), leaf, written);
    case "texts":
      return checkList(leaf, "a list of texts", () => undefined);
    case "rules":
      return checkList(leaf, 'a list of rules like "Bash(npm test:*)"', (rule, index) =>
        rethrow(() => parseRule(rule), leaf, [...written, index]),
      );
  }
}

function checkChoice({ value, written, layer }: Leaf, choices: readonly string[]): void {
  if (typeof value === "string" && choices.includes(value)) return;
  const guess = typeof value === "string" ? nearest(value, choices) : undefined;
  const words = `${keyText(written)} must be one of ${choices.join(", ")}`;
  failAt(layer, written, guess ? `${words}; did you mean ${guess}?` : words);
}

/** A variable has a name that programs can ask for. */
function checkName({ setting, path, written, layer }: Leaf): void {
  if (setting.key !== "env.*" || /^[A-Za-z_]\w*$/.test(path.at(-1) ?? "")) return;
  failAt(layer, written, `${keyText(written)} is no name for a variable: letters, digits and _`);
}

function checkList(leaf: Leaf, expected: string, check: (item: string, index: number) => void): void {
  const { value, written, layer } = leaf;
  if (!Array.isArray(value)) return failAt(layer, written, `${keyText(written)} must be ${expected}`);
  for (const [index, item] of value.entries()) {
    if (!isText(item) || item.trim() === "") failAt(layer, [...written, index], `${keyText(written)} must be ${expected}`);
    else check(item, index);
  }
}

function rethrow(check: () => unknown, { layer }: Leaf, at: readonly (string | number)[]): void {
  try {
    check();
  } catch (error) {
    if (!(error instanceof RuntimeError)) throw error;
    const { message } = error;
    failAt(layer, at, `${keyText(at)}: ${message.length > 500 ? `${message.slice(0, 500)}…` : message}`);
  }
}

/** No program takes a text with a NUL in it. */
function isText(value: JsonValue): value is string {
  return typeof value === "string" && !value.includes("\0");
}
