import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { summarize } from "./statistics.mjs";

const root = dirname(import.meta.dirname);
const bin = join(root, "packages/cli/bin/outrider.js");

export const serverRows = ["serve-ready", "serve-memory", "serve-session", "serve-viewers", "serve-delay"];

/** The built command as a server: how soon it takes requests, what it and its sessions weigh, what it costs that many watch. */
export async function measureServer({ node, quick, isWanted }) {
  const { startModelServer } = await import(join(root, "packages/runtime/dist/testing.js"));
  const words = Array.from({ length: 2_000 }, (_, index) => `word${index}`).join(" ");
  const model = await startModelServer({ replies: () => ({ text: words }), keepsRequests: false });
  const rows = [];
  const starts = [];
  const weights = [];
  try {
    for (let round = 0; round < (quick ? 3 : 9); round++) {
      const server = await startServer(node, model.url);
      starts.push(server.ms);
      weights.push(server.megabytes());
      await server.stop();
    }
    rows.push(absolute("serve-ready", "outrider serve, spawn until it takes requests", "ms", starts, 300));
    rows.push(absolute("serve-memory", "resident memory of outrider serve without sessions", "MB", weights, 80));
    const server = await startServer(node, model.url);
    if (isWanted("serve-session")) rows.push(await measureSessions(server, quick ? 100 : 400));
    if (isWanted("serve-viewers")) rows.push(await measureViewers(server, quick ? 3 : 7));
    if (isWanted("serve-delay")) rows.push(await measureDelay(server, quick ? 3 : 7));
    await server.stop();
  } finally {
    await model.close();
  }
  return rows.filter(({ name }) => isWanted(name));
}

function absolute(name, what, unit, values, target) {
  const ours = summarize(values);
  return { name, what, unit, ours, target, ok: ours.median <= target };
}

/** Open sessions that nobody uses; each has had its journal opened. */
async function measureSessions(server, count) {
  for (let warm = 0; warm < 20; warm++) await server.ask("POST", "/v1/sessions", {});
  const before = server.megabytes();
  for (let made = 0; made < count; made++) await server.ask("POST", "/v1/sessions", {});
  const each = (server.megabytes() - before) / count;
  return absolute("serve-session", `an open session that nobody uses, of ${count}`, "MB", [each], 0.5);
}

/** What a turn of 2,000 deltas takes of the processor, with one watcher and with a hundred. */
async function measureViewers(server, rounds) {
  const { id } = await server.ask("POST", "/v1/sessions", {});
  const turn = async () => {
    const before = server.cpuMs();
    await server.ask("POST", `/v1/sessions/${id}/messages`, { text: "go" });
    return server.cpuMs() - before;
  };
  await server.watch(id);
  for (let warm = 0; warm < 3; warm++) await turn();
  const one = [];
  for (let round = 0; round < rounds; round++) one.push(await turn());
  for (let more = 0; more < 99; more++) await server.watch(id);
  await turn();
  const hundred = [];
  for (let round = 0; round < rounds; round++) hundred.push(await turn());
  const floor = summarize(one);
  const ours = summarize(hundred);
  const ratio = ours.median / floor.median;
  const what = "processor time of a turn of 2,000 deltas with 100 watchers, against one";
  return { name: "serve-viewers", what, unit: "ms", floor, ours, ratio, target: 3, ok: ratio <= 3 };
}

const [busy, watchersEach] = [10, 5];

/** From the moment an event is made until a watcher has it, while many sessions are at work at once: of a hundred, the latest but one. */
async function measureDelay(server, rounds) {
  const ids = [];
  let delays = [];
  for (let made = 0; made < busy; made++) {
    const { id } = await server.ask("POST", "/v1/sessions", {});
    ids.push(id);
    for (let watcher = 0; watcher < watchersEach; watcher++)
      await server.watch(id, (at) => delays.push(Date.now() - Date.parse(at)));
  }
  const latest = [];
  for (let round = 0; round <= rounds; round++) {
    delays = [];
    await Promise.all(ids.map((id) => server.ask("POST", `/v1/sessions/${id}/messages`, { text: "go" })));
    delays.sort((one, other) => one - other);
    if (round > 0) latest.push(delays[Math.floor(delays.length * 0.99)]); // the first round is warming up
  }
  const what = `p99 from an event to a watcher, ${busy} turns of 2,000 deltas at once with ${watchersEach} watchers each`;
  return absolute("serve-delay", what, "ms", latest, 100);
}

async function startServer(node, modelUrl) {
  const home = mkdtempSync(join(tmpdir(), "outrider-bench-serve-"));
  const startedAt = performance.now();
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    OUTRIDER_HOME: home,
    ANTHROPIC_API_KEY: "bench-key",
    ANTHROPIC_BASE_URL: modelUrl,
  };
  const child = spawn(node, [bin, "serve", "--root", home], { cwd: home, env, stdio: ["ignore", "pipe", "inherit"] });
  const url = await new Promise((resolve, reject) => {
    let text = "";
    child.stdout.setEncoding("utf8").on("data", (chunk) => {
      text += chunk;
      const found = /listens on (\S+)\n/.exec(text);
      if (found) resolve(found[1]);
    });
    child.on("exit", (code) => reject(new Error(`The server ended with ${code}`)));
  });
  const token = readFileSync(join(home, "server/token"), "utf8").trim();
  const open = (method, path, body) =>
    new Promise((resolve, reject) => {
      const headers = { authorization: `Bearer ${token}`, ...(body && { "content-type": "application/json" }) };
      const asking = request(`${url}${path}`, { method, agent: false, headers });
      asking.on("response", resolve).on("error", reject);
      asking.end(body && JSON.stringify(body));
    });
  await open("GET", "/healthz").then((response) => response.resume());
  const ms = performance.now() - startedAt;
  return {
    ms,
    async ask(method, path, body) {
      const response = await open(method, path, body);
      let text = "";
      for await (const chunk of response.setEncoding("utf8")) text += chunk;
      if (response.statusCode >= 300) throw new Error(`${method} ${path}: ${response.statusCode} ${text}`);
      return JSON.parse(text);
    },
    /** `hear` is told when each event was made. */
    async watch(id, hear) {
      const response = await open("GET", `/v1/sessions/${id}/events`);
      response.on("error", () => {});
      if (!hear) return void response.resume();
      let rest = "";
      response.setEncoding("utf8").on("data", (chunk) => {
        const lines = (rest + chunk).split("\n");
        rest = lines.pop();
        for (const line of lines) {
          const [, at] = /^data: \{.*?"at":"([^"]+)"/.exec(line) ?? [];
          if (at) hear(at);
        }
      });
    },
    megabytes: () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, "utf8"))[1]) / 1024,
    /** Of the kernel's clock, in ticks of ten milliseconds. */
    cpuMs() {
      const fields = readFileSync(`/proc/${child.pid}/stat`, "utf8").split(") ")[1].split(" ");
      return (Number(fields[11]) + Number(fields[12])) * 10;
    },
    async stop() {
      child.removeAllListeners("exit");
      const gone = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGTERM");
      await gone;
      rmSync(home, { recursive: true, force: true });
    },
  };
}
