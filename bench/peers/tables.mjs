import { describeProbe, probes } from "./probes.mjs";

const figuresPlace = "bench/README.md#side-by-side-with-others";

const columns = [
  { key: "first", what: "spawn to first request", unit: "ms" },
  { key: "one", what: "one answer, spawn to exit", unit: "ms" },
  { key: "deltas", what: "an answer of 4,000 deltas, spawn to exit", unit: "ms" },
  { key: "many", what: "20 turns, spawn to exit", unit: "ms" },
  { key: "turn", what: "one of these turns", unit: "ms" },
  { key: "long", what: "a turn after 90 others", unit: "ms" },
  { key: "resume", what: "going on after 100 turns: spawn to first request", unit: "ms" },
  { key: "memory", what: "peak memory, one answer", unit: "MB" },
  { key: "crowd", what: "at once, until the last ends", unit: "ms" },
];

const serverColumns = [
  ["spawn to ready", ({ ready }) => withRatio(ready, undefined, "ms")],
  ["memory then", ({ empty }) => withRatio(empty, undefined, "MB")],
  [
    "a prompt in a new session: until its first words are on the stream of events",
    ({ first }) => withRatio(first, undefined, "ms"),
  ],
  ["20 of them at once: the latest", ({ crowd }) => withRatio(crowd, undefined, "ms")],
  ["memory after 100 sessions of one answer", ({ after }) => withRatio(after, undefined, "MB")],
  ["what each of them added", ({ each }) => `${each.toFixed(2)} MB`],
  ["such sessions in 1 GB", (row) => toRoom(row).toLocaleString("en")],
];

/** How many fit beside the server itself, where each takes what the hundred have taken on average. */
function toRoom({ after, each }) {
  return each > 0 ? Math.floor((1000 - (after - 100 * each)) / each) : Number.POSITIVE_INFINITY;
}

/** What holds here by a test, and of others was not looked for. */
const facts = [
  ["any model: Anthropic, OpenAI, Gemini and 17 more providers", "test/e2e/providers.test.ts"],
  ["output that scripts written for Claude Code can read", "test/contract/conformance.test.ts"],
  ["driven by the Claude Agent SDK", "test/agent-sdk/table.suite.ts"],
  ["exactly one result on every path", "test/e2e/one-ending.test.ts"],
  ["killed at any moment, the journal still opens and nothing is done twice", "test/e2e/killed.test.ts"],
  ["commands run in a sandbox unless a rule allows them", "test/sandbox-escape.test.ts"],
  ["runs recorded, and replayed in CI without a key", "test/e2e/replay.test.ts"],
  ["a server with HTTP, server-sent events and WebSocket", "test/server/websocket.test.ts"],
  ["ATIF trajectories", "test/atif/validator.test.ts"],
];

/** The tables of bench/README.md: each figure, and what it is of the bare Node program's in the same run; then what each did where nobody watches. */
export function toTables({ figures, serving, probes: probed }) {
  return [
    ...(figures ? [toFigures(figures)] : []),
    ...(serving ? [toServing(serving)] : []),
    ...(probed ? [toProbes(probed)] : []),
  ].join("\n\n");
}

function toFigures({ machine, repetitions, atOnce, rows }) {
  const floor = rows.find(({ name }) => name === "bare Node");
  const head = columns.map(({ key, what }) => (key === "crowd" ? `${atOnce} ${what}` : what));
  const told = `Measured by \`npm run bench:peers\` on ${machine.date}: ${toMachine(machine)}, load ${machine.load.toFixed(1)} at the start. The first two columns are the quickest of ${repetitions} runs, deltas, 20 turns and resuming the quickest of ${Math.ceil(repetitions / 3)}, the others a single run; fewer where one takes longer than half a minute. A turn is the time between two requests, including a command that does nothing. With a load above 1 per core, trust the ratios at most.`;
  return [
    told,
    "",
    ...toTable(head, rows, (row) => columns.map(({ key, unit }) => withRatio(row[key], floor?.[key], unit))),
  ].join("\n");
}

