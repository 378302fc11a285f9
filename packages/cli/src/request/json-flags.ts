import { type JsonObject, RuntimeError } from "@outrider/runtime";
import type { SessionRequest } from "@outrider/runtime/host";
import { readTextFile } from "./read-text-file.ts";

type Options = NonNullable<SessionRequest["options"]>;

/** `--agents`: JSON, or a file that holds it. */
export async function agentOptions(text: string): Promise<Pick<Options, "agents" | "warnings">> {
  const { parseAgents, unknownToolsOf } = await import("@outrider/runtime/admin");
  let value: unknown;
  try {
    value = JSON.parse(text.trim().startsWith("{") ? text : readTextFile(text, "--agents"));
  } catch (error) {
    if (error instanceof RuntimeError) throw error;
    throw new RuntimeError("usage", "--agents is no JSON");
  }
  const parsed = parseAgents(value, "--agents");
  const [unknown] = parsed.agents.flatMap(unknownToolsOf);
  if (unknown !== undefined) throw new RuntimeError("usage", unknown);
  return parsed;
}

/** JSON on the command line, or a file that holds it. */
export function readJson(text: string, flag: string): unknown {
  const isInline = text.trim().startsWith("{");
  try {
    return JSON.parse(isInline ? text : readTextFile(text, flag));
  } catch (error) {
    if (error instanceof RuntimeError) throw new RuntimeError("config", `${flag}: ${text} cannot be read`);
    throw new RuntimeError("config", `${isInline ? flag : text} is not valid JSON`);
  }
}

export function readSchema(text: string): JsonObject {
  const source = text.trim().startsWith("{") ? text : readTextFile(text, "--json-schema");
  try {
    return JSON.parse(source) as JsonObject; // what it holds is checked by the session before anything is asked
  } catch (error) {
    throw new RuntimeError("usage", `--json-schema is no JSON: ${error instanceof Error ? error.message : error}`);
  }
}
