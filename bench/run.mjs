// Measures the built command against the floor (floor.mjs) in the same run. See README.md.
// npm run bench -- [ROW…] [--quick|--full] [--no-fail] [--json FILE] [--node PATH] [--wire anthropic|openai-chat|openai-responses|gemini]
import { execFileSync } from "node:child_process";
import { existsSync, realpathSync, writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { prepareContestants } from "./contestants.mjs";
import { measureDecision } from "./decision.mjs";
import { measureInstalledSize } from "./installed-size.mjs";
import { journalRows, measureJournal } from "./journal.mjs";
import { longTurnRows, measureLongTurns } from "./long-turns.mjs";
import { measureLongSession } from "./long-session-row.mjs";
import { startModel } from "./model-process.mjs";
import { measureBatch } from "./batch.mjs";
import { measureAgents } from "./agents.mjs";
import { measureEndedTasks } from "./ended-tasks.mjs";
import { measureServers } from "./mcp-servers.mjs";
import { formatTable } from "./report.mjs";
import { measurePage, pageRows } from "./page.mjs";
import { measureResume } from "./resume.mjs";
import { playScene, scenes } from "./scenes.mjs";
import { measureServer, serverRows } from "./server.mjs";
import { measureSkills, skillRows } from "./skills.mjs";
import { measureStandaloneSize, standaloneScenes } from "./standalone.mjs";
import { rowsOfEveryWire, wires } from "./wires.mjs";

const root = dirname(import.meta.dirname);
const { values: flags, positionals: wanted } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: "boolean", default: false },
    full: { type: "boolean", default: false },
    "no-fail": { type: "boolean", default: false },
    json: { type: "string" },
    node: { type: "string", default: process.execPath },
    wire: { type: "string", default: "anthropic" },
  },
});

await main();

async function main() {
  const known = [
    ...[...scenes, ...standaloneScenes].flatMap((scene) => Object.keys(scene.rows)),
    "standalone-size",
    "resume",
    ...longTurnRows,
    ...skillRows,
    "decision",
    "mcp-servers",
    "agents",
    "ended-tasks",
    "batch",
    ...pageRows,
    ...serverRows,
    ...journalRows,
    "size",
    "long-session",
  ];
  const unknown = wanted.filter((name) => !known.includes(name));
  if (!(flags.wire in wires)) return refuse(`There is no wire ${flags.wire}. The wires are: ${Object.keys(wires).join(", ")}`);
  if (unknown.length > 0) return refuse(`There is no row ${unknown.join(", ")}. The rows are: ${known.join(", ")}`);

  buildIfMissing();
  const node = realpathSync(flags.node);
  const machine = describeMachine(node);
  console.log(`Node ${machine.node}, ${machine.cores} cores (${machine.cpu}), load ${machine.load.toFixed(1)}\n`);
  const rows = (await measureAll(node)).filter(({ name }) => isWanted(name));
  console.log(formatTable(rows));
  if (flags.json) writeFileSync(flags.json, `${JSON.stringify({ machine, rows }, null, 2)}\n`);
  if (rows.some((row) => row.ok === false) && !flags["no-fail"]) process.exitCode = 1;
}

async function measureAll(node) {
  const rows = [];
  const model = startModel();
  let contestants;
  try {
    contestants = await prepareContestants({ node, model, wire: flags.wire });
    for (const scene of [...scenes, ...standaloneScenes]) {
      const names = Object.keys(scene.rows);
      if (!names.some(isWanted)) continue;
      const skipped = scene.available?.();
      if (skipped) rows.push(...names.map((name) => ({ name, ...scene.rows[name], skipped })));
      else rows.push(...(await playScene(scene, { contestants, model, quick: flags.quick, onPair: showProgress(names) })));
    }
    if (longTurnRows.some(isWanted)) rows.push(...(await measureLongTurns({ contestants, model, quick: flags.quick, isWanted })));
    if (skillRows.some(isWanted)) rows.push(...(await measureSkills({ contestants, model, quick: flags.quick, isWanted })));
    if (isWanted("resume")) rows.push(await measureResume({ contestants, model, quick: flags.quick }));
  } finally {
    contestants?.remove();
    model.stop();
  }
  await attempt(rows, ["decision"], () => [measureDecision({ node, quick: flags.quick })]);
  await attempt(rows, ["agents"], () => [measureAgents({ node, quick: flags.quick })]);
  await attempt(rows, ["ended-tasks"], () => [measureEndedTasks({ node, quick: flags.quick })]);
  await attempt(rows, ["batch"], async () => [await measureBatch({ node, quick: flags.quick })]);
  await attempt(rows, ["mcp-servers"], async () => [await measureServers({ node, quick: flags.quick })]);
  await attempt(rows, pageRows, () => measurePage({ node, quick: flags.quick, isWanted }));
  await attempt(rows, serverRows, () => measureServer({ node, quick: flags.quick, isWanted }));
  await attempt(rows, journalRows, () => measureJournal({ node, quick: flags.quick, isWanted }));
  await attempt(rows, ["standalone-size"], () => [measureStandaloneSize()]);
  await attempt(rows, ["size"], () => [measureInstalledSize()]);
  // Takes minutes: only when it is asked for.
  if (wanted.includes("long-session"))
    await attempt(rows, ["long-session"], () => [measureLongSession({ node, full: flags.full })]);
  return rows;
}

/** A measurement that breaks is a row that says so, and the others are measured all the same. */
async function attempt(rows, names, measure) {
  if (!names.some(isWanted)) return;
  try {
    rows.push(...(await measure()));
  } catch (error) {
    console.error(error);
    rows.push(...names.filter(isWanted).map((name) => ({ name, what: String(error).split("\n")[0], ok: false, broken: true })));
  }
}

function isWanted(name) {
  if (flags.wire !== "anthropic" && !rowsOfEveryWire.includes(name)) return false;
  return wanted.length === 0 || wanted.includes(name);
}

function buildIfMissing() {
  if (["packages/cli/dist", "packages/runtime/dist", "packages/fleet/dist"].every((folder) => existsSync(join(root, folder))))
    return;
  execFileSync(process.execPath, [join(root, "scripts/build.mjs"), "--no-types"], { stdio: "inherit" });
}

function describeMachine(node) {
  const version = execFileSync(node, ["--version"], { encoding: "utf8" }).trim();
  return { node: version, platform: process.platform, cores: cpus().length, cpu: cpus()[0]?.model.trim(), load: loadavg()[0] };
}

/** On a terminal only, and gone when the scene is over. */
function showProgress(names) {
  return (share) => {
    if (!process.stderr.isTTY) return;
    process.stderr.write(share < 1 ? `\r\x1b[K${names.join(", ")} ${Math.round(share * 100)}%` : "\r\x1b[K");
  };
}

function refuse(message) {
  console.error(message);
  process.exitCode = 64;
}
