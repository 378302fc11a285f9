import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { OutriderClient, type ServerFrame } from "../../packages/runtime/src/exports/client.ts";
import { startModelServer } from "../../packages/runtime/src/testing/model-server.ts";
import { createFileStore } from "../../packages/runtime/src/journal/file-store.ts";
import { eventually, type Started, start, tempFolder } from "../e2e/command.ts";

const count = 12;

describe("a server that is killed amid its sessions", () => {
  it("loses nothing that was stored: watchers come back and have each event once, and no prompt runs twice", async () => {
    const home = tempFolder("crash");
    const cwd = tempFolder("work");
    const asked = new Map<string, number>();
    const model = await startModelServer({
      replies: ({ body }) => {
        const said =
          JSON.stringify(body)
            .match(/prompt-\d+-\w+/g)
            ?.at(-1) ?? "";
        asked.set(said, (asked.get(said) ?? 0) + 1);
        return said.endsWith("slow") ? { text: `never ${said}`, delayMs: 60_000 } : { text: `answer to ${said}` };
      },
    });
    after(() => model.close());
    const env = { ANTHROPIC_API_KEY: "test-key", ANTHROPIC_BASE_URL: model.url, OUTRIDER_HOME: home };
    const first = await serve(env, cwd);
    const port = new URL(first.url).port;
    const token = readFileSync(join(home, "server/token"), "utf8").trim();
    const client = new OutriderClient({ url: first.url, token, retryMs: 20 });
    const leaving = new AbortController();
    after(() => leaving.abort());
    const sessions = await Promise.all(
      Array.from({ length: count }, async (_, index) => {
        const { id } = await client.createSession({}, { key: `session-${index}` });
        const frames: ServerFrame[] = [];
        const watching = (async () => {
          for await (const frame of client.watch(id, { after: 0, signal: leaving.signal })) frames.push(frame);
        })();
        return { id, index, frames, watching };
      }),
    );
    await Promise.all(sessions.map(({ id, index }) => client.prompt(id, `prompt-${index}-quick`, { key: "quick" })));
    await Promise.all(sessions.map(({ id, index }) => client.send(id, `prompt-${index}-slow`, { key: "slow" })));
    await eventually(() => [...asked.keys()].filter((name) => name.endsWith("slow")).length === count, "all are at work");
    first.child.kill("SIGKILL");
    await first.done;

    const second = await serve(env, cwd, port);
    assert.equal(second.url, first.url);
    // What was sent before is sent again: it is the same session and the same prompt.
    const again = await Promise.all(
      sessions.map(async ({ id, index }) => {
        assert.equal((await client.createSession({}, { key: `session-${index}` })).id, id);
        return await client.prompt(id, `prompt-${index}-quick`, { key: "quick" });
      }),
    );
    assert.deepEqual(
      again.map(({ isRepeated, outcome }) => [isRepeated, outcome.text]),
      sessions.map(({ index }) => [true, `answer to prompt-${index}-quick`]),
    );
    await Promise.all(sessions.map(({ id, index }) => client.prompt(id, `prompt-${index}-last`)));
    const isLast = (frame: ServerFrame): boolean => frame.type === "turn.ended" && /-last$/.test(frame.outcome.text);
    await eventually(() => sessions.every(({ frames }) => frames.some(isLast)), "everybody has come back");
    second.child.kill("SIGTERM");
    await second.done;
    leaving.abort();
    await Promise.all(sessions.map(({ watching }) => watching));

    const store = createFileStore(join(home, "sessions"));
    for (const { id, frames, index } of sessions) {
      const stored = (await store.read(id)).map(({ seq, type }) => `${seq} ${type}`);
      const told = frames.flatMap((frame) =>
        "seq" in frame && !/delta|progress/.test(frame.type) ? [`${frame.seq} ${frame.type}`] : [],
      );
      const end = told.length; // the last of them may have come after the stream had ended
      assert.deepEqual(told, stored.slice(0, end));
      assert.ok(end > stored.length - 3, `${end} of ${stored.length}`);
      assert.deepEqual([asked.get(`prompt-${index}-quick`), asked.get(`prompt-${index}-last`)], [1, 1]);
    }
  });
});

async function serve(env: Record<string, string>, cwd: string, port = "0"): Promise<Started & { readonly url: string }> {
  const started = start(["serve", "--port", port], { env, cwd, stdin: "open" });
  after(() => started.child.kill("SIGKILL"));
  let text = "";
  started.child.stdout.on("data", (chunk: string) => {
    text += chunk;
  });
  await eventually(() => /listens on \S+\n/.test(text), "the server listens");
  return { ...started, url: /listens on (\S+)/.exec(text)?.[1] ?? "" };
}
