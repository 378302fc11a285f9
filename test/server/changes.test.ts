import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { SessionHost } from "../../packages/runtime/src/hosting/session-host.ts";
import { createScriptedProvider } from "../../packages/runtime/src/model/scripted.ts";
import { Ground } from "./ground.ts";

const settings = async (ground: Ground, id: string): Promise<[mode: string, model: string]> => {
  const { permissionMode, model } = (await ground.ask("GET", `/v1/sessions/${id}/settings`)).json;
  return [permissionMode, model.id];
};

/** Closed for idleness, as soon as nobody uses it. */
async function untilStored(ground: Ground, id: string): Promise<void> {
  while ((await ground.ask("GET", `/v1/sessions/${id}`)).json.state !== "stored")
    await new Promise((resolve) => setTimeout(resolve, 10));
}

async function restart(ground: Ground): Promise<void> {
  await ground.server?.close();
  await ground.start();
}

describe("what a session was changed to", () => {
  it("holds after it was closed for idleness, is shown while it is stored, and holds after a restart", async () => {
    const ground = await new Ground().start({ host: { idleMs: 1 } });
    const id = await ground.session({ body: { permissionMode: "acceptEdits" } });
    const change = { permissionMode: "plan", model: "other" };
    await ground.ask("PATCH", `/v1/sessions/${id}/settings`, { body: change });
    await untilStored(ground, id);
    const { permissionMode, model } = (await ground.ask("GET", `/v1/sessions/${id}`)).json;
    assert.deepEqual({ permissionMode, model }, change);
    assert.deepEqual(await settings(ground, id), ["plan", "other"]);
    await restart(ground);
    assert.deepEqual(await settings(ground, id), ["plan", "other"]);
  });

  it("holds also where a typed command has changed it, or loosened it with the scope for that", async () => {
    const ground = await new Ground().start();
    const [typed, loosened] = [await ground.session(), await ground.session()];
    await ground.ask("POST", `/v1/sessions/${typed}/commands/mode`, { body: { args: "plan" } });
    await ground.ask("PATCH", `/v1/sessions/${loosened}/settings`, { body: { permissionMode: "acceptEdits" } });
    await restart(ground);
    assert.deepEqual([(await settings(ground, typed))[0], (await settings(ground, loosened))[0]], ["plan", "acceptEdits"]);
  });

  it("holds in a copy, also in one that ends before the change, and after that one was opened again", async () => {
    const ground = await new Ground([{ text: "one" }]).start();
    const driver = ground.token({ name: "driver", scopes: ["drive"], of: ["owner"] });
    const id = await ground.session({ body: { permissionMode: "acceptEdits" } });
    await ground.ask("POST", `/v1/sessions/${id}/messages`, { body: { text: "go" } });
    const { storedSeq: at } = (await ground.ask("GET", `/v1/sessions/${id}`)).json;
    const refused = await ground.ask("POST", `/v1/sessions/${id}/fork`, { token: driver });
    await ground.ask("PATCH", `/v1/sessions/${id}/settings`, { body: { permissionMode: "default", model: "other" } });
    const copies = [];
    for (const body of [{}, { at }]) copies.push(await ground.ask("POST", `/v1/sessions/${id}/fork`, { token: driver, body }));
    assert.deepEqual([refused.status, ...copies.map(({ status }) => status)], [403, 201, 201]);
    await restart(ground);
    for (const { json } of copies) assert.deepEqual(await settings(ground, json.id), ["default", "other"]);
  });

  it("is no yes to bypassing permissions for a server that was not started for that", async () => {
    const ground = await new Ground().start({ defaults: { options: { permissions: { mayBypass: true } } } });
    const id = await ground.session();
    const changed = await ground.ask("PATCH", `/v1/sessions/${id}/settings`, { body: { permissionMode: "bypassPermissions" } });
    await restart(ground);
    assert.deepEqual([changed.status, (await settings(ground, id))[0]], [200, "default"]);
  });

  it("holds for programs that open it with a host, unless they say otherwise", async () => {
    const ground = new Ground();
    const around = { env: {}, userHome: ground.top, outriderHome: ground.folder, cwd: ground.cwd };
    const defaults = { provider: createScriptedProvider([]), cwd: ground.cwd, sandboxMode: "off" as const };
    const host = new SessionHost({ around, defaults });
    const made = await host.create({ options: { permissionMode: "acceptEdits" } });
    const controls = await made.session.controls();
    controls.setPermissionMode("plan");
    await controls.store();
    await host.close(made.id);
    const again = await host.open(made.id);
    const kept = (await again.session.controls()).facts.permissionMode;
    await host.close(made.id);
    const otherwise = await host.open(made.id, { options: { permissionMode: "default" } });
    assert.deepEqual([kept, (await otherwise.session.controls()).facts.permissionMode], ["plan", "default"]);
    await host.shutdown();
  });
});

describe("closing a server", () => {
  it("waits no longer when it is asked again without patience", async () => {
    const ground = await new Ground([{ hang: true }]).start();
    const id = await ground.session();
    const answer = ground.ask("POST", `/v1/sessions/${id}/messages`, { body: { text: "go" } });
    while ((await ground.ask("GET", `/v1/sessions/${id}`)).json.state !== "working");
    const closing = ground.server?.close({ drainMs: 600_000 });
    await ground.server?.close();
    await closing;
    assert.equal((await answer).json.outcome.type, "cancelled");
  });
});
