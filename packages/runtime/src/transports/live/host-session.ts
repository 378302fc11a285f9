import { answerPermissionQuestions } from "../../hosting/permission-answers.ts";
import type { JsonObject, JsonValue } from "../../protocol/content.ts";
import type { AgentEvent } from "../../protocol/events.ts";
import type { CancelCause } from "../../protocol/outcome.ts";
import type { InteractiveSession } from "../../session/interactive-session.ts";
import { SessionWriter } from "../session-writer.ts";
import { askHost } from "./ask-host.ts";
import type { ControlChannel } from "./control-channel.ts";
import { HostMcpTransport } from "./host-mcp-transport.ts";
import type { HostNotices } from "./host-notices.ts";
import { toPerson } from "./host-person.ts";
import type { HostRequests } from "./host-requests.ts";
import { createHostTools } from "./host-tools.ts";
import type { HostTurns } from "./host-turns.ts";
import { toElicitation } from "./live-frames.ts";
import type { LiveOptions, LiveSession } from "./live-options.ts";

export type OpenedSession = LiveSession & { readonly writer: SessionWriter };

type HostSessionOptions = Pick<LiveOptions, "open" | "output" | "warn" | "previewFormat"> & {
  readonly channel: ControlChannel;
  readonly requests: HostRequests;
  readonly notices: HostNotices;
  readonly turns: HostTurns;
  readonly send: (frame: JsonObject) => void;
  /** The host is told that another mode counts now. */
  readonly told: (permissionMode: string) => void;
  readonly write: (live: LiveSession, event: AgentEvent) => Promise<void>;
};

/** The one session of a host: opened when the first prompt or request needs it, and able to reach what the host offers. */
export class HostSession {
  readonly #options: HostSessionOptions;
  readonly #hostServers = new Map<string, HostMcpTransport>();
  #opening: Promise<OpenedSession> | undefined;
  #opened: OpenedSession | undefined;
  #stopped: CancelCause | undefined;

  constructor(options: HostSessionOptions) {
    this.#options = options;
  }

  /** It is there, or on its way. */
  get begun(): Promise<OpenedSession> | undefined {
    return this.#opening;
  }

  get opened(): OpenedSession | undefined {
    return this.#opened;
  }

  open(): Promise<OpenedSession> {
    this.#opening ??= this.#open();
    return this.#opening;
  }

  async session(): Promise<InteractiveSession> {
    return (await this.open()).session;
  }

  /** Also one that is not there yet. */
  stop(cause: CancelCause): void {
    this.#stopped = cause;
    this.#opened?.session.abort(cause);
  }

  hostServerSays(server: string, message: JsonValue | undefined): void {
    this.#hostServers.get(server)?.receive(message);
  }

  async #open(): Promise<OpenedSession> {
    const { channel, requests, turns, open, output, write, send, previewFormat } = this.#options;
    const live = await open(requests.setup, {
      hostTransport: (server) => this.#hostTransport(server),
      hostTools: () => createHostTools(toPerson({ ...this.#options, session: () => this.session() }), previewFormat),
      mirror: (filePath, entries) => send({ type: "transcript_mirror", filePath, entries }),
      ...(requests.isInitialized && {
        elicit: (server, request, signal) => channel.ask(toElicitation(server, request), signal),
      }),
    });
    const { session } = live;
    const writer = new SessionWriter(session, (event) => write(live, event));
    session.on("thinking", (isThinking) => (isThinking ? turns.expect() : undefined));
    output.onClosed(() => session.abort("output-closed"));
    this.#answerQuestions(live);
    if (this.#stopped) session.abort(this.#stopped);
    this.#opened = { ...live, writer };
    return this.#opened;
  }

  #answerQuestions({ session, permissions, mcp }: LiveSession): void {
    const { channel, notices, turns, warn, told } = this.#options;
    const root = async (): Promise<string> => (await session.controls()).facts.cwd;
    const answerer = permissions === "host" ? askHost(channel, { mcp, root }) : permissions;
    if (answerer)
      answerPermissionQuestions(session, { answerer: notices.watch(answerer), turn: () => turns.signal, warn, changed: told });
  }

  #hostTransport(server: string): HostMcpTransport {
    const transport = new HostMcpTransport(server, this.#options.channel);
    this.#hostServers.set(server, transport);
    return transport;
  }
}
