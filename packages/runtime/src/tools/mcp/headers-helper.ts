import { isJsonObject } from "../../protocol/content.ts";
import { randomUuid } from "../../util/unique-ids.ts";
import { guardProcesses, ownMark } from "../../workspace/process-guard.ts";
import { endProcesses, killAtExit } from "../../workspace/process-sweep.ts";
import type { ReachOptions } from "./reach-options.ts";

const timeoutMs = 10_000;
const maxOutput = 64 * 1024;
const maxWords = 500;

type HelperPlace = Pick<ReachOptions, "cwd" | "env"> & { readonly name: string; readonly url: string };

/**
 * The headers that a command prints, as `{"Authorization": "Bearer …"}`. It runs as a server that is a program would: in the session's folder
 * and with its variables. What it prints is no part of an error: it may hold a key.
 */
export async function askHeadersHelper(command: string, place: HelperPlace): Promise<Record<string, string>> {
  const output = await outputOf(command, place);
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

async function outputOf(command: string, { cwd, env, name, url }: HelperPlace): Promise<string> {
  const mark = `${ownMark()}.headers-${randomUuid()};`;
  const guarded = await guardProcesses();
  const child = process.getBuiltinModule("node:child_process").spawn("sh", ["-c", command], {
    cwd,
    env: {
      ...env,
      ...{ CLAUDE_CODE_MCP_SERVER_NAME: name, CLAUDE_CODE_MCP_SERVER_URL: url },
      OUTRIDER_PROCESS_SCOPE: `${env["OUTRIDER_PROCESS_SCOPE"] ?? ""}${mark}`,
    },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true, // a group of its own, so that all of it can be ended
  });
  const forget = killAtExit(() => ({ mark, group: child.pid }));
  const output = { stdout: "", stderr: "" };
  for (const stream of ["stdout", "stderr"] as const)
    child[stream].setEncoding("utf8").on("data", (text: string) => {
      output[stream] = (output[stream] + text).slice(0, maxOutput);
    });
  let timer: NodeJS.Timeout | undefined;
  try {
    const problem = await new Promise<string | undefined>((resolve) => {
      timer = setTimeout(() => resolve(`did not end within ${timeoutMs / 1000} s`), timeoutMs);
      child.once("error", (error) => resolve(`could not be started: ${error.message}`));
      child.once("close", (code, signal) => resolve(code === 0 ? undefined : `ended with ${signal ?? `exit code ${code}`}`));
    });
    if (problem === undefined) return output.stdout;
    const said = output.stderr.trim().slice(0, maxWords);
    throw new Error(`the headersHelper ${problem}${said === "" ? "" : ` and said: ${said}`}`);
  } finally {
    clearTimeout(timer);
    await endProcesses({ mark, group: child.pid, limit: guarded.limitIfLast() });
    forget();
    guarded.release();
    child.stdout.destroy();
    child.stderr.destroy();
  }
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
