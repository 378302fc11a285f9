import { mkdirSync, readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { OutriderClient } from "../../packages/runtime/src/exports/client.ts";
import { type ModelServer, type ServerReply, startModelServer } from "../../packages/runtime/src/testing/model-server.ts";
import { eventually, run, type Started, start, tempFolder } from "../e2e/command.ts";

export const screens: string = join(process.cwd(), ".cache/screens");

/** What the model says to a request: to the last words of a person in it, and how many results have come since. */
export type Script = (prompt: string, results: number) => ServerReply;

/** `outrider serve` as people start it, with a model that follows a script, and browsers that look at its page. */
export class LiveGround {
  readonly home: string = realpathSync(tempFolder("live-home"));
  readonly cwd: string = realpathSync(tempFolder("live-shop"));
  readonly #script: Script;
  #model: ModelServer | undefined;
  #started: (Started & { readonly url: string }) | undefined;

  constructor(script: Script) {
    this.#script = script;
    mkdirSync(screens, { recursive: true });
  }

  get url(): string {
    return this.#started?.url ?? "";
  }

  get token(): string {
    return readFileSync(join(this.home, "server/token"), "utf8").trim();
  }

  get client(): OutriderClient {
    return new OutriderClient({ url: this.url, token: this.token, retryMs: 50 });
  }

  get #env(): Record<string, string> {
    return {
      ANTHROPIC_API_KEY: "test-key",
      ANTHROPIC_BASE_URL: this.#model?.url ?? "",
      OUTRIDER_HOME: this.home,
      OUTRIDER_RETRY_BASE_MS: "5",
    };
  }

  async start(port = "0"): Promise<this> {
    this.#model ??= await startModelServer({ replies: ({ body }) => this.#reply(body) });
    const started = start(["serve", "--port", port, "--permission-wait", "5m"], { env: this.#env, cwd: this.cwd, stdin: "open" });
    let text = "";
    started.child.stdout.on("data", (chunk: string) => {
      text += chunk;
    });
    await eventually(() => /listens on \S+\n/.test(text), "the server listens");
    this.#started = { ...started, url: /listens on (\S+)/.exec(text)?.[1] ?? "" };
    return this;
  }

  /** Without a chance to say goodbye. */
  async kill(): Promise<void> {
    this.#started?.child.kill("SIGKILL");
    await this.#started?.done;
  }

  async end(): Promise<void> {
    await this.kill();
    await this.#model?.close();
  }

  async startAgain(): Promise<void> {
    await this.start(new URL(this.url).port);
  }

  async addToken(name: string, ...flags: string[]): Promise<string> {
    const { stdout } = await run(["serve", "token", "add", name, ...flags], { env: this.#env, cwd: this.cwd });
    return /[\w-]{43}/.exec(stdout)?.[0] ?? "";
  }

  /** A page in a browser of its own; `complaints` is whatever it says in its console, and whatever it asks of anybody else. */
  async look(
    browser: Browser,
    options: BrowserContextOptions & { path?: string } = {},
  ): Promise<{ page: Page; complaints: string[] }> {
    const { path = "/", ...context } = options;
    const page = await (await browser.newContext({ viewport: { width: 1440, height: 900 }, ...context })).newPage();
    const complaints: string[] = [];
    page.on("console", (message) => {
      const isLost = /ERR_CONNECTION|Failed to load resource/.test(message.text()); // the server is gone, or says no: a test says so
      if (message.type() === "error" && !isLost) complaints.push(message.text());
    });
    page.on("pageerror", (error) => complaints.push(String(error)));
    page.on("request", (request) => {
      if (!request.url().startsWith(this.url) && !/^(?:data|blob):/.test(request.url()))
        complaints.push(`it asks ${request.url()}`);
    });
    page.on("dialog", (dialog) => complaints.push(`it says ${dialog.message()}`));
    await page.goto(`${this.url}${path}`);
    return { page, complaints };
  }

  async signIn(page: Page, token: string = this.token): Promise<void> {
    await page.locator("#token").fill(token);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.waitForSelector(".app");
  }

  #reply(body: unknown): ServerReply {
    const { messages = [] } = body as { messages?: { role: string; content: unknown }[] };
    const isResult = (content: unknown): boolean => Array.isArray(content) && content.some((part) => part.type === "tool_result");
    const at = messages.findLastIndex(({ role, content }) => role === "user" && !isResult(content));
    const results = messages.slice(at + 1).filter(({ content }) => isResult(content)).length;
    const said = messages[at]?.content; // what was cut off before may stand in the same message
    const text = Array.isArray(said) ? ((said.at(-1) as { text?: string })?.text ?? "") : String(said);
    return this.#script(text, results);
  }
}

export async function waitText(page: Page, selector: string, text: string | RegExp): Promise<void> {
  await page.locator(selector, { hasText: text }).first().waitFor({ timeout: 30_000 });
}
