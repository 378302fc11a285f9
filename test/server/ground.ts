import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { type IncomingMessage, request as httpRequest } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { SessionHost, type SessionHostOptions } from "../../packages/runtime/src/hosting/session-host.ts";
import { createScriptedProvider, type ScriptStep } from "../../packages/runtime/src/model/scripted.ts";
import {
  type HttpServer,
  type HttpServerOptions,
  openHttpServer,
} from "../../packages/runtime/src/transports/http/http-server.ts";
import { SessionRecords } from "../../packages/runtime/src/transports/http/session-records.ts";
import { type NewToken, TokenStore } from "../../packages/runtime/src/transports/http/token-store.ts";

export type GroundOptions = Omit<Partial<HttpServerOptions>, "host"> & { readonly host?: Partial<SessionHostOptions> };

/** What an answer said. */
export type Said = {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly text: string;
  readonly json: Json;
};
// biome-ignore lint/suspicious/noExplicitAny: answers are looked at as they are
export type Json = any;

export type Asked = {
  readonly token?: string | null;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string | string[]>>;
};

/** A server in this process, with a model that follows a script, and folders of its own. */
export class Ground {
  readonly top: string = realpathSync(mkdtempSync(join(tmpdir(), "outrider-server-")));
  readonly cwd: string = join(this.top, "project");
  readonly folder: string = join(this.top, "server");
  readonly tokens: TokenStore = new TokenStore(this.folder);
  readonly warnings: string[] = [];
  readonly #replies: readonly ScriptStep[];
  server: HttpServer | undefined;

  constructor(replies: readonly ScriptStep[] = []) {
    this.#replies = replies;
    mkdirSync(this.cwd);
    after(async () => {
      await this.server?.close();
      rmSync(this.top, { recursive: true, force: true });
    });
  }

  async start({ host: hostOptions = {}, ...options }: GroundOptions = {}): Promise<this> {
    const env = { PATH: process.env["PATH"] ?? "" };
    const around = { env, userHome: this.top, outriderHome: join(this.top, ".outrider"), cwd: this.cwd };
    const provider = createScriptedProvider(this.#replies, { contextWindow: 10_000_000 });
    const defaults = { provider, cwd: this.cwd, sandboxMode: "off" as const, ...options.defaults };
    const host = new SessionHost({ around, ...hostOptions, defaults });
    this.server = await openHttpServer({
      version: "0.0.0",
      tokens: this.tokens,
      records: new SessionRecords(join(this.folder, "sessions.jsonl")),
      roots: [this.cwd],
      listen: { type: "tcp", address: "127.0.0.1", port: 0 },
      warn: (line) => void this.warnings.push(line),
      ...options,
      defaults,
      host,
    });
    return this;
  }

  get url(): string {
    return this.server?.url ?? "";
  }

  get owner(): string {
    return this.tokens.openOwner().token;
  }

  token(given: NewToken): string {
    return this.tokens.add(given);
  }

  async ask(method: string, path: string, { token = this.owner, body, headers = {} }: Asked = {}): Promise<Said> {
    const response = await this.open(method, path, { token, body, headers });
    let text = "";
    for await (const chunk of response.setEncoding("utf8")) text += chunk;
    const isJson = /json/.test(response.headers["content-type"] ?? "");
    return {
      status: response.statusCode ?? 0,
      headers: response.headers,
      text,
      json: isJson && text !== "" ? JSON.parse(text) : undefined,
    };
  }

  /** The response with its body to come. */
  async open(method: string, path: string, { token = this.owner, body, headers = {} }: Asked = {}): Promise<IncomingMessage> {
    return await new Promise((resolve, reject) => {
      const request = httpRequest(`${this.url}${path}`, {
        method,
        agent: false,
        headers: {
          ...(token !== null && { authorization: `Bearer ${token}` }),
          ...(body !== undefined && { "content-type": "application/json" }),
          ...headers,
        },
      });
      request.on("response", resolve).on("error", reject);
      request.end(body === undefined ? undefined : typeof body === "string" ? body : JSON.stringify(body));
    });
  }

  /** A new session. */
  async session(asked: Asked = {}): Promise<string> {
    const { status, json, text } = await this.ask("POST", "/v1/sessions", { body: {}, ...asked });
    if (status !== 201) throw new Error(`No session: ${status} ${text}`);
    return json.id;
  }

  async watch(path: string, asked: Asked = {}): Promise<Watch> {
    return new Watch(await this.open("GET", path, { ...asked, headers: { accept: "text/event-stream", ...asked.headers } }));
  }
}

export type Frame = { readonly id: string | undefined; readonly data: Json };

/** A reader of server-sent events, written from the standard and nothing of ours. */
export class Watch {
  readonly response: IncomingMessage;
  readonly frames: Frame[] = [];
  readonly comments: string[] = [];
  readonly ended: Promise<void>;
  #changed: () => void = () => {};
  #isOver = false;

  constructor(response: IncomingMessage) {
    this.response = response;
    this.ended = this.#read();
  }

  async #read(): Promise<void> {
    let rest = "";
    try {
      for await (const chunk of this.response.setEncoding("utf8")) {
        const blocks = `${rest}${chunk}`.split("\n\n");
        rest = blocks.pop() ?? "";
        for (const block of blocks) this.#take(block);
        this.#changed();
      }
    } catch {
      // It was cut off: the frames that came are what counts.
    }
    this.#isOver = true;
    this.#changed();
  }

  #take(block: string): void {
    let id: string | undefined;
    let data: string | undefined;
    for (const line of block.split("\n")) {
      const [field = "", value = ""] = line.split(/: ?(.*)/s);
      if (line.startsWith(":")) this.comments.push(line.slice(1).trim());
      else if (field === "id") id = value;
      else if (field === "data") data = value;
    }
    if (data !== undefined) this.frames.push({ id, data: JSON.parse(data) });
  }

  /** The first frame for which `check` holds, when it comes. */
  async until(check: (data: Json) => boolean): Promise<Frame> {
    for (;;) {
      const found = this.frames.find(({ data }) => check(data));
      if (found) return found;
      if (this.#isOver)
        throw new Error(`The stream ended without it: ${JSON.stringify(this.frames.map(({ data }) => data.type))}`);
      await new Promise<void>((resolve) => {
        this.#changed = resolve;
      });
    }
  }

  async untilType(type: string): Promise<Frame> {
    return await this.until((data) => data.type === type);
  }

  get types(): string[] {
    return this.frames.map(({ data }) => data.type);
  }

  leave(): void {
    this.response.destroy();
  }
}
