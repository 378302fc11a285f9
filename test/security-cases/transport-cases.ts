import assert from "node:assert/strict";
import { connect, type Socket as TcpSocket } from "node:net";
import { Ground, Watch } from "../server/ground.ts";
import { Socket, upgradeStatus } from "../server/socket.ts";
import { run } from "../e2e/command.ts";
import { type CaseTable, folderFor } from "./case-table.ts";

const server = async (): Promise<Ground> => await new Ground([{ text: "hello" }]).start();

/** A WebSocket without a library: what no library would send can be sent over it. Answers the bytes that came, to the end. */
async function rawSocket(ground: Ground, frames: readonly Buffer[]): Promise<Buffer> {
  const { host, port } = new URL(ground.url);
  const lines = [
    "GET /v1/ws HTTP/1.1",
    `Host: ${host}`,
    "Upgrade: websocket",
    "Connection: Upgrade",
    "Sec-WebSocket-Version: 13",
  ];
  const head = [...lines, "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==", `Authorization: Bearer ${ground.owner}`, "", ""];
  return await new Promise((resolve, reject) => {
    const socket: TcpSocket = connect(Number(port), "127.0.0.1", () => socket.write(head.join("\r\n")));
    let bytes = Buffer.alloc(0);
    let isOpen = false;
    socket.on("data", (chunk: Buffer) => {
      bytes = Buffer.concat([bytes, chunk]);
      if (isOpen || !bytes.includes("\r\n\r\n")) return;
      isOpen = true;
      for (const frame of frames) socket.write(frame);
    });
    socket.on("close", () => resolve(bytes)).on("error", reject);
    socket.on("end", () => socket.end());
  });
}

/** The code of the closing frame that ends what came. */
function closeCode(bytes: Buffer): number | undefined {
  const place = bytes.lastIndexOf(0x88);
  return place === -1 ? undefined : bytes.readUInt16BE(place + 2);
}

/** Masked with zeros: what is in it stays as it is. */
function frame(first: number, length: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(14);
  head[0] = first;
  head[1] = 0x80 | 127;
  head.writeBigUInt64BE(BigInt(length), 2);
  return Buffer.concat([head, payload]);
}

const ofPage = (origin: string) => ({ origin, authorization: "" });

