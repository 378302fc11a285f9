import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { OutriderClient, type ServerFrame } from "../../packages/runtime/src/exports/client.ts";
import { startModelServer } from "../../packages/runtime/src/testing/model-server.ts";
import { createFileStore } from "../../packages/runtime/src/journal/file-store.ts";
import { eventually, type Started, start, tempFolder } from "../e2e/command.ts";

const count = 50;

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
        if (!said.endsWith("slow")) return { text: `answer to ${said}` };
        // A call with an effect first; the process is killed while the model is asked about its result.
        if (asked.get(said) === 1) return { calls: [{ name: "Write", input: { file_path: join(cwd, said), content: "made" } }] };
        return { text: `never ${said}`, delayMs: 600_000 };
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
    const isAtWork = ([name, times]: [string, number]): boolean => name.endsWith("slow") && times === 2;
    await eventually(() => [...asked].filter(isAtWork).length === count, "all are at work", 120_000);
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
    await eventually(() => sessions.every(({ frames }) => frames.some(isLast)), "everybody has come back", 120_000);
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
      const times = ["quick", "slow", "last"].map((name) => asked.get(`prompt-${index}-${name}`));
      assert.deepEqual(times, [1, 2, 1]);
      const ends = stored.filter((line) => line.endsWith(" turn.ended"));
      assert.equal(ends.length, 3, "each turn has one end, also the one that was cut off");
      assert.equal(stored.filter((line) => line.endsWith(" tool.started")).length, 1, "no call is made twice");
      assert.ok(existsSync(join(cwd, `prompt-${index}-slow`)));
    }
  });
});

async function serve(env: Record<string, string>, cwd: string, port = "0"): Promise<Started & { readonly url: string }> {
  const started = start(["serve", "--port", port, "--permission-mode", "acceptEdits"], { env, cwd, stdin: "open" });
  after(() => started.child.kill("SIGKILL"));
  let text = "";
  started.child.stdout.on("data", (chunk: string) => {
    text += chunk;
  });
  await eventually(() => /listens on \S+\n/.test(text), "the server listens");
  return { ...started, url: /listens on (\S+)/.exec(text)?.[1] ?? "" };
}
