import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { after } from "node:test";
import {
  type AgentRequestMethod,
  type AgentRequestParamsByMethod,
  type AgentRequestResponsesByMethod,
  type ClientConnection,
  client as createClient,
  type InitializeResponse,
  ndJsonStream,
  type NewSessionResponse,
  type RequestPermissionRequest,
  type SessionUpdate,
} from "@agentclientprotocol/sdk/unstable";
import { type Run, type RunOptions, type Started, start, tempFolder } from "./command.ts";

export type Told = { sessionId: string; update: SessionUpdate };
export type PermissionAnswer = { outcome: { outcome: "cancelled" } | { outcome: "selected"; optionId: string } };

export type AcpClientOptions = RunOptions & {
  readonly args?: readonly string[];
  readonly onPermission?: (question: RequestPermissionRequest) => unknown;
  readonly capabilities?: object;
  /** What it answers beside questions of permission. */
  readonly answers?: Readonly<Record<string, (params: Record<string, unknown>) => unknown>>;
};

/** A client made of the official package, and the built command at the other end of two pipes. */
export class TestClient {
  readonly started: Started;
  readonly connection: ClientConnection;
  readonly told: Told[] = [];
  readonly questions: RequestPermissionRequest[] = [];
  readonly #options: AcpClientOptions;

  constructor(options: AcpClientOptions = {}) {
    this.#options = options;
    this.started = start(["acp", ...(options.args ?? [])], { ...options, stdin: "open" });
    const { child } = this.started;
    after(() => child.kill("SIGKILL"));
    const bytes = new ReadableStream<Uint8Array>({
      start(controller) {
        child.stdout.on("data", (text: string) => controller.enqueue(Buffer.from(text)));
        child.stdout.on("end", () => controller.close());
      },
    });
    const stdin = new WritableStream<Uint8Array>({
      write: (chunk) => new Promise((resolve) => void child.stdin.write(chunk, () => resolve())),
    });
    child.stdin.on("error", () => {}); // the command may be gone
    const app = createClient({ name: "test" });
    for (const [method, answer] of Object.entries(options.answers ?? {}))
      app.onRequest(
        method,
        (params) => Object(params) as Record<string, unknown>,
        ({ params }) => answer(params),
      );
    this.connection = app
      .onRequest("session/request_permission", async ({ params }) => {
        this.questions.push(params);
        return (await (options.onPermission?.(params) ?? { outcome: { outcome: "cancelled" } })) as PermissionAnswer;
      })
      .onNotification("session/update", ({ params }) => void this.told.push(params))
      .connect(ndJsonStream(stdin, bytes));
  }

  async initialize(): Promise<InitializeResponse> {
    return await this.request("initialize", {
      protocolVersion: 1,
      clientCapabilities: { fs: { readTextFile: true, writeTextFile: true }, terminal: true, ...this.#options.capabilities },
    });
  }

  /** The usual beginning. */
  async open(cwd: string, more: object = {}): Promise<NewSessionResponse> {
    await this.initialize();
    return await this.request("session/new", { cwd, mcpServers: [], ...more });
  }

  async request<M extends AgentRequestMethod>(
    method: M,
    params: AgentRequestParamsByMethod[M],
  ): Promise<AgentRequestResponsesByMethod[M]> {
    return await this.connection.agent.request(method, params);
  }

  async prompt(sessionId: string, text: string): Promise<AgentRequestResponsesByMethod["session/prompt"]> {
    return await this.request("session/prompt", { sessionId, prompt: [{ type: "text", text }] });
  }

  cancel(sessionId: string): void {
    void this.connection.agent.notify("session/cancel", { sessionId });
  }

  updates<K extends SessionUpdate["sessionUpdate"]>(kind: K): Extract<SessionUpdate, { sessionUpdate: K }>[] {
    return this.told.flatMap(({ update }) =>
      update.sessionUpdate === kind ? [update as Extract<SessionUpdate, { sessionUpdate: K }>] : [],
    );
  }

  /** What was said, in one piece; in one session, or in all. */
  text(of?: string, kind: "agent_message_chunk" | "agent_thought_chunk" | "user_message_chunk" = "agent_message_chunk"): string {
    return this.told
      .flatMap(({ sessionId, update }) => {
        if (update.sessionUpdate !== kind || (of !== undefined && sessionId !== of)) return [];
        return [update.content.type === "text" ? update.content.text : `[${update.content.type}]`];
      })
      .join("");
  }

  async end(): Promise<Run> {
    this.started.child.stdin.end();
    return await this.started.done;
  }
}

/** The error a request is answered with. */
export async function refused(
  request: Promise<unknown>,
): Promise<{ code: number; message: string; data: { code?: string; hint?: string } }> {
  try {
    await request;
  } catch (error) {
    return error as { code: number; message: string; data: { code?: string } }; // what the package throws
  }
  throw new Error("The request was answered");
}

/** A home of its own, and an empty folder to work in. */
export function places(): { home: string; cwd: string } {
  const home = tempFolder("acp");
  const cwd = join(home, "work");
  mkdirSync(cwd);
  return { home, cwd };
}