function toServing({ machine, repetitions, rows }) {
  const told = `As servers (\`outrider serve\`, \`opencode serve\`), measured by the same command on ${machine.date}: ${toMachine(machine)}, load ${machine.load.toFixed(1)} at the start. Times are the quickest of ${repetitions}, after one prompt that is not counted. Sessions are left as they are: each program keeps in memory, closes or forgets what it likes. With a load above 1 per core, trust the ratios at most.`;
  const head = serverColumns.map(([what]) => what);
  return [told, "", ...toTable(head, rows, (row) => serverColumns.map(([, show]) => show(row)))].join("\n");
}

function toProbes({ machine, rows }) {
  const told = `How each behaved unattended, measured by the same command on ${machine.date} (${toMachine(machine)}): how it ended, after how many requests and how much time. "Keeps running" means that the command was still there two seconds after the program had ended.`;
  const head = probes.map(({ what }) => what);
  return [told, "", ...toTable(head, rows, (row) => probes.map(({ key }) => describeProbe(row[key])))].join("\n");
}

function toMachine({ cores, cpu, memory, node }) {
  return `${cores} cores (${cpu}), ${memory} GB, Node ${node}`;
}

function toTable(head, rows, toCells) {
  const lines = rows.map((row) => {
    const cells = row.skipped ? head.map((_, at) => (at === 0 ? `skipped: ${row.skipped}` : "")) : toCells(row);
    return `| ${row.version ? `${row.name} ${row.version}` : row.name} | ${cells.map(cell).join(" | ")} |`;
  });
  return [`| | ${head.join(" | ")} |`, `|---|${head.map(() => "---|").join("")}`, ...lines];
}

function withRatio(value, floor, unit) {
  if (typeof value !== "number") return value?.error ? `none: ${value.error}` : "–";
  const ratio = typeof floor === "number" ? ` (${(value / floor).toFixed(1)} ×)` : "";
  return `${Math.round(value).toLocaleString("en")} ${unit}${ratio}`;
}

function cell(text) {
  return text.replace(/[|\n]/g, " ").slice(0, 120);
}

/** The table of the README: everybody who was measured, and what holds here by a test. */
export function toComparison({ figures, probes: probed }) {
  const rows = [...(figures?.rows ?? []), ...(probed?.rows ?? [])].filter((row) => row.name !== "bare Node");
  const names = [...new Set(rows.filter(({ skipped }) => !skipped).map(({ name }) => name))];
  const skipped = [...new Set(rows.map(({ name }) => name))].filter((name) => !names.includes(name));
  const lines = [
    ...(figures ? ratioLines(figures, names) : []),
    ...(probed ? probes.map((probe) => probeLine(probe, probed, names)) : []),
  ];
  return [
    `| | ${names.join(" | ")} |`,
    `|---|${names.map(() => "---|").join("")}`,
    ...lines,
    "",
    `Measured with each project's own command against a scripted model.${figures ? " × is a multiple of what a bare Node program needs for the same work; less is better." : ""} ✓ means that it ended by itself, reported a failure that a script can see, and left nothing running.${
      skipped.length === 0 ? "" : ` Could not be installed where this was measured: ${skipped.join(", ")}.`
    }`,
    "",
    `Also true of Outrider, each proved by the linked test (the others were not examined for it): ${facts
      .map(([what, test]) => `[${what}](${test})`)
      .join(" · ")}.`,
  ].join("\n");
}

function ratioLines({ rows, atOnce }, names) {
  const floor = rows.find(({ name }) => name === "bare Node");
  const ratio = (name, key) => {
    const value = rows.find((row) => row.name === name)?.[key];
    return typeof value === "number" ? `[${(value / floor[key]).toFixed(1)} ×](${figuresPlace})` : "–";
  };
  return columns
    .filter(({ key }) => typeof floor?.[key] === "number")
    .map(
      ({ key, what }) =>
        `| ${key === "crowd" ? `${atOnce} ${what}` : what} | ${names.map((name) => ratio(name, key)).join(" | ")} |`,
    );
}

function probeLine({ key, what }, { rows }, names) {
  const cells = names.map((name) => {
    const seen = rows.find((row) => row.name === name)?.[key];
    return seen === undefined || seen.error ? "–" : `[${seen.good ? "✓" : "✗"} ${describeProbe(seen)}](${figuresPlace})`;
  });
  return `| ${what} | ${cells.join(" | ")} |`;
}
