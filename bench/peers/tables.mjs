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

/** What holds here by a test, and of others was not looked for. */
const facts = [
  ["any model: Anthropic's, OpenAI's, Gemini's wire and 17 more providers", "test/e2e/providers.test.ts"],
  ["output that scripts for Claude Code read", "test/contract/conformance.test.ts"],
  ["driven by the Claude Agent SDK", "test/agent-sdk/table.suite.ts"],
  ["one result on every path", "test/e2e/one-ending.test.ts"],
  ["killed at any moment: the log opens, nothing is done twice", "test/e2e/killed.test.ts"],
  ["commands in a sandbox unless a rule says otherwise", "test/sandbox-escape.test.ts"],
  ["a run recorded, and replayed in CI without a key", "test/e2e/replay.test.ts"],
  ["a server with HTTP, events and WebSocket", "test/server/websocket.test.ts"],
  ["trajectories in ATIF", "test/atif/validator.test.ts"],
];

/** The tables of bench/README.md: each figure, and what it is of the bare Node program's in the same run; then what each did where nobody watches. */
export function toTables({ figures, probes: probed }) {
  return [...(figures ? [toFigures(figures)] : []), ...(probed ? [toProbes(probed)] : [])].join("\n\n");
}

function toFigures({ machine, repetitions, atOnce, rows }) {
  const floor = rows.find(({ name }) => name === "bare Node");
  const head = columns.map(({ key, what }) => (key === "crowd" ? `${atOnce} ${what}` : what));
  const told = `Measured by \`npm run bench:peers\` on ${machine.date}: ${toMachine(machine)}, load ${machine.load.toFixed(1)} before it began; the middle one of ${repetitions} runs for the first two columns, of ${Math.ceil(repetitions / 3)} for deltas, 20 turns and going on, one run for the others; fewer where they take longer than half a minute. A turn is the time between two requests, a command that does nothing included. With a load above 1 for each core, believe the ratios at most.`;
  return [
    told,
    "",
    ...toTable(head, rows, (row) => columns.map(({ key, unit }) => withRatio(row[key], floor?.[key], unit))),
  ].join("\n");
}

function toProbes({ machine, rows }) {
  const told = `What each did where nobody watches, asked by the same command on ${machine.date} (${toMachine(machine)}): how it ended, after how many requests and how long; a command still running two seconds after the program's end "goes on".`;
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
    `Measured on a scripted model with everybody's own command; × is a multiple of what a bare Node program takes for the same, less is better. ✓ and ✗ say whether it ended by itself, with a failure that a script sees, and left nothing running.${
      skipped.length === 0 ? "" : ` Not to be had where it was measured: ${skipped.join(", ")}.`
    }`,
    "",
    `What holds here beside, each by its test (of others it was not looked for): ${facts
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
