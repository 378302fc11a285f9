import { isJsonObject } from "../../protocol/content.ts";
import { outputOfHelper } from "../../workspace/helper-program.ts";
import type { ReachOptions } from "./reach-options.ts";

const timeoutMs = 10_000;

type HelperPlace = Pick<ReachOptions, "cwd" | "env"> & { readonly name: string; readonly url: string };

/**
 * The headers that a command prints, as `{"Authorization": "Bearer …"}`. It runs as a server that is a program would: in the session's folder
 * and with its variables. What it prints is no part of an error: it may hold a key.
 */
export async function askHeadersHelper(command: string, place: HelperPlace): Promise<Record<string, string>> {
  const { cwd, name, url } = place;
  const env = { ...place.env, CLAUDE_CODE_MCP_SERVER_NAME: name, CLAUDE_CODE_MCP_SERVER_URL: url };
  const output = await outputOfHelper(command, { cwd, env, timeoutMs, name: "headersHelper" });
  const headers = parse(output);
  if (!headers) throw new Error('the headersHelper must print an object of texts, such as {"Authorization": "Bearer …"}');
  for (const [name, value] of Object.entries(headers)) {
    try {
      new Headers({ [name]: value });
    } catch {
      throw new Error(`the headersHelper printed a header ${JSON.stringify(name)} that cannot be sent`);
    }
  }
  return headers;
}

function parse(text: string): Record<string, string> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (!isJsonObject(value)) return undefined;
    const pairs = Object.entries(value).flatMap(([name, header]): [string, string][] =>
      typeof header === "string" ? [[name, header]] : [],
    );
    return pairs.length === Object.keys(value).length ? Object.fromEntries(pairs) : undefined;
  } catch {
    return undefined;
  }
}
