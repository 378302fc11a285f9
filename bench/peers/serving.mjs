import { spawn } from "node:child_process";
import { request } from "node:http";
import { killGroup, memoryOf, openPlace } from "./stage.mjs";

/** Sessions that have answered one prompt each, and stay. */
const kept = 100;
/** Sessions that are given a prompt at the same moment. */
const busy = 20;

/** The server of a contestant that has one: how soon it is there, how soon its clients see words, and what its sessions weigh. */
export async function measureServing(peer, stage, { bin, node, repetitions, limitMs }) {
  if (!peer.serve) return undefined;
  stage.follow(() => ({ text: "pong ".repeat(100) }));
  const starts = [];
  for (let start = 0; start < repetitions; start++)
    starts.push(await withServer(({ ready, megabytes }) => ({ ready, empty: megabytes() })));
  const { ready, empty } = starts.sort((one, other) => one.ready - other.ready)[0];
  return { ready, empty, ...(await withServer(measureSessions)) };

  async function withServer(use) {
    const place = openPlace({ ...peer, ask: peer.serve.words }, { url: stage.url, bin, node });
    const server = await startServer(peer, { place, limitMs });
    try {
      return await use(server);
    } finally {
      server.stop();
      place.remove();
    }
  }

  async function measureSessions(server) {
    const firsts = [];
    await server.promptNew(); // whatever is loaded with the first prompt of all
    for (let round = 0; round < repetitions; round++) firsts.push(await server.promptNew());
    const before = server.megabytes();
    for (let made = 0; made < kept; made++) await server.promptNew();
    const after = server.megabytes();
    let peak = after;
    const ticks = setInterval(() => (peak = Math.max(peak, server.megabytes())), 50);
    const crowd = await Promise.all(Array.from({ length: busy }, () => server.promptNew()));
    clearInterval(ticks);
    const each = Math.max(0, after - before) / kept;
    return { first: Math.min(...firsts), after, each, crowd: Math.max(...crowd), peak };
  }
}

async function startServer({ serve }, { place, limitMs }) {
  const startedAt = performance.now();
  const [program, ...words] = place.words;
  const child = spawn(program, words, { ...place.options, stdio: ["ignore", "pipe", "pipe"], detached: true });
  const url = await addressOf(child, serve.address, limitMs);
  const headers = { "content-type": "application/json", ...serve.headers({ home: place.options.env.HOME }) };
  const open = (method, path, body) =>
    new Promise((resolve, reject) => {
      const asking = request(`${url}${path}`, { method, agent: false, headers, timeout: limitMs });
      asking
        .on("response", resolve)
        .on("error", reject)
        .on("timeout", () => asking.destroy(new Error(`${path} took too long`)));
      asking.end(body && JSON.stringify(body));
    });
  const ask = async (path, body) => {
    const response = await open("POST", path, body);
    const text = await textOf(response);
    if (response.statusCode >= 300) throw new Error(`${path}: ${response.statusCode} ${text.slice(0, 100)}`);
    return JSON.parse(text);
  };
  return {
    ready: performance.now() - startedAt,
    megabytes: () => memoryOf(child.pid) / 1e6,
    stop: () => killGroup(child),
    /** A new session, watched, and one prompt: milliseconds from the prompt to its first words on the stream of events. Resolves once it is answered. */
    async promptNew() {
      const { id } = await ask(serve.sessions, {});
      const events = await open("GET", serve.events(id));
      let hear;
      const heard = new Promise((resolve) => {
        hear = resolve;
      });
      let seen = "";
      events.setEncoding("utf8").on("data", (text) => {
        const lines = (seen + text).split("\n");
        seen = lines.pop();
        if (lines.some((line) => serve.isWords(line, id))) hear(performance.now());
      });
      events.on("error", () => {}); // it is hung up below
      const askedAt = performance.now();
      await ask(serve.prompts(id), serve.prompt("ping"));
      const first = (await heard) - askedAt;
      events.destroy();
      return first;
    },
  };
}

function addressOf(child, pattern, limitMs) {
  return new Promise((resolve, reject) => {
    let text = "";
    const limit = setTimeout(() => fail(`it did not listen within ${limitMs / 1000} s`), limitMs);
    const fail = (why) => {
      clearTimeout(limit);
      killGroup(child);
      reject(new Error(why));
    };
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (chunk) => {
        text += chunk;
        const found = pattern.exec(text)?.[1];
        if (found === undefined) return;
        clearTimeout(limit);
        resolve(found);
      });
    child.on("error", ({ message }) => fail(message)).on("exit", (code) => fail(`it ended with ${code}: ${text.slice(-160)}`));
  });
}

async function textOf(response) {
  let text = "";
  for await (const chunk of response.setEncoding("utf8")) text += chunk;
  return text;
}
