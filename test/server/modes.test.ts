import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { PermissionMode } from "../../packages/runtime/src/protocol/permission.ts";
import type { Scope } from "../../packages/runtime/src/transports/http/client.ts";
import { Ground } from "./ground.ts";
import { Socket } from "./socket.ts";

const driver: readonly Scope[] = ["drive"];
const approver: readonly Scope[] = ["drive", "approve"];

/** The server's mode, who asks, for what, and whether it is given. */
const cases: readonly [own: PermissionMode, scopes: readonly Scope[], wanted: PermissionMode, isGiven: boolean][] = [
  ["default", driver, "default", true],
  ["default", driver, "plan", true],
  ["default", driver, "dontAsk", true],
  ["default", driver, "acceptEdits", false],
  ["default", driver, "sandboxed", false],
  ["default", approver, "acceptEdits", true],
  ["default", approver, "bypassPermissions", false],
  ["default", ["admin"], "bypassPermissions", false],
  ["plan", driver, "plan", true],
  ["plan", driver, "default", false],
  ["plan", driver, "dontAsk", false],
  ["plan", approver, "default", true],
  ["dontAsk", driver, "default", false],
  ["dontAsk", driver, "plan", true],
  ["acceptEdits", driver, "acceptEdits", true],
  ["acceptEdits", driver, "default", true],
];

describe("the mode of a session", () => {
  for (const [own, scopes, wanted, isGiven] of cases)
    it(`of a server in ${own}, asked by ${scopes.join("+")}: ${wanted} is ${isGiven ? "given" : "refused"}, on every way`, async () => {
      const ground = await new Ground().start({ defaults: { options: { permissionMode: own } } });
      const token = ground.token({ name: "asker", scopes });
      const made = await ground.ask("POST", "/v1/sessions", { token, body: { permissionMode: wanted } });
      assert.equal(made.status, isGiven ? 201 : 403);
      const id = await ground.session({ token });
      const changed = await ground.ask("PATCH", `/v1/sessions/${id}/settings`, { token, body: { permissionMode: wanted } });
      assert.equal(changed.status, isGiven ? 200 : 403);
      assert.equal((await ground.ask("GET", `/v1/sessions/${id}`)).json.permissionMode, isGiven ? wanted : own);
    });

  it("is not loosened by words that are typed: not as a prompt, not as a command, not over a socket", async () => {
    const ground = await new Ground().start();
    const token = ground.token({ name: "driver", scopes: ["drive"] });
    const id = await ground.session({ token });
    const mode = async () => (await ground.ask("GET", `/v1/sessions/${id}`)).json.permissionMode;
    const typed = await ground.ask("POST", `/v1/sessions/${id}/messages`, { token, body: { text: "/mode acceptEdits" } });
    assert.match(JSON.stringify(typed.json.outcome), /cannot be chosen by a command/);
    const run = await ground.ask("POST", `/v1/sessions/${id}/commands/mode`, { token, body: { args: "acceptEdits" } });
    assert.equal(run.json.success, false);
    const socket = new Socket(ground, { token });
    await socket.untilType("hello");
    await socket.ask({ type: "subscribe", sessionId: id }, "s");
    assert.equal((await socket.ask({ type: "command", name: "mode", args: "acceptEdits" }, "c")).success, false);
    socket.say({ type: "submit", prompt: "/mode acceptEdits" });
    await socket.until(({ type }) => type === "complete" || type === "error");
    assert.equal(await mode(), "default");
    await ground.ask("POST", `/v1/sessions/${id}/commands/mode`, { token, body: { args: "plan" } });
    assert.equal(await mode(), "plan");
    socket.socket.close();
  });

  it("is measured by the settings of the folder where the server says nothing", async () => {
    const ground = new Ground();
    mkdirSync(join(ground.top, ".outrider"), { recursive: true });
    writeFileSync(join(ground.top, ".outrider/settings.json"), JSON.stringify({ permissions: { defaultMode: "plan" } }));
    await ground.start();
    const token = ground.token({ name: "driver", scopes: ["drive"] });
    const id = await ground.session({ token });
    assert.equal((await ground.ask("GET", `/v1/sessions/${id}`)).json.permissionMode, "plan");
    assert.equal((await ground.ask("POST", "/v1/sessions", { token, body: { permissionMode: "default" } })).status, 403);
    const run = await ground.ask("POST", `/v1/sessions/${id}/commands/mode`, { token, body: { args: "default" } });
    assert.equal(run.json.success, false);
  });

  it("is no present to whoever copies a session: the wish is checked for the copier", async () => {
    const ground = await new Ground([{ text: "one" }]).start();
    const loose = ground.token({ name: "same", scopes: ["drive", "approve"] });
    const id = await ground.session({ token: loose, body: { permissionMode: "acceptEdits" } });
    await ground.ask("POST", `/v1/sessions/${id}/messages`, { token: loose, body: { text: "go" } });
    ground.tokens.remove("same");
    const strict = ground.token({ name: "same", scopes: ["drive"] });
    assert.equal((await ground.ask("POST", `/v1/sessions/${id}/fork`, { token: strict })).status, 403);
    assert.equal((await ground.ask("POST", `/v1/sessions/${id}/fork`)).status, 201);
  });
});

describe("a token with folders of its own", () => {
  it("begins where it may when it says nothing, and nowhere else", async () => {
    const ground = new Ground();
    const inner = join(ground.cwd, "inner");
    mkdirSync(inner);
    await ground.start();
    const token = ground.token({ name: "narrow", scopes: ["drive"], roots: [inner] });
    const made = await ground.ask("POST", "/v1/sessions", { token, body: {} });
    assert.deepEqual([made.status, made.json.cwd], [201, inner]);
    assert.equal((await ground.ask("POST", "/v1/sessions", { token, body: { cwd: ground.cwd } })).status, 403);
  });
});
