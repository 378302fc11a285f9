import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Door, Refused } from "./doors.ts";
import { Ground } from "./ground.ts";

const slow = { text: "slow", delayMs: 60_000 };
const touching = [{ calls: [{ name: "Bash", input: { command: "touch made" } }] }, { text: "Tried." }];
const isRefused =
  (...why: string[]) =>
  (error: unknown): boolean => {
    assert.ok(error instanceof Refused && why.includes(error.why), `${error} is none of ${why.join()}`);
    return true;
  };
const driver = (ground: Ground, name = "driver"): string => ground.token({ name, scopes: ["drive"] });

/** What is promised on every way to the server, each played over one of them. */
export const promises: Readonly<Record<string, (door: Door) => Promise<void>>> = {
  async run(door) {
    const ground = await new Ground([{ text: "one" }]).start();
    assert.equal((await door.say(ground, "go", { token: driver(ground) })).text, "one");
  },

  async "go-on"(door) {
    const ground = await new Ground([{ text: "one" }, { text: "two" }]).start();
    const token = driver(ground);
    const { session } = await door.say(ground, "go", { token });
    assert.deepEqual(await door.say(ground, "on", { token, session }), { text: "two", session });
    assert.equal((await ground.ask("GET", `/v1/sessions/${session}/messages`, { token })).json.messages.length, 4);
  },

  async permission(door) {
    const ground = await new Ground(touching).start();
    const token = driver(ground);
    const session = await ground.session({ token });
    const watch = await ground.watch(`/v1/sessions/${session}/events?after=0`);
    const said = door.say(ground, "go", { token, session });
    const { data } = await watch.untilType("permission.requested");
    const answer = (decision: string) =>
      ground.ask("POST", `/v1/sessions/${session}/permissions/${data.requestId}`, { body: { decision } });
    assert.deepEqual([(await answer("allow")).status, (await answer("deny")).status], [200, 404]);
    assert.deepEqual([(await said).text, existsSync(join(ground.cwd, "made"))], ["Tried.", true]);
    watch.leave();
  },

  async unattended(door) {
    const ground = await new Ground(touching).start({ permissionWaitMs: 0 });
    const { text } = await door.say(ground, "go", { token: driver(ground) });
    assert.deepEqual([text, existsSync(join(ground.cwd, "made"))], ["Tried.", false]);
  },

  async own(door) {
    const ground = await new Ground([{ text: "never" }]).start();
    const session = await ground.session();
    await assert.rejects(door.say(ground, "go", { token: driver(ground), session }), isRefused("404", "not-found", "-32001"));
    assert.deepEqual((await ground.ask("GET", `/v1/sessions/${session}/messages`)).json.messages, []);
  },

  async scope(door) {
    const ground = await new Ground([{ text: "never" }]).start();
    const session = await ground.session();
    const token = ground.token({ name: "viewer", scopes: ["view"], of: ["owner"] });
    await assert.rejects(door.say(ground, "go", { token, session }), isRefused("403", "usage"));
    assert.deepEqual((await ground.ask("GET", `/v1/sessions/${session}/messages`)).json.messages, []);
  },

  async stranger(door) {
    const ground = await new Ground([{ text: "never" }]).start();
    const session = await ground.session();
    await assert.rejects(door.say(ground, "go", { token: "wrong", session }), isRefused("401"));
  },

  async page(door) {
    const ground = await new Ground([{ text: "never" }]).start();
    const session = await ground.session();
    const wish = { token: ground.owner, session, origin: "https://evil.example" };
    await assert.rejects(door.say(ground, "go", wish), isRefused("403"));
    assert.deepEqual((await ground.ask("GET", `/v1/sessions/${session}/messages`)).json.messages, []);
  },

  async revoked(door) {
    const ground = await new Ground([slow]).start();
    const token = driver(ground);
    const session = await ground.session({ token });
    const watch = await ground.watch(`/v1/sessions/${session}/events?after=0`);
    const waiting = door.say(ground, "go", { token, session });
    const over = assert.rejects(waiting);
    await watch.untilType("turn.started");
    ground.tokens.remove("driver");
    await over;
    await assert.rejects(door.say(ground, "more", { token, session }), isRefused("401"));
    watch.leave();
  },

  async limits(door) {
    const ground = await new Ground([slow, { text: "never" }]).start();
    const token = ground.token({ name: "driver", scopes: ["drive"], limits: { prompts: 1 } });
    const [busy, free] = [await ground.session({ token }), await ground.session({ token })];
    const watch = await ground.watch(`/v1/sessions/${busy}/events?after=0`);
    const waiting = door.say(ground, "go", { token, session: busy });
    waiting.catch(() => {}); // it is cancelled below
    await watch.untilType("turn.started");
    await assert.rejects(door.say(ground, "more", { token, session: free }), isRefused("429", "limit-reached", "-32603"));
    await ground.ask("POST", `/v1/sessions/${busy}/cancel`);
    await watch.untilType("turn.ended");
    watch.leave();
  },

  async "hang-up"(door) {
    const ground = await new Ground([slow]).start();
    const token = driver(ground);
    const session = await ground.session({ token });
    const watch = await ground.watch(`/v1/sessions/${session}/events?after=0`);
    const leaving = new AbortController();
    const over = assert.rejects(door.say(ground, "go", { token, session, signal: leaving.signal }));
    await watch.untilType("turn.started");
    leaving.abort();
    await over;
    if (door.hungUp === "ends") assert.equal((await watch.untilType("turn.ended")).data.outcome.type, "cancelled");
    else assert.equal((await ground.ask("GET", `/v1/sessions/${session}`)).json.state, "working");
    watch.leave();
  },

  async end(door) {
    const ground = await new Ground([slow]).start();
    const token = driver(ground);
    const session = await ground.session({ token });
    const watch = await ground.watch(`/v1/sessions/${session}/events?after=0`);
    const waiting = door.say(ground, "go", { token, session });
    waiting.catch(() => {}); // told or cut off: it does not hang
    await watch.untilType("turn.started");
    await ground.server?.close();
    await Promise.allSettled([waiting]);
    assert.match((await watch.untilType("stream.ended")).data.error.message, /ending/);
  },
};
