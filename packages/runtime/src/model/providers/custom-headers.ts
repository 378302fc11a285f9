import { isJsonObject, type JsonObject } from "../../protocol/content.ts";
import { RuntimeError } from "../../protocol/errors.ts";
import type { Env } from "../proxy.ts";

/** One "Name: value" a line, as Claude Code takes them. A header that is written otherwise is an error, without its words: it may be a key. */
export function customHeaders(text: string): Record<string, string> {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  return Object.fromEntries(
    lines.map((line) => {
      const [, name, value] = /^\s*([!#$%&'*+.^_`|~\w-]+)\s*:\s*([\t\x20-\x7e\x80-\xff]*?)\s*$/.exec(line) ?? [];
      if (name === undefined || value === undefined)
        throw new RuntimeError("config", "ANTHROPIC_CUSTOM_HEADERS needs one header a line, as Name: value");
      return [name.toLowerCase(), value];
    }),
  );
}

/** What Claude Code's variables add to each request: features by name, and fields of the body. */
export function customBody(env: Env): { readonly betas: readonly string[]; readonly body: JsonObject } {
  const { anthropic_beta: features, ...body } = fieldsOf(env["CLAUDE_CODE_EXTRA_BODY"]);
  const named = (env["ANTHROPIC_BETAS"] ?? "").split(",").map((name) => name.trim());
  const listed = Array.isArray(features) ? features.filter((name) => typeof name === "string") : [];
  const betas = [...named, ...listed].filter(Boolean);
  const wrong = betas.find((name) => !/^[\w.-]+$/.test(name));
  if (wrong === undefined) return { betas, body };
  throw new RuntimeError("config", `ANTHROPIC_BETAS takes names of beta features, and ${JSON.stringify(wrong)} is none`);
}

function fieldsOf(text: string | undefined): JsonObject {
  if (!text?.trim()) return {};
  try {
    const value: unknown = JSON.parse(text);
    if (isJsonObject(value)) return value;
  } catch {
    // said below
  }
  throw new RuntimeError("config", "CLAUDE_CODE_EXTRA_BODY must be an object in JSON");
}
