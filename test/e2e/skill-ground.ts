import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { ModelServerOptions } from "../../packages/runtime/src/testing/model-server.ts";
import { lines, model, run, tempFolder } from "./command.ts";

export type Files = Readonly<Record<string, string>>;

/** A project and a home with these files, and a model that says these things. */
export async function place(files: Files, replies: ModelServerOptions["replies"] = [{ text: "done" }]) {
  const top = tempFolder("skills");
  const cwd = join(top, "project");
  mkdirSync(cwd);
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(top, name)), { recursive: true });
    writeFileSync(join(top, name), content);
  }
  const { server, env } = await model(replies, join(top, "home/.outrider"));
  const outrider = (args: readonly string[], stdin?: string) =>
    run(args, { cwd, env: { ...env, HOME: join(top, "home") }, ...(stdin !== undefined && { stdin }) });
  const asked = (index: number) => server.requests[index]?.body as Asked;
  return { cwd, server, outrider, asked };
}

type Block = { readonly type: string; readonly text?: string };
export type Asked = {
  readonly model: string;
  readonly system: unknown;
  readonly tools: readonly { readonly name: string }[];
  readonly messages: readonly { readonly role: string; readonly content: readonly Block[] }[];
};

export function textsOf(request: Asked, message = 0): (string | undefined)[] {
  return request.messages[message]?.content.map(({ text }) => text) ?? [];
}

export function initOf(stdout: string): Record<string, unknown> {
  return lines(stdout).find(({ subtype }) => subtype === "init") ?? {};
}

/** Where sessions get the id that is asked for. */
export const sessionId = "0c6f4a52-3f0f-4f0e-9a3e-6f0d9e3b1a11";

export function journalOf(cwd: string): Record<string, unknown>[] {
  return lines(readFileSync(join(dirname(cwd), `home/.outrider/sessions/${sessionId}.jsonl`), "utf8"));
}

export const stream = ["--output-format", "stream-json", "--verbose"];
export const userLine = (text: string) =>
  `${JSON.stringify({ type: "user", message: { role: "user", content: [{ type: "text", text }] } })}\n`;
