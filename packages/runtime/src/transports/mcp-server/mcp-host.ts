import { randomUuid } from "../../util/unique-ids.ts";
import { isAbsolute } from "node:path";
import { realpath, stat } from "node:fs/promises";
import type { CommandSummary } from "../../commands/command.ts";
import { toOptions } from "../../hosting/open-session.ts";
import type { SessionPlan } from "../../hosting/plan-session.ts";
import type { HeldSession, HostedSummary, SessionHost } from "../../hosting/session-host.ts";
import type { SessionRequest } from "../../hosting/session-request.ts";
import type { SessionStore } from "../../journal/store.ts";
import { RuntimeError } from "../../protocol/errors.ts";
import { listCommands } from "../../session/prompts/session-commands.ts";
import { isInside } from "../../util/is-inside.ts";
import { defined } from "../../util/defined.ts";

/** What a client asks of a new session. It may make it stricter than the host's settings, never looser. */
export type McpWish = {
  readonly cwd?: string | undefined;
  readonly model?: string | undefined;
  /** Nothing may be changed: mode `plan`. */
  readonly readOnly?: boolean | undefined;
};

/** Where the sessions of an MCP server come from. */
export interface McpHost {
  readonly version: string;
  readonly store: Pick<SessionStore, "has" | "read"> | undefined;
  /** `false`: questions about permissions are for others, who answer them elsewhere. They are asked of the client when absent. */
  readonly mayAnswer?: boolean | undefined;
  /** `false`: an answer is remembered for the session at most, not for the project. */
  readonly mayRemember?: boolean | undefined;
  create(wish: McpWish): Promise<HeldSession>;
  /** One that is open, or stored. Rejects with `not-found`. */
  open(sessionId: string): Promise<HeldSession>;
  /** The same for whoever gives it no prompt; as `open` when absent. */
  look?(sessionId: string): Promise<HeldSession>;
  list(): Promise<readonly HostedSummary[]>;
  /** What a prompt that begins with a slash may start, in the folder of the server. */
  commands(): Promise<readonly CommandSummary[]>;
}

export type McpHostOptions = {
  readonly host: SessionHost;
  readonly version: string;
  /** The folder of a session where the client names none. */
  readonly cwd: string;
  /** Folders in which sessions may work; `cwd` when absent. */
  readonly roots?: readonly string[] | undefined;
  /** How sessions are planned; as the host does it when absent. */
  readonly plan?: ((wanted: SessionRequest) => Promise<SessionPlan>) | undefined;
  readonly warn?: ((line: string) => void) | undefined;
};

export function createMcpHost(options: McpHostOptions): McpHost {
  const { host, cwd, roots = [cwd], warn = () => {} } = options;
  const plan = options.plan ?? ((wanted) => host.plan(wanted as Parameters<SessionHost["plan"]>[0])); // a request is one of a host, too
  const opened = new Set<string>();
  const start = async (wanted: SessionRequest, readOnly = false): Promise<HeldSession> => {
    const planned = await plan(wanted);
    await planned.begin();
    const more = { wakes: false, ...(readOnly && { permissionMode: "plan" as const }) };
    const held = await host.openPlan(planned, { answers: "host", options: more });
    opened.add(held.id);
    return held;
  };
  return {
    version: options.version,
    store: host.store,
    list: () => host.list(),
    async create({ cwd: wanted = cwd, model, readOnly }) {
      const folder = await allowedFolder(wanted, roots);
      return await start({ cwd: folder, session: { type: "new", id: randomUuid() }, ...defined({ model }) }, readOnly);
    },
    async open(id) {
      if (opened.has(id)) return await host.open(id);
      const summary = (await host.store?.summaries())?.find((stored) => stored.id === id);
      if (!summary) throw new RuntimeError("not-found", `There is no session ${id}`);
      const folder = await allowedFolder(summary.cwd, roots);
      try {
        return await start({ cwd: folder, session: { type: "resume", id } });
      } catch (error) {
        if (error instanceof RuntimeError && error.code === "busy") return await host.open(id); // another front end of this process has it
        throw error;
      }
    },
    async commands() {
      return listCommands(await toOptions(await plan({ cwd }), { warn }));
    },
  };
}

async function allowedFolder(folder: string, roots: readonly string[]): Promise<string> {
  if (!isAbsolute(folder)) throw new RuntimeError("usage", `cwd must be an absolute path, not ${JSON.stringify(folder)}`);
  const real = await realpath(folder).catch(() => undefined);
  if (real === undefined || !(await stat(real)).isDirectory()) throw new RuntimeError("usage", `cwd: ${folder} is no directory`);
  for (const root of roots) if (isInside(await realpath(root), real)) return real;
  throw new RuntimeError("usage", `Sessions may work in ${roots.join(", ")} and below, not in ${folder}`, {
    hint: "Start the server in the folder, or allow it with --add-dir",
  });
}
