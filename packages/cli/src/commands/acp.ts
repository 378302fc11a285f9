import { RuntimeError } from "@outrider/runtime";
import { createRedactor, LineOutput } from "@outrider/runtime/host";
import { createAcpHost } from "../run/acp-host.ts";
import { atMost, graceMs, openAcpStream } from "../run/acp-stream.ts";
import { type Arguments, parseArguments } from "../flags/args.ts";
import { exitCodes } from "../exit-codes.ts";
import type { FlagName } from "../flags/flags.ts";
import { serveAcp } from "../run/serve-acp.ts";
import { watchSignals } from "../run/signals.ts";

const usage = `Usage:
  outrider acp [FLAG…]        an agent for editors and other ACP clients, on stdin and stdout

Speaks the Agent Client Protocol, version 1: a client starts this command, opens sessions in folders of its choice,
and answers permission questions. Flags apply to every session; settings, trust and the sandbox are those of each folder.

  --model MODEL, --provider NAME        the initial model; clients may choose another
  --permission-mode MODE                the initial mode: default, acceptEdits, plan, dontAsk, sandboxed
  --allow-dangerously-skip-permissions  also offer the mode bypassPermissions
  --allow PRESET, --allowedTools RULE…, --disallowedTools RULE…, --sandbox MODE, --max-turns N, --max-budget-usd USD, --mcp-config FILE,
  --settings FILE, --append-system-prompt TEXT, --no-session-persistence and more: as in outrider --help

Zed, in settings.json:
  "agent_servers": { "Outrider": { "command": "outrider", "args": ["acp"], "env": {} } }

More in docs/acp.md.
`;

/** `outrider acp`: editors and other clients drive sessions over the Agent Client Protocol. */
export async function runAcp(words: readonly string[]): Promise<number> {
  const args = parseArguments(words);
  if (args.flags.help) {
    process.stdout.write(usage);
    return exitCodes.success;
  }
  checkArguments(args);
  const signals = watchSignals(exitCodes.cancelled);
  const output = new LineOutput(process.stdout, { descriptor: process.stdout.fd });
  let stopped = false;
  try {
    const redactor = createRedactor({ env: process.env });
    const warn = (line: string): void => void process.stderr.write(`outrider: ${redactor.text(line)}\n`);
    if (process.stdin.isTTY)
      warn("acp is for programs, and waits for one on stdin; outrider acp --help says how editors start it");
    const { connection, agent } = serveAcp({
      ...{ host: createAcpHost(args.flags, warn) },
      openStream: (ended) => openAcpStream(process.stdin, output, ended),
    });
    output.onClosed(() => connection.close());
    signals.stop = () => {
      stopped = true;
      void atMost(
        graceMs,
        agent.close("signal").then(() => output.drain()),
      ).finally(() => connection.close());
    };
    await connection.closed;
    await agent.close();
    await atMost(graceMs, output.drain());
    if (stopped) return signals.insisted ? exitCodes.killed : exitCodes.cancelled;
    return output.failure ? exitCodes.error : exitCodes.success;
  } finally {
    signals.settle();
    // Whatever a tool, a server or an open stdin keeps must not keep an agent alive that nobody talks to.
    setImmediate(() => process.exit());
  }
}

/** Flags that are about one prompt, one session or another protocol. */
const elsewhere: Readonly<Partial<Record<FlagName, string>>> = {
  print: "clients send the prompts",
  "input-format": "clients speak ACP",
  "output-format": "clients are told what happens over ACP",
  flavor: "clients are told what happens over ACP",
  "replay-user-messages": "clients are told what happens over ACP",
  "include-partial-messages": "clients are told what happens over ACP",
  "include-hook-events": "clients are told what happens over ACP",
  "forward-subagent-text": "clients are told what happens over ACP",
  "await-initialize": "clients speak ACP",
  "json-schema": "clients have no place for a structured answer",
  cwd: "clients name the folder of each session",
  resume: "clients load sessions with session/load",
  continue: "clients load sessions with session/load",
  "fork-session": "clients load sessions with session/load",
  "resume-session-at": "clients load sessions with session/load",
  "session-id": "there may be several sessions",
  name: "there may be several sessions",
  trajectory: "there may be several sessions; outrider trajectory export writes one of a stored session",
  "atif-version": "there may be several sessions; outrider trajectory export writes one of a stored session",
  "load-trajectory": "there may be several sessions",
  record: "there may be several sessions",
  "permission-prompt-tool": "clients are asked for permission",
  deadline: "clients cancel prompts with session/cancel",
};

function checkArguments({ flags, positionals }: Arguments): void {
  const [word] = positionals;
  if (word !== undefined) throw new RuntimeError("usage", `acp does not take ${JSON.stringify(word)}\n${usage}`);
  for (const [name, reason] of Object.entries(elsewhere))
    if (Object.hasOwn(flags, name)) throw new RuntimeError("usage", `--${name} cannot be used with acp: ${reason}`);
}
