import type { CompletedOptions, Completing } from "../session/complete-options.ts";
import type { SessionOptions } from "../session/session-options.ts";
import type { JsonValue } from "../protocol/content.ts";
import type { SchemaSource } from "../tools/standard-schema.ts";
import { randomUuid } from "../util/unique-ids.ts";
import { checkSessionOptions } from "./check-options.ts";
import { CheckedSession } from "./checked-session.ts";
import { type GivenServers, toServerFiles } from "./given-servers.ts";
import { beginServers, toOptions } from "./open-session.ts";
import { planSession } from "./plan-session.ts";
import type { SessionChoice, SessionRequest } from "./session-request.ts";
import { surroundingsOf } from "./surroundings.ts";

type Loading = Pick<
  SessionRequest,
  "bare" | "without" | "settings" | "settingSources" | "trustProject" | "sandboxMode" | "requireServers" | "mainAgent" | "plugins"
>;

/** How a program opens a session: what it wants of it, and what of the folder and the user's own files counts. */
export type InteractiveSessionOptions<Structured = JsonValue> = Omit<
  SessionOptions,
  "settingSources" | "projectTrust" | "ignoredSettings" | "outputSchema" | "worktree" | "loadedPlugins"
> &
  Loading & {
    /**
     * What the final answer must fit: JSON Schema (draft 7 or 2020-12), or a schema of zod or another library that keeps to Standard Schema,
     * which then judges it. The outcome holds the answer as `structured`, as the schema makes it.
     */
    readonly outputSchema?: SchemaSource<Structured> | undefined;
    /** With `resumeSessionId`: goes on in a copy under a new id, or under `sessionId`; the original stays as it is. */
    readonly forkSession?: boolean | undefined;
    /** MCP servers by name, as `.mcp.json` has them; or a list of such files, each with where it was written. */
    readonly mcpServers?: GivenServers | undefined;
    /** Where the user's settings, trust and checkpoints are; `OUTRIDER_HOME`, else `~/.outrider`. */
    readonly outriderHome?: string | undefined;
  };

/**
 * A conversation with one agent. Opened, it holds what the command's would hold: settings, rules, instructions, agents, hooks of trusted
 * projects, MCP servers and checkpoints of its folder and its user. With `bare` no file counts: it holds what its options say.
 */
export class InteractiveSession<Structured = JsonValue> extends CheckedSession<Structured> {
  constructor(options: InteractiveSessionOptions<Structured>) {
    checkSessionOptions(options);
    const { bare, without, settings, settingSources, trustProject, sandboxMode, mcpServers, requireServers, mainAgent, ...rest } =
      options;
    const { plugins, forkSession, outriderHome, ...own } = rest;
    const from = forkSession ? own.resumeSessionId : undefined;
    const id = from === undefined ? undefined : (own.sessionId ?? randomUuid());
    const isStored = own.sessionStore !== undefined || own.overflowDirectory !== undefined;
    const loading = {
      ...{ bare, without, settings, settingSources, trustProject, sandboxMode, requireServers, mainAgent, plugins },
      mcpServers: toServerFiles(mcpServers),
    };
    super(id === undefined ? own : { ...own, sessionId: undefined, resumeSessionId: id }, (given, completing) =>
      load(given, { ...completing, loading, outriderHome, from, isStored }),
    );
  }
}

type Load = Completing & {
  readonly loading: Loading & Pick<SessionRequest, "mcpServers">;
  readonly outriderHome: string | undefined;
  /** The session that is copied. */
  readonly from: string | undefined;
  /** Outputs that are too long for the model are kept with the journal; where there is none, they go with the session. */
  readonly isStored: boolean;
};

async function load(
  given: SessionOptions,
  { loading, outriderHome, from, session, leaving, isStored }: Load,
): Promise<CompletedOptions> {
  const { cwd, provider, model, sessionId, resumeSessionId, resumeAt, ...options } = given;
  const here = surroundingsOf();
  const own = given.home === undefined ? {} : { userHome: given.home, claudeHome: undefined };
  const around = { ...here, ...own, outriderHome: outriderHome ?? here.outriderHome };
  const heard: string[] = [];
  const warn = (line: string): void => void heard.push(line);
  const plan = await planSession(
    { ...loading, cwd, provider, model, session: choiceOf({ sessionId, resumeSessionId, resumeAt }, from), options },
    { around, warn },
  );
  await plan.begin();
  const servers = beginServers(plan, { warn, giveUp: leaving });
  servers.offerTo(session);
  try {
    const mcp = await servers.connected;
    const complete = await toOptions(plan, { warn, options: model === undefined ? {} : { model }, mcp });
    return {
      options: {
        ...complete,
        overflowDirectory: isStored ? complete.overflowDirectory : undefined,
        warnings: [...(complete.warnings ?? []), ...heard],
      },
      close: () => servers.close(),
    };
  } catch (error) {
    await servers.close();
    throw error;
  }
}

type Chosen = Pick<SessionOptions, "sessionId" | "resumeSessionId" | "resumeAt">;

function choiceOf({ sessionId, resumeSessionId, resumeAt: at }: Chosen, from: string | undefined): SessionChoice {
  if (resumeSessionId === undefined) return { type: "new", id: sessionId };
  return from === undefined ? { type: "resume", id: resumeSessionId, at } : { type: "fork", from, id: resumeSessionId, at };
}
