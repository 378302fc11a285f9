import { RuntimeError, SessionHost, type SessionRequest } from "@outrider/runtime";
import { createRedactor } from "@outrider/runtime/host";
import { createMcpHost, serveMcpStdio } from "@outrider/runtime/mcp-server";
import { exitCodes } from "../../exit-codes.ts";
import { parseArguments } from "../../flags/args.ts";
import type { FlagName } from "../../flags/flags.ts";
import { planRun, surroundings } from "../../request/plan-run.ts";
import { atMost, graceMs } from "../../run/acp-stream.ts";
import { watchSignals } from "../../run/signals.ts";

declare const OUTRIDER_VERSION: string;

/** `outrider mcp serve`: clients of the Model Context Protocol run agents, over stdin and stdout. */
export async function serveMcp(words: readonly string[], usage: string): Promise<number> {
  const { flags, positionals } = parseArguments(words);
  const [word] = positionals;
  if (word !== undefined) throw new RuntimeError("usage", `mcp serve does not take ${JSON.stringify(word)}\n${usage}`);
  for (const name of elsewhere)
    if (Object.hasOwn(flags, name))
      throw new RuntimeError("usage", `--${name} cannot be used with mcp serve: clients send the prompts`);
  const redactor = createRedactor({ env: process.env });
  const warn = (line: string): void => void process.stderr.write(`outrider: ${redactor.text(line)}\n`);
  const host = new SessionHost({ around: surroundings(), warn, defaults: { persistent: !flags["no-session-persistence"] } });
  const cwd = flags.cwd ?? process.cwd();
  const signals = watchSignals(exitCodes.cancelled);
  if (process.stdin.isTTY)
    warn("mcp serve is for programs, and waits for one on stdin; docs/mcp-server.md says how clients start it");
  try {
    const serving = serveMcpStdio(
      createMcpHost({
        ...{ host, cwd, warn, version: OUTRIDER_VERSION, roots: [cwd, ...(flags["add-dir"] ?? [])] },
        plan: (wanted) => planRun(flags, warn, (request) => host.plan(withWanted(request, wanted))),
      }),
      { input: process.stdin, output: process.stdout, warn },
    );
    const stopped = new Promise<"stopped">((resolve) => {
      signals.stop = () => resolve("stopped");
    });
    const ending = await Promise.race([serving, stopped]);
    await atMost(endMs, host.shutdown());
    return ending === "stopped" ? exitCodes.cancelled : exitCodes.success;
  } finally {
    signals.settle();
    setImmediate(() => process.exit());
  }
}

/** Tools get time to end, and hooks to hear of it. */
const endMs = 10 * graceMs;

/** The flags hold for every session, and the client says what is special about this one. */
function withWanted(request: SessionRequest, { model = request.model, ...wanted }: SessionRequest): SessionRequest {
  return { ...request, ...wanted, model };
}

/** Flags that are about one prompt, one session or another output. */
const elsewhere: readonly FlagName[] = [
  "print",
  "input-format",
  "output-format",
  "flavor",
  "json-schema",
  "resume",
  "continue",
  "fork-session",
  "session-id",
  "name",
  "trajectory",
  "record",
  "permission-prompt-tool",
  "deadline",
];