export const transportCases: CaseTable = {
  async TR001() {
    assert.equal(await upgradeStatus(await server(), { origin: "https://evil.example", token: null }), 403);
  },
  async TR002() {
    const ground = await new Ground().start({ allowedOrigins: ["https://app.example"] });
    assert.equal(await upgradeStatus(ground, { origin: "http://localhost:3000" }), 403);
    assert.equal(await upgradeStatus(ground, { origin: "https://app.example" }), 101);
  },
  async TR003() {
    assert.equal(await upgradeStatus(await server(), { token: null }), 401);
  },
  async TR004() {
    const ground = await server();
    for (const name of ["token", "access_token", "auth"])
      assert.equal((await ground.ask("GET", `/v1/sessions?${name}=${ground.owner}`, { token: null })).status, 401);
    assert.ok(!ground.warnings.join("\n").includes(ground.owner));
  },
  async TR007() {
    const ground = await server();
    const { port } = new URL(ground.url);
    for (const host of [
      "localhost.evil.example:4096",
      `localhost.evil.example:${port}`,
      `127.0.0.1.evil.example:${port}`,
      `localhost:${port}.`,
    ]) {
      assert.equal((await ground.ask("GET", "/v1/sessions", { headers: { host } })).status, 403, host);
      assert.equal(await upgradeStatus(ground, { headers: { host } }), 403, host);
    }
  },
  async TR008(_one, test) {
    const env = { OUTRIDER_HOME: folderFor(test), ANTHROPIC_API_KEY: "k" };
    const ended = await run(["serve", "--host", "0.0.0.0"], { env });
    assert.deepEqual([ended.code, ended.stdout], [64, ""]);
    // There is no way to do without a token, nowhere.
    for (const flag of ["--no-auth", "--auth=none"]) assert.equal((await run(["serve", flag], { env })).code, 64, flag);
  },
  async TR010() {
    const { status, headers } = await (await server()).ask("GET", "/v1/sessions", { headers: ofPage("null") });
    assert.deepEqual([status, headers["access-control-allow-origin"]], [403, undefined]);
  },
  async TR011() {
    const asked = { headers: { origin: "http://localhost:3000", "access-control-request-method": "POST" }, token: null };
    const { status, headers } = await (await server()).ask("OPTIONS", "/v1/sessions", asked);
    assert.deepEqual([status, headers["access-control-allow-origin"]], [403, undefined]);
  },
  async TR013() {
    const ground = await server();
    const before = process.memoryUsage.rss();
    const bytes = await rawSocket(ground, [frame(0x81, 1 << 30, Buffer.alloc(64 << 10))]);
    assert.equal(closeCode(bytes), 1009);
    assert.ok(process.memoryUsage.rss() - before < 200 << 20);
    assert.equal((await ground.ask("GET", "/healthz")).status, 200);
  },
  async TR014() {
    const ground = await server();
    const bomb = process.getBuiltinModule("node:zlib").deflateRawSync(Buffer.alloc(64 << 20));
    const bytes = await rawSocket(ground, [frame(0xc1, bomb.length, bomb)]); // as if compression had been agreed on
    assert.ok([1002, 1009].includes(closeCode(bytes) ?? 0), String(closeCode(bytes)));
    assert.doesNotMatch(String(bytes), /permessage-deflate/i);
  },
  async TR015() {
    const ground = await server();
    const sockets = Array.from({ length: 300 }, () => new Socket(ground, { token: null, protocols: ["outrider.v1"] }));
    const codes = await Promise.all(sockets.map(({ closed }) => closed));
    const count = (wanted: number): number => codes.filter(({ code }) => code === wanted).length;
    assert.deepEqual([count(1013), count(1008)], [200, 100]); // the oldest make room at once, the rest have five seconds
    assert.equal((await ground.ask("GET", "/healthz")).status, 200);
  },
  async TR016() {
    const text = `${"x".repeat(999)} `.repeat(64);
    const turns = 40;
    const ground = await new Ground(Array.from({ length: turns }, () => ({ text }))).start({
      limits: { bufferedBytes: 64 << 10 },
    });
    const id = await ground.session();
    const slow = await ground.open("GET", `/v1/sessions/${id}/events?after=0`); // nobody reads it
    const good = await ground.watch(`/v1/sessions/${id}/events?after=0&deltas=false`);
    for (let turn = 0; turn < turns; turn++) await ground.ask("POST", `/v1/sessions/${id}/messages`, { body: { text: "go" } });
    const ends = (watch: Watch): number => watch.types.filter((type) => type === "turn.ended").length;
    await good.until(() => ends(good) === turns);
    const late = new Watch(slow); // what had come by then is read, and there is an end
    await late.ended;
    const last = late.frames.findLast((told) => told.id !== undefined)?.id ?? "0";
    const back = await ground.watch(`/v1/sessions/${id}/events`, { headers: { "last-event-id": last } });
    await back.until(() => ends(late) + ends(back) === turns);
    for (const watch of [good, back]) watch.leave();
  },
  async TR018() {
    const ground = await server();
    const id = await ground.session();
    await ground.ask("POST", `/v1/sessions/${id}/messages`, { body: { text: "a secret of mine" } });
    const token = ground.token({ name: "other", scopes: ["drive", "approve"] });
    const own = await ground.session({ token });
    const headers = { "last-event-id": "1" };
    const foreign = await ground.ask("GET", `/v1/sessions/${id}/events`, { token, headers });
    assert.deepEqual([foreign.status, foreign.text.includes("secret")], [404, false]); // 404 and not 403: that there is one is not told either
    const watch = await ground.watch(`/v1/sessions/${own}/events`, { token, headers: { "last-event-id": "3000" } });
    const { data } = await watch.untilType("resync");
    assert.deepEqual([data.sessionId, data.messages], [own, []]);
    watch.leave();
  },
};
