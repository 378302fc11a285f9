import assert from "node:assert/strict";
import { mkdirSync, readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import type { AgentEvent } from "../../packages/runtime/src/protocol/events.ts";
import type { ModelServerOptions } from "../../packages/runtime/src/testing/model-server.ts";
import { lines, model, type Run, run, tempFolder } from "./command.ts";

export const usage = { inputTokens: 100, outputTokens: 10 };

/** A home, two folders to work in, and a model that says what it is told to. */
export async function place(replies: ModelServerOptions["replies"]) {
  const root = realpathSync(tempFolder("sessions"));
  const [home, here, there] = ["home", "here", "there"].map((name) => join(root, name)) as [string, string, string];
  mkdirSync(here);
  mkdirSync(there);
  const { env, server } = await model(replies, home);
  const journal = (id: string): string => join(home, "sessions", `${id}.jsonl`);
  return {
    root,
    home,
    here,
    there,
    env,
    server,
    journal,
    events: (id: string) => lines(readFileSync(journal(id), "utf8")) as AgentEvent[],
    ask: (args: readonly string[], cwd = here) => run(["-p", "--output-format", "json", ...args], { env, cwd }),
    sessions: (args: readonly string[], cwd = here) => run(["sessions", ...args], { env, cwd }),
    /** What the model was last told, message by message. */
    said(): string[] {
      const body = server.requests.at(-1)?.body as Body | undefined;
      return (body?.messages ?? []).map(({ role, content }) => `${role}: ${wordsOf(content)}`);
    },
  };
}

type Body = { messages: { role: string; content: string | { text?: string }[] }[] };

function wordsOf(content: Body["messages"][number]["content"]): string {
  return typeof content === "string" ? content : content.map(({ text }) => text ?? "").join("");
}

export const echo: ModelServerOptions["replies"] = (request) => {
  const { messages } = request.body as Body;
  return { text: `answer ${messages.filter(({ role }) => role === "user").length}`, usage };
};

export function idOf({ code, stdout, stderr }: Run): string {
  assert.equal(code, 0, stderr);
  return String(lines(stdout)[0]?.["session_id"]);
}

export function failureOf({ code, stdout }: Run): [number | null, unknown, unknown, unknown] {
  const error = lines(stdout)[0]?.["error"] as { code: string; message: string; hint?: string };
  return [code, error.code, error.message, error.hint];
}
