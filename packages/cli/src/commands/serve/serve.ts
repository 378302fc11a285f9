import { RuntimeError } from "@outrider/runtime";
import { createRedactor } from "@outrider/runtime/host";
import { exitCodes } from "../../exit-codes.ts";
import { takeOwnWords } from "../../flags/words.ts";
import { print } from "../../terminal/visible.ts";
import { openServer, parseServeFlags, serveSwitches, serveValues } from "./open-server.ts";

const usage = `Usage:
  outrider serve [FLAG…]             serve many sessions to other programs, on 127.0.0.1
  outrider serve token …             manage tokens for others: outrider serve token --help

  --port N                           the port; by default a free one
  --socket PATH                      use a Unix socket that only you can reach
  --root DIR                         let sessions work in this folder and below; may be repeated; by default the current one
  --permission-wait TIME             deny a permission question after this time without anyone connected who may answer (60s)
  --drain TIME                       how long a signal waits for running prompts (10s); a second signal does not wait
  --max-sessions N                   how many sessions may be open at once (1000)
  --acp                              also serve ACP clients at /acp, over WebSocket, for your own token (docs/acp.md)
  --idle TIME                        close unused sessions after this time (10m); they open again when used

Beyond this machine:
  --host ADDRESS                     listen on this address; needs --allow-host, and TLS in one of two ways:
  --tls-cert FILE, --tls-key FILE    by the server itself
  --behind-proxy                     by a proxy in front of it
  --allow-host NAME[:PORT]           a name that clients use for this server; may be repeated
  --allow-origin URL                 let web pages of this origin call it; may be repeated; by default none may

Flags of a run apply to every session (--model, --provider, --permission-mode, --allowedTools, --sandbox, --settings …: outrider --help).
Clients need a token. Yours is created at the first start and kept in $OUTRIDER_HOME/server/token, readable only by you.
Open the same address in a browser for a web page: docs/page.md.
Endpoints: GET /openapi.json, and docs/server.md. MCP clients: /mcp; OpenAI's, useChat, AG-UI, A2A: docs/dialects.md.
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
