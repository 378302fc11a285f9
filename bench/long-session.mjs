// One session of many turns with a model that answers at once: memory after each tenth, log size, time to open it again.
// node --expose-gc bench/long-session.mjs [--turns 100000] [--home FOLDER]
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { importSources } from "./library.mjs";

const turns = Number(argumentOf("--turns") ?? 100_000);
const given = argumentOf("--home");
const home = given ?? mkdtempSync(join(tmpdir(), "outrider-long-session-"));
if (!globalThis.gc) {
  console.error("Run with node --expose-gc: without it, garbage counts as memory");
  process.exit(64);
}

const { InteractiveSession, createFileStore } = await importSources({
  InteractiveSession: "session/interactive-session.ts",
  createFileStore: "journal/file-store.ts",
});

const usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };
let summaries = 0;
let answers = 0;
const provider = {
  name: "scripted",
  model: "scripted",
  contextWindow: 40_000,
  nativeSchema: false,
  async *stream(request) {
    const isSummary = request.tools.length === 0;
    const text = isSummary ? `Summary ${++summaries}. ${"Fact. ".repeat(100)}` : `Answer ${++answers}. ${"word ".repeat(20)}`;
    yield { type: "text.delta", text };
    const model = { provider: "scripted", id: request.model };
    yield { type: "finished", message: { role: "assistant", content: [{ type: "text", text }], model, finish: "stop", usage } };
  },
};

const store = createFileStore(join(home, "sessions"));
const options = { cwd: home, provider, sessionStore: store, env: {} };
const session = new InteractiveSession(options);
await session.open();
const location = await session.journalLocation();
const step = Math.max(1, Math.round(turns / 10));
const rows = [];
const startedAt = performance.now();
for (let turn = 1; turn <= turns; turn++) {
  const outcome = await session.submit(`Prompt ${turn}. ${"word ".repeat(10)}`);
  if (outcome.type !== "completed") throw new Error(JSON.stringify(outcome));
  if (turn % step === 0) rows.push(measure(turn));
}
await session.shutdown();

const reopenedAt = performance.now();
const again = new InteractiveSession({ ...options, resumeSessionId: session.id });
await again.open();
const reopenMs = Math.round(performance.now() - reopenedAt);
const messages = again.getMessages().length;
await again.shutdown();

const [second] = rows.slice(1);
const last = rows.at(-1);
const slope =
  second && last && last.turn > second.turn ? ((last.heapMb - second.heapMb) / (last.turn - second.turn)) * 10_000 : 0;
console.log(
  JSON.stringify({
    turns,
    summaries,
    heapMbPer10000Turns: Number(slope.toFixed(2)),
    logBytes: last?.logBytes,
    // Of the last tenth, against the first: a log that grows in proportion to the turns has 1.
    logGrowth: Number(((last.logBytes - rows.at(-2).logBytes) / rows[0].logBytes).toFixed(3)),
    reopenMs,
    messages,
  }),
);
if (!given) rmSync(home, { recursive: true, force: true });

function measure(turn) {
  globalThis.gc();
  globalThis.gc();
  const { heapUsed, external, rss } = process.memoryUsage();
  const row = {
    turn,
    heapMb: Number(((heapUsed + external) / 1e6).toFixed(2)),
    rssMb: Math.round(rss / 1e6),
    logBytes: statSync(location).size,
    summaries,
    usPerTurn: Math.round(((performance.now() - startedAt) / turn) * 1000),
  };
  console.log(JSON.stringify(row));
  return row;
}

function argumentOf(name) {
  const index = process.argv.indexOf(name);
  return index === -1 ? undefined : process.argv[index + 1];
}
