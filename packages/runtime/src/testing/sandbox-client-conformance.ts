import assert from "node:assert/strict";
import type { SandboxClient } from "../workspace/sandbox-client.ts";

/** `create` answers a new, empty sandbox each time. Cases that need `programs` are for clients with a shell behind them. */
export type SandboxConformanceCase = {
  readonly name: string;
  readonly needs?: "programs" | "snapshots";
  run(create: () => Promise<SandboxClient>): Promise<void>;
};

/** What every sandbox client must do, as data. */
export const sandboxClientConformance: readonly SandboxConformanceCase[] = [
  {
    name: "gives back the text that was written, in new directories too",
    async run(create) {
      const client = await create();
      await client.writeFile("/workspace/a/b/note.txt", "grüße\n");
      assert.equal(await textOf(client, "/workspace/a/b/note.txt"), "grüße\n");
    },
  },
  {
    name: "keeps every byte of a file",
    async run(create) {
      const client = await create();
      const bytes = Uint8Array.from({ length: 256 }, (_, index) => index);
      await client.writeFile("/workspace/all.bin", bytes);
      const read = await client.readFile("/workspace/all.bin");
      assert.deepEqual([...(typeof read === "string" ? Buffer.from(read, "latin1") : read)], [...bytes]);
    },
  },
  {
    name: "takes the place of what was there",
    async run(create) {
      const client = await create();
      await client.writeFile("/workspace/x", "a long text");
      await client.writeFile("/workspace/x", "short");
      assert.equal(await textOf(client, "/workspace/x"), "short");
    },
  },
  {
    name: "is not changed through what it was given or gave",
    async run(create) {
      const client = await create();
      const bytes = Uint8Array.of(1, 2, 3);
      await client.writeFile("/workspace/x", bytes);
      bytes[0] = 9;
      const read = await client.readFile("/workspace/x");
      if (typeof read !== "string") read[1] = 9;
      const again = await client.readFile("/workspace/x");
      assert.deepEqual([...(typeof again === "string" ? Buffer.from(again, "latin1") : again)], [1, 2, 3]);
    },
  },
  {
    name: "rejects for a file that is not there",
    async run(create) {
      const client = await create();
      await assert.rejects(client.readFile("/workspace/nothing"));
    },
  },
  {
    name: "answers with exit code and both streams",
    needs: "programs",
    async run(create) {
      const client = await create();
      const result = await client.run("printf out; printf err >&2; exit 3");
      assert.deepEqual({ ...result }, { exitCode: 3, stdout: "out", stderr: "err" });
    },
  },
  {
    name: "runs where and with what it is told",
    needs: "programs",
    async run(create) {
      const client = await create();
      await client.writeFile("/workspace/sub/here", "");
      const { stdout } = await client.run('ls; printf %s "$GREETING"', { cwd: "/workspace/sub", env: { GREETING: "a b'c" } });
      assert.equal(stdout, "here\na b'c");
    },
  },
  {
    name: "shows commands the files that were written, and the other way round",
    needs: "programs",
    async run(create) {
      const client = await create();
      await client.writeFile("/workspace/in.txt", "hello");
      const { stdout } = await client.run("cat in.txt; printf made > out.txt", { cwd: "/workspace" });
      assert.deepEqual([stdout, await textOf(client, "/workspace/out.txt")], ["hello", "made"]);
    },
  },
  {
    name: "ends a command when it is told to",
    needs: "programs",
    async run(create) {
      const client = await create();
      const stop = new AbortController();
      const running = client.run("echo started; exec sleep 60", { signal: stop.signal, onStdout: () => stop.abort() });
      const settled = await Promise.race([
        running.then(
          () => true,
          () => true,
        ),
        new Promise((resolve) => setTimeout(resolve, 20_000, false).unref()),
      ]);
      assert.equal(settled, true);
    },
  },
  {
    name: "goes back to what it was at a snapshot",
    needs: "snapshots",
    async run(create) {
      const client = await create();
      await client.writeFile("/workspace/x", "before");
      const id = await client.snapshot?.();
      await client.writeFile("/workspace/x", "after");
      await client.writeFile("/workspace/y", "new");
      await client.restore?.(id ?? "");
      assert.equal(await textOf(client, "/workspace/x"), "before");
      await assert.rejects(client.readFile("/workspace/y"));
    },
  },
  {
    name: "rejects for a snapshot it does not know",
    needs: "snapshots",
    async run(create) {
      const client = await create();
      await assert.rejects(async () => client.restore?.("nobody"));
    },
  },
];

async function textOf(client: SandboxClient, path: string): Promise<string> {
  const content = await client.readFile(path);
  return typeof content === "string" ? content : new TextDecoder().decode(content);
}
