import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { PermissionMode } from "../../packages/runtime/src/protocol/permission.ts";
import { Ground } from "./ground.ts";
import { Socket } from "./socket.ts";

/** All ways in which a client can have a session hear a line that begins with a slash. */
type Way = (ground: Ground, session: { readonly token: string; readonly id: string }, line: string) => Promise<unknown>;

const rpc = (method: string, params: object) => ({ jsonrpc: "2.0", id: 1, method, params });
const split = (line: string): [string, string] => {
  const [, name = "", args = ""] = /^\/(\S+) (.*)$/.exec(line) ?? [];
  return [name, args];
};

async function onSocket(ground: Ground, { token, id }: { token: string; id: string }, message: object): Promise<void> {
  const socket = new Socket(ground, { token });
  await socket.untilType("hello");
  await socket.ask({ type: "subscribe", sessionId: id }, "s");
  socket.say({ ...message, id: "m" });
  await socket.until(({ type }) => ["complete", "error", "command_result"].includes(type));
  socket.socket.close();
}

const ways: Readonly<Record<string, Way>> = {
  "a prompt": async (ground, { token, id }, text) =>
    await ground.ask("POST", `/v1/sessions/${id}/messages`, { token, body: { text } }),
  "words for the running turn": async (ground, { token, id }, text) => {
    const watch = await ground.watch(`/v1/sessions/${id}/events`, { token });
    await ground.ask("POST", `/v1/sessions/${id}/steer`, { token, body: { text } });
    await watch.untilType("turn.ended");
    watch.leave();
  },
  "a command": async (ground, { token, id }, line) => {
    const [name, args] = split(line);
    await ground.ask("POST", `/v1/sessions/${id}/commands/${name}`, { token, body: { args } });
  },
  "a prompt over a socket": async (ground, session, prompt) => await onSocket(ground, session, { type: "submit", prompt }),
  "a command over a socket": async (ground, session, line) => {
    const [name, args] = split(line);
    await onSocket(ground, session, { type: "command", name, args });
  },
  "OpenAI's chat": async (ground, { token, id }, content) =>
    await ground.ask("POST", "/v1/chat/completions", {
      token,
      headers: { "x-session-id": id },
      body: { model: "default", messages: [{ role: "user", content }] },
    }),
  "the AI SDK": async (ground, { token, id }, text) =>
    await ground.ask("POST", `/v1/sessions/${id}/chat`, {
      token,
      body: { id, messages: [{ id: "m", role: "user", parts: [{ type: "text", text }] }] },
    }),
  "AG-UI": async (ground, { token, id }, content) =>
    await ground.ask("POST", "/v1/ag-ui", {
      token,
      body: { threadId: id, runId: "r", messages: [{ id: "m", role: "user", content }], tools: [], context: [] },
    }),
  A2A: async (ground, { token, id }, text) =>
    await ground.ask("POST", "/v1/a2a", {
      token,
      body: rpc("SendMessage", { message: { messageId: "m", role: "ROLE_USER", contextId: id, parts: [{ text }] } }),
    }),
  MCP: async (ground, { token, id }, prompt) =>
    await ground.ask("POST", "/mcp", {
      token,
      headers: { accept: "application/json, text/event-stream", "mcp-protocol-version": "2025-06-18" },
      body: rpc("tools/call", { name: "reply", arguments: { sessionId: id, prompt } }),
    }),
};

const write = (content: string) => [
  { calls: [{ name: "Write", input: { file_path: "file.txt", content } }] },
  { text: `wrote ${content}` },
];
const driver = { name: "driver", scopes: ["drive"] } as const;
const approver = { name: "approver", scopes: ["drive", "approve"], of: ["driver"] } as const;

/** A session that has written a file, in a mode that lets it; then its client has put it into a stricter one. */
async function written(mode: PermissionMode = "default", allow: readonly string[] = []) {
  const ground = new Ground(write("two"));
  const rules = allow.map((text) => ({ text, source: "settings" }));
  await ground.start({ defaults: { options: { permissionMode: "acceptEdits", permissions: { allow: rules } } } });
  mkdirSync(join(ground.cwd, ".outrider/memory"), { recursive: true });
  const token = ground.token(driver);
  const id = await ground.session({ token });
  await ground.ask("POST", `/v1/sessions/${id}/messages`, { token, body: { text: "write" } });
  const path = join(ground.cwd, "file.txt");
  const file = (): string => (existsSync(path) ? readFileSync(path, "utf8") : "none");
  assert.equal(file(), "two");
  if (mode !== "acceptEdits") await ground.ask("PATCH", `/v1/sessions/${id}/settings`, { token, body: { permissionMode: mode } });
  const memory = (): boolean => existsSync(join(ground.cwd, ".outrider/memory/MEMORY.md"));
  return { ground, token, id, file, memory };
}

describe("what nobody was asked about", () => {
  for (const [name, say] of Object.entries(ways)) {
    it(`is not written by ${name} that begins with a slash`, async () => {
      const { ground, token, id, file, memory } = await written();
      for (const line of ["/rewind rollback 1", "/rewind restore 0", "/memory add project build make"])
        await say(ground, { token, id }, line);
      assert.deepEqual([file(), memory()], ["two", false]);
    });

    it(`is written by ${name} where rules and the mode allow it`, async () => {
      const { ground, token, id, file, memory } = await written("acceptEdits", ["Edit(.outrider/memory/**)"]);
      await say(ground, { token, id }, "/rewind rollback 1");
      await say(ground, { token, id }, "/memory add project build make");
      assert.deepEqual([file(), memory()], ["none", true]);
    });
  }

  const restores: readonly [PermissionMode, readonly ("driver" | "approver" | "owner")[]][] = [
    ["acceptEdits", ["driver", "approver", "owner"]],
    ["default", ["approver", "owner"]],
    ["dontAsk", ["owner"]],
    ["plan", ["owner"]],
  ];
  for (const [mode, allowed] of restores)
    it(`is restored in ${mode} for ${allowed.join(", ")}, and no one else`, async () => {
      for (const who of ["driver", "approver", "owner"] as const) {
        const { ground, token, id, file } = await written(mode);
        const asker = who === "driver" ? token : who === "owner" ? ground.owner : ground.token(approver);
        const path = `/v1/sessions/${id}/checkpoints/1/restore`;
        const { status } = await ground.ask("POST", path, { token: asker, body: { rollback: true } });
        const isAllowed = allowed.includes(who);
        assert.deepEqual([who, status, file()], [who, isAllowed ? 200 : 403, isAllowed ? "none" : "two"]);
        await ground.server?.close();
      }
    });

  it("is planned for anybody who drives", async () => {
    const { ground, token, id, file } = await written();
    const path = `/v1/sessions/${id}/checkpoints/1/restore`;
    const { status, json } = await ground.ask("POST", path, { token, body: { rollback: true, dryRun: true } });
    assert.deepEqual([status, json.type, file()], [200, "planned", "two"]);
  });
});
