const figuresPlace = "bench/README.md#side-by-side-with-others";

const columns = [
  { key: "first", what: "spawn to first request", unit: "ms" },
  { key: "one", what: "one answer, spawn to exit", unit: "ms" },
  { key: "many", what: "20 turns, spawn to exit", unit: "ms" },
  { key: "resume", what: "resume: spawn to first request", unit: "ms" },
  { key: "memory", what: "peak memory", unit: "MB" },
  { key: "crowd", what: "at once, until the last ends", unit: "ms" },
];

/** The table of bench/README.md: each figure, and what it is of the bare Node program's in the same run. */
export function toFigures(rows, { machine, plan }) {
  const floor = rows.find(({ name }) => name === "bare Node");
  const head = columns.map(({ key, what }) => (key === "crowd" ? `${plan.atOnce} ${what}` : what));
  const told = `Measured by \`npm run bench:peers\` on ${machine.date}: ${machine.cores} cores (${machine.cpu}), ${machine.memory} GB, Node ${machine.node}, load ${machine.load.toFixed(1)} before it began; the middle one of ${plan.repetitions} runs for the first two columns, one run for the others. With a load above 1 for each core, believe the ratios at most.`;
  const lines = rows.map((row) => {
    const name = row.version ? `${row.name} ${row.version}` : row.name;
    if (row.skipped)
      return `| ${name} | ${columns.map((_, at) => (at === 0 ? `skipped: ${cell(row.skipped)}` : "")).join(" | ")} |`;
    return `| ${name} | ${columns.map(({ key, unit }) => withRatio(row[key], floor?.[key], unit)).join(" | ")} |`;
  });
  return [told, "", `| | ${head.join(" | ")} |`, `|---|${columns.map(() => "---|").join("")}`, ...lines].join("\n");
}

function withRatio(value, floor, unit) {
  if (typeof value !== "number") return value?.error ? `none: ${cell(value.error)}` : "–";
  const ratio = typeof floor === "number" ? ` (${(value / floor).toFixed(1)} ×)` : "";
  return `${Math.round(value).toLocaleString("en")} ${unit}${ratio}`;
}

function cell(text) {
  return text.replace(/[|\n]/g, " ").slice(0, 120);
}

/** What is ours by a test, beside what was measured of everybody. */
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

/** The table of the README. */
export function toComparison(rows) {
  const measured = rows.filter(({ name }) => name !== "bare Node");
  const names = [...measured.map(({ name }) => name), "caliban", "robota"];
  const floor = rows.find(({ name }) => name === "bare Node");
  const ratio = (name, key) => {
    const value = measured.find((row) => row.name === name)?.[key];
    if (typeof value !== "number" || typeof floor?.[key] !== "number") return "not measured";
    return `[${(value / floor[key]).toFixed(1)} ×](${figuresPlace})`;
  };
  const figures = columns
    .filter(({ key }) => typeof floor?.[key] === "number")
    .map(
      ({ key, what }) =>
        `| ${what}${key === "crowd" ? " (many runs)" : ""} | ${names.map((name) => ratio(name, key)).join(" | ")} |`,
    );
  const own = facts.map(
    ([what, test]) =>
      `| ${what} | [tested](${test}) | ${names
        .slice(1)
        .map(() => "not measured")
        .join(" | ")} |`,
  );
  return [
    `| | ${names.join(" | ")} |`,
    `|---|${names.map(() => "---|").join("")}`,
    ...figures,
    ...own,
    "",
    "Figures are multiples of what a bare Node program takes for the same in the same run; less is better.",
  ].join("\n");
}
