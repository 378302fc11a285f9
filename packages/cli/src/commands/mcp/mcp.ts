import { RuntimeError } from "@outrider/runtime";
import { nearest } from "@outrider/runtime/host";
import { exitCodes } from "../../exit-codes.ts";
import { print } from "../../terminal/visible.ts";

const usage = `Usage:
  outrider mcp add NAME COMMAND [ARG…] [--scope user|project|local] [--env NAME=VALUE]… [--force]
                                          add a server that is a program; put the program's own flags after --
  outrider mcp add NAME URL [--transport http|sse] [--header "NAME: VALUE"]… [--scope …] [--force]
                                          add a server on the network; if you have a registered client: --client-id ID,
                                          --client-secret '\${NAME}', --callback-port PORT, --scopes "A B"
  outrider mcp add-json NAME JSON [--scope …] [--force]
                                          add a server in the format of .mcp.json
  outrider mcp list [--json]              list the servers of a run here, and where they are configured
  outrider mcp get NAME [--json]          show one of them
  outrider mcp remove NAME [--scope …]    remove one from its file
  outrider mcp login NAME [--scopes "A B"] [--no-browser]
                                          log in to a server in a browser; later runs use the login
  outrider mcp logout NAME                forget that login
  outrider mcp test [NAME…] [--json]      start servers, list their tools, and stop them; exit code 1 if one does not answer
  outrider mcp serve [FLAG…]              run Outrider as an MCP server on stdin and stdout, whose tools run agents; flags as for
                                          outrider -p (--model, --allowedTools, --permission-mode …), see docs/mcp-server.md

--scope user (the default) is $OUTRIDER_HOME/settings.json, project is .mcp.json for everyone who has the project,
local is .outrider/settings.local.json. A project's servers start when it is trusted: outrider trust.
\${NAME} in a value stands for a variable, so that keys stay out of files. --cwd DIR uses another folder.
`;

const actions: Readonly<Record<string, (args: readonly string[]) => Promise<number>>> = {
  add: async (args) => (await import("./add-server.ts")).addServer(args, usage),
  "add-json": async (args) => (await import("./add-server.ts")).addServerJson(args, usage),
  list: async (args) => (await import("./show-servers.ts")).listServers(args, usage),
  get: async (args) => (await import("./show-servers.ts")).getServer(args, usage),
  remove: async (args) => (await import("./add-server.ts")).removeServer(args, usage),
  login: async (args) => (await import("./log-in.ts")).loginServer(args, usage),
  logout: async (args) => (await import("./log-in.ts")).logoutServer(args, usage),
  serve: async (args) => (await import("./serve.ts")).serveMcp(args, usage),
  test: async (args) => (await import("./test-servers.ts")).testServers(args, usage),
};

/** Actions of Claude Code's: what to do instead. */
const foreign: Readonly<Record<string, string>> = {
  "add-from-claude-desktop": "Each entry of its configuration is taken as it is by outrider mcp add-json NAME JSON",
  "reset-project-choices": "A project's servers start when it is trusted; outrider trust --revoke takes that back",
};

/** MCP servers: who is known, how to add one, whether it works. */
export async function runMcp(args: readonly string[]): Promise<number> {
  const [action = "list", ...rest] = args;
  const own = args.includes("--") ? args.slice(0, args.indexOf("--")) : args;
  if (own.includes("--help") || own.includes("-h")) {
    await print(usage);
    return exitCodes.success;
  }
  const run = Object.hasOwn(actions, action) ? actions[action] : undefined;
  if (run) return await run(rest);
  const hint = Object.hasOwn(foreign, action) ? foreign[action] : undefined;
  if (hint !== undefined) throw new RuntimeError("usage", `mcp has no action ${action}`, { hint });
  const guess = nearest(action, Object.keys(actions));
  throw new RuntimeError(
    "usage",
    `mcp has no action ${JSON.stringify(action)}${guess ? `; did you mean ${guess}?` : ""}\n${usage}`,
  );
}
