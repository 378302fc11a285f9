import { RuntimeError } from "@outrider/runtime";
import { createRedactor } from "@outrider/runtime/host";
import { exitCodes } from "../../exit-codes.ts";
import { takeOwnWords } from "../../flags/words.ts";
import { print } from "../../terminal/visible.ts";
import { openServer, parseServeFlags, serveSwitches, serveValues } from "./open-server.ts";

const usage = `Usage:
  outrider serve [FLAG…]             a server that hosts many sessions for other programs, on 127.0.0.1
  outrider serve token …             tokens for others: outrider serve token --help

  --port N                           the port; a free one when absent
  --socket PATH                      a Unix socket instead, which only you can reach
  --root DIR                         sessions work in this folder and below; may be repeated; the current one when absent
  --permission-wait TIME             how long a permission question waits while nobody is connected who may answer (60s); then: no
  --drain TIME                       how long a signal waits for prompts at work (10s); a second one does not
  --max-sessions N                   how many may be open at once (1000)
  --acp                              also an agent for ACP clients at /acp, over WebSocket, for your own token (docs/acp.md)
  --idle TIME                        a session that nobody uses is closed after this long (10m), and opened when somebody does

Beyond this machine:
  --host ADDRESS                     listen there; needs --allow-host, and TLS in one of two ways:
  --tls-cert FILE, --tls-key FILE    its own
  --behind-proxy                     that of something in front of it
  --allow-host NAME[:PORT]           a name by which clients call it; may be repeated
  --allow-origin URL                 web pages of this origin may call it; may be repeated; none may when absent

Flags of a run hold for every session (--model, --provider, --permission-mode, --allowedTools, --sandbox, --settings …: outrider --help).
Who comes in needs a token. Yours is made at the first start and kept in $OUTRIDER_HOME/server/token, for you alone.
A browser finds a page at the same address: docs/page.md.
The addresses and what they take: GET /openapi.json, and docs/server.md. MCP clients: /mcp; OpenAI's, useChat, AG-UI, A2A: docs/dialects.md.
`;

/** `outrider serve`: many sessions in one process, over HTTP. */
export async function runServe(args: readonly string[]): Promise<number> {
  if (args[0] === "token") return await (await import("./tokens.ts")).runTokens(args.slice(1));
  const words = takeOwnWords(args, { switches: [...serveSwitches, "--help", "-h"], values: serveValues });
  if (words.has("--help") || words.has("-h")) {
    await print(usage);
    return exitCodes.success;
  }
  const flags = parseServeFlags(words, usage);
  const redactor = createRedactor({ env: process.env });
  const warn = (line: string): void => void process.stderr.write(`outrider: ${redactor.text(line)}\n`);
  const stopping = watchStop();
  const server = await openServer(flags, warn);
  try {
    const shown =
      server.newToken === undefined ? "" : `Your token, shown this once and kept in ${server.tokenPath}:\n${server.newToken}\n`;
    await print(`${shown}Outrider listens on ${server.url}\n`);
    await stopping.first;
    warn("Ending: no new prompts; a second signal does not wait for those at work");
    await Promise.race([server.close({ drainMs: flags.drainMs }), stopping.second.then(() => server.close())]);
    return exitCodes.success;
  } finally {
    server.forget();
    // Whatever a tool or a server of a session keeps must not keep a process alive that nobody can talk to.
    setImmediate(() => process.exit());
  }
}

/** The first signal asks it to end, the second not to wait; a third ends it. */
function watchStop(): { readonly first: Promise<void>; readonly second: Promise<void> } {
  let count = 0;
  const resolves: (() => void)[] = [];
  const [first, second] = [0, 1].map(
    (index) =>
      new Promise<void>((resolve) => {
        resolves[index] = resolve;
      }),
  );
  const signals: NodeJS.Signals[] = ["SIGINT", "SIGTERM", "SIGHUP"];
  for (const signal of signals)
    process.on(signal, () => {
      resolves[count]?.();
      if (++count > 2) process.exit(exitCodes.killed);
    });
  if (!first || !second) throw new RuntimeError("internal", "There are two");
  return { first, second };
}
