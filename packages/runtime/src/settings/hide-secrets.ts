import type { JsonObject, JsonValue } from "../protocol/content.ts";
import { createRedactor, type Redactor } from "../util/redact.ts";
import { isSecretName } from "../util/secret-names.ts";

const hidden = "(hidden)";

/** Values as they may be shown. What is named like a secret is hidden whatever it looks like; `$ENV:NAME` and `${NAME}` name one and stay. */
export function createSecretHider(): (path: readonly string[], value: JsonValue) => JsonValue {
  const redactor = createRedactor(); // what it looks for is compiled once
  return (path, value) => hide(value, path.some(isHiddenName), redactor);
}

function hide(value: JsonValue, secret: boolean, redactor: Redactor): JsonValue {
  if (typeof value === "string") return secret && !isReference(value) ? hidden : redactor.text(value);
  if (typeof value !== "object" || value === null) return secret && typeof value === "number" ? hidden : value;
  if (Array.isArray(value)) return value.map((item, index) => hide(item, secret || followsSecretFlag(value, index), redactor));
  return Object.entries(value).reduce<JsonObject>((shown, [name, item]) => {
    const isHidden = secret || isHiddenName(name) || /^(?:headers|env)$/i.test(name);
    shown[redactor.text(name)] = hide(item, isHidden, redactor);
    return shown;
  }, Object.create(null));
}

function isHiddenName(name: string): boolean {
  return isSecretName(name) && !/^max\w*tokens$|tokens?_?(?:limit|budget|count)$/i.test(name);
}

/** `["--token", "abc"]`. */
function followsSecretFlag(list: readonly JsonValue[], index: number): boolean {
  const flag = list[index - 1];
  return typeof flag === "string" && /^--?[a-z]/i.test(flag) && isSecretName(flag.replace(/^-+/, ""));
}

function isReference(text: string): boolean {
  return /^(?:\$ENV:\w+|\$\w+|(?:Bearer |Basic )?\$\{\w+(?::-)?\})$/.test(text);
}
