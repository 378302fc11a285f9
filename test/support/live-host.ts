import { PassThrough } from "node:stream";
import type { JsonObject, UserMessage } from "../../packages/runtime/src/protocol/content.ts";
import type { Outcome } from "../../packages/runtime/src/protocol/outcome.ts";
import { createScriptedProvider, type ScriptStep } from "../../packages/runtime/src/model/scripted.ts";
import type { ModelRequest } from "../../packages/runtime/src/model/model.ts";
import { InteractiveSession } from "../../packages/runtime/src/session/interactive-session.ts";
import type { SessionOptions } from "../../packages/runtime/src/session/session-options.ts";
import { McpServers } from "../../packages/runtime/src/tools/mcp/mcp-servers.ts";
import { parseMcpServers } from "../../packages/runtime/src/tools/mcp/server-config.ts";
import { createIdSeries, randomUuid } from "../../packages/runtime/src/util/unique-ids.ts";
import { createClaudeFormat, loadPartialMessages } from "../../packages/runtime/src/transports/headless/claude-format.ts";
import { LineOutput } from "../../packages/runtime/src/transports/headless/line-output.ts";
import type { LiveOptions, LiveRun } from "../../packages/runtime/src/transports/live/live-options.ts";
import { runLive } from "../../packages/runtime/src/transports/live/run-live.ts";
import type { PermissionAnswerer } from "../../packages/runtime/src/hosting/permission-answers.ts";

export type HostOptions = {
  readonly cwd: string;
  readonly replies: readonly ScriptStep[];
  readonly deltaDelayMs?: number;
  /** The session opens no earlier. */
  readonly opening?: Promise<void>;
  readonly session?: Partial<SessionOptions>;
  readonly permissions?: "host" | PermissionAnswerer;
  readonly live?: Partial<LiveOptions>;
};

/** A host for tests: real streams on both sides, a session with a scripted model between them. */
export class LiveHost {
  readonly input: PassThrough = new PassThrough();
  readonly stdout: PassThrough;
  readonly frames: JsonObject[] = [];
  readonly warnings: string[] = [];
  readonly run: LiveRun;
  readonly requests: readonly ModelRequest[];
  opened = 0;
  #session: InteractiveSession | undefined;
  #seen: () => void = () => {};

  constructor({ cwd, replies, deltaDelayMs = 1, opening, session, permissions, live }: HostOptions) {
    const provider = createScriptedProvider(replies, { deltaDelayMs });
    this.requests = provider.requests;
    this.stdout = new PassThrough({ highWaterMark: 16 * 1024 });
    this.#read();
    const sessionId = randomUuid();
    const ids = { sessionId, newId: createIdSeries() };
    this.run = runLive({
      input: this.input,
      output: new LineOutput(this.stdout),
      ...ids,
      early: createClaudeFormat("stream-json", ids),
      open: async (setup, { hostTransport, elicit, hostTools }) => {
        this.opened++;
        await opening;
        const mcp = new McpServers({ cwd, env: {}, hostTransport, ...(elicit && { elicit }) });
        await mcp.connect(new Map([...setup.hostServers].map(([name, limits]) => [name, { type: "sdk", name, ...limits }])));
        this.#session = new InteractiveSession({
          cwd,
          provider,
          sessionId,
          tools: [...mcp.tools, ...(permissions === "host" ? hostTools() : [])],
          ...session,
          ...(setup.hooks && { hooks: setup.hooks }),
          answersPermissions: permissions !== undefined,
        });
        const format = createClaudeFormat("stream-json", { ...ids, partialMessages: await loadPartialMessages() });
        return { session: this.#session, format, mcp, permissions };
      },
      describe: async () => ({ commands: [], models: [] }),
      parseServers: (value) => parseMcpServers(value, { source: "test", env: {} }),
      settings: () => ({}),
      rewind: async (turnId) => ({ canRewind: true, turnId }),
      replayUserMessages: false,
      warn: (message) => this.warnings.push(message),
      ...live,
    });
  }

  /** Ends the session after the run, as the command does. */
  async close(): Promise<void> {
    this.input.end();
    await this.run.done;
    await this.#session?.shutdown();
  }

  send(frame: object | string): void {
    this.input.write(typeof frame === "string" ? frame : `${JSON.stringify(frame)}\n`);
  }

  say(text: string, more: object = {}): void {
    const message = { role: "user", content: text } satisfies Omit<UserMessage, "content"> & { content: string };
    this.send({ type: "user", message, parent_tool_use_id: null, session_id: "", ...more });
  }

  request(requestId: string, request: object): void {
    this.send({ type: "control_request", request_id: requestId, request });
  }

  answer(requestId: unknown, response: object): void {
    this.send({ type: "control_response", response: { subtype: "success", request_id: requestId, response } });
  }

  /** Waits for a frame, among those that have come too. */
  async frame(fits: (frame: JsonObject) => boolean, what: string): Promise<JsonObject> {
    for (const until = Date.now() + 10_000; Date.now() < until; ) {
      const found = this.frames.find(fits);
      if (found) return found;
      await new Promise<void>((resolve) => {
        this.#seen = resolve;
        setTimeout(resolve, 200).unref();
      });
    }
    throw new Error(`No frame came: ${what}. There are ${JSON.stringify(this.frames.map(kindOf).slice(-20))}`);
  }

  async result(count = 1): Promise<JsonObject> {
    await this.frame(() => this.results.length >= count, `result ${count}`);
    return this.results[count - 1] ?? {};
  }

  async reply(requestId: string): Promise<JsonObject> {
    const frame = await this.frame(
      ({ response }) => (response as JsonObject | undefined)?.["request_id"] === requestId,
      requestId,
    );
    return frame["response"] as JsonObject;
  }

  /** A question to the host. */
  async asked(subtype: string, count = 1): Promise<{ id: unknown; request: JsonObject }> {
    const all = (): JsonObject[] =>
      this.frames.filter(({ type, request }) => type === "control_request" && (request as JsonObject)["subtype"] === subtype);
    await this.frame(() => all().length >= count, subtype);
    const frame = all()[count - 1] ?? {};
    return { id: frame["request_id"], request: frame["request"] as JsonObject };
  }

  get results(): JsonObject[] {
    return this.frames.filter(({ type }) => type === "result");
  }

  get kinds(): string[] {
    return this.frames.map(kindOf);
  }

  async end(): Promise<Outcome> {
    this.input.end();
    return await this.run.done;
  }

  #read(): void {
    let rest = "";
    this.stdout.setEncoding("utf8").on("data", (text: string) => {
      rest += text;
      const lines = rest.split("\n");
      rest = lines.pop() ?? "";
      this.frames.push(...lines.map((line) => JSON.parse(line) as JsonObject));
      this.#seen();
    });
  }
}

function kindOf({ type, subtype }: JsonObject): string {
  return subtype === undefined ? String(type) : `${type}/${subtype}`;
}
